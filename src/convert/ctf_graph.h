/* SPDX-License-Identifier: MIT */
/*
 * ctf_graph: a CTF folder as streams of libbabeltrace2 messages, pulled one batch at a time.
 *
 * libbabeltrace2 wants to drive: messages reach a sink component whose method the graph calls. Here
 * a sink of our own has one input per stream; a pull names the stream, lets the graph run once, and
 * the sink's method fetches one batch of that stream and nothing more. So the caller merges the
 * streams itself, in the order that trace/source.h promises.
 *
 * The library's error causes become our one-line text. Warnings and errors of the component that
 * reads go to standard error as well, which the caller has made a file (ctf_reason.h).
 */
#ifndef KISEKI_CONVERT_CTF_GRAPH_H
#define KISEKI_CONVERT_CTF_GRAPH_H

#include <babeltrace2/babeltrace.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

#define CTF_STREAMS_MAX 65536U

struct ctf_graph;

/* What the first graph would load from files by itself; it stays until the process ends. */
void ctf_graph_load_plugin(void);

int ctf_graph_open(struct ctf_graph **ret, const char *dir, struct error *e);
void ctf_graph_free(struct ctf_graph *g);
DEFINE_CLEANUP(ctf_graph, ctf_graph_free)

size_t ctf_graph_streams(const struct ctf_graph *g);

/* 1: *ret and *ret_n are the stream's next messages, whose references are the caller's and whose
 * array lives until the next pull; 0: the stream has ended; < 0: failed. */
int ctf_graph_pull(struct ctf_graph *g, size_t stream, bt_message_array_const *ret, uint64_t *ret_n,
		   struct error *e);

#endif
