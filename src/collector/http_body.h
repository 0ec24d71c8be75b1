/* SPDX-License-Identifier: MIT */
/*
 * http_body: the bytes of an answer, pulled by the connection's thread as fast as its client takes
 * them. Each kind of content is one of these; a content encoding wraps another (http_coding.c).
 */
#ifndef KISEKI_COLLECTOR_HTTP_BODY_H
#define KISEKI_COLLECTOR_HTTP_BODY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collector/http_params.h"

struct http_body;

struct http_body_ops {
	/* Some bytes, at least one; 0 at the end; < 0: it failed, and the client must notice. May
	 * block. */
	ssize_t (*read)(struct http_body *b, char *out, size_t room);
	void (*free)(struct http_body *b); /* frees b itself; whatever works for it stops */
};

/* The first member of every body. */
struct http_body {
	const struct http_body_ops *ops;
};

static inline void http_body_free(struct http_body *b)
{
	if (b)
		b->ops->free(b);
}
DEFINE_CLEANUP(http_body, http_body_free)

/* A text in memory, taken; or one that stays where it is. */
int http_body_new_text(struct http_body **ret, char *text, size_t len, struct error *e);
int http_body_new_static(struct http_body **ret, const void *data, size_t len, struct error *e);

/* A part of a file; takes the descriptor unless it fails. */
int http_body_new_file(struct http_body **ret, int fd, const struct http_range *range,
		       struct error *e);

/* Encodes what another body gives, as it comes; takes it unless it fails. */
int http_body_new_coded(struct http_body **ret, struct http_body *inner, enum http_coding coding,
			struct error *e);

#endif
