/* SPDX-License-Identifier: MIT */
/*
 * boot_text: what a device calls itself and its processes, put into JSON and XML.
 *
 * These are any bytes, and the page that shows them is opened in a browser. The rule is that of escape.h; beyond
 * it, JSON has no '<' at all (it is \u003c), so that no text can end the <script> that carries the document.
 */
#ifndef KISEKI_CHART_BOOT_TEXT_H
#define KISEKI_CHART_BOOT_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* With its quotes. */
void boot_text_put_json(FILE *f, const char *text);

/* For an attribute or the content of an element. */
void boot_text_put_xml(FILE *f, const char *text);

/* The same, at most so many columns wide: what is longer ends in an ellipsis. Returns how many it took. */
size_t boot_text_put_cut(FILE *f, const char *text, size_t columns);

/* How many columns it takes as escaped. */
size_t boot_text_columns(const char *text);

#endif
