/* SPDX-License-Identifier: MIT */
/*
 * webhook: posts documents to a URL, one after the other, by a thread of its own.
 *
 * A post that fails is tried again after a while, a few times; more than so many that wait push out the oldest. The URL may hold a
 * secret, so no message has it. Only http and https are spoken, and no redirect is followed.
 */
#ifndef KISEKI_COLLECTOR_WEBHOOK_H
#define KISEKI_COLLECTOR_WEBHOOK_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

#define WEBHOOK_POSTS_MAX 256U
#define WEBHOOK_TRIES 4U

struct webhook;

int webhook_start(struct webhook **ret, const char *url, struct error *e);
void webhook_stop(struct webhook *w); /* what waits is given up */
DEFINE_CLEANUP(webhook, webhook_stop)

/* Takes the text, which was allocated; JSON. */
void webhook_post(struct webhook *w, char *text);

void webhook_count(struct webhook *w, uint64_t *ret_posted, uint64_t *ret_errors);

#endif
