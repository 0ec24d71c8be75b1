/* SPDX-License-Identifier: MIT */
/*
 * http_params: what a request says, taken apart: its target, and the headers that decide something.
 *
 * All of it is outside input. The functions are pure, bounded, and know nothing of the HTTP library,
 * so that they can be fuzzed; what they refuse they refuse with one line for the person who sent it.
 */
#ifndef KISEKI_COLLECTOR_HTTP_PARAMS_H
#define KISEKI_COLLECTOR_HTTP_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HTTP_TARGET_MAX 4096U /* bytes of a request's target */
#define HTTP_SEGMENTS_MAX 8U
#define HTTP_PARAMS_MAX 16U
#define HTTP_HOST_MAX 256U

/* "/api/v1/devices/a%20b?from=-5m": the path cut at its slashes and the parameters, decoded. */
struct http_target {
	char text[HTTP_TARGET_MAX + 1];
	size_t n_segments;
	const char *segments[HTTP_SEGMENTS_MAX];
	size_t n_params;
	const char *names[HTTP_PARAMS_MAX], *values[HTTP_PARAMS_MAX];
};

/* -EINVAL, or -E2BIG for more than the limits above. A parameter may be given once. */
int http_target_parse(struct http_target *t, const char *text, struct error *e);

/* The parameter's value, or NULL. */
const char *http_target_get(const struct http_target *t, const char *name);

/* Refuses parameters that are not in `known`, names in blanks. */
int http_target_check(const struct http_target *t, const char *known, struct error *e);

/* A parameter that is a whole number between two bounds; *ret stays what it was if it is not given.
 * -EINVAL. */
struct http_bounds {
	uint64_t least, most;
};
int http_target_get_count(const struct http_target *t, const char *name, struct http_bounds bounds,
			  uint64_t *ret, struct error *e);

/* A parameter that is one of some words, which end with NULL: its number. *ret stays what it was if it is not given. -EINVAL. */
int http_target_get_word(const struct http_target *t, const char *name, const char *const *words,
			 size_t *ret, struct error *e);

/* Does the path fit a pattern like "/devices/{device}/runs"? Then captured[] has what stands for
 * the words in braces, in their order. */
#define HTTP_CAPTURES_MAX 2U
bool http_target_match(const struct http_target *t, const char *pattern,
		       const char *captured[HTTP_CAPTURES_MAX]);

enum http_coding {
	CODING_IDENTITY = 0,
	CODING_GZIP = 1,
	CODING_ZSTD = 2,
};

/* The best of those that an Accept-Encoding header allows; identity for NULL and for nonsense. */
enum http_coding http_coding_parse(const char *header);
bool http_coding_allow(const char *header, enum http_coding c); /* this one */
const char *http_coding_name(enum http_coding c);		/* NULL of identity */

/*
 * A Range header against a content of `size` bytes. 1: *ret is the one range that is asked for; 0:
 * the header is to be ignored (another unit, several ranges, nonsense), as RFC 9110 wants it; -ERANGE:
 * it cannot be satisfied.
 */
struct http_range {
	uint64_t from, len;
};
int http_range_parse(const char *header, uint64_t size, struct http_range *ret);

/* Is one of the tags of an If-None-Match or If-Match header this one ("…" with its quotes), or *? */
bool http_tag_match(const char *header, const char *tag);

/*
 * May a page have sent this request? Against DNS rebinding the Host must be a name of this machine's
 * loopback, or `listen`, the address that the server listens on; if that is a wildcard, any address in digits. No Host is no browser. An Origin, if there is one, must be that
 * host itself.
 */
bool http_host_allow(const char *host, const char *listen);
bool http_origin_allow(const char *origin, const char *host);

/*
 * Who asks. Both take the first that is there and return its length; 0 is none, or one that has more than room - 1 bytes or
 * others than letters, digits, '-' and '_'.
 */
size_t http_cookie_get(const char *header, const char *name, char *ret, size_t room);
size_t http_bearer_get(const char *header, char *ret,
		       size_t room); /* "Bearer …", of Authorization */

/* What tries of passwords from an address are counted under: the address, or of IPv6 the network of its owner. */
const char *http_peer_owner(const char *address, char ret[HTTP_HOST_MAX]);

/* Does the browser say (Sec-Fetch-Site) that a page of another origin asks? */
bool http_fetch_is_foreign(const char *site);

/* The same for a GET, which such a page may start only as a link that somebody follows (Sec-Fetch-Mode, Sec-Fetch-Dest):
 * not as a picture, a frame, or by a script. */
bool http_fetch_is_hidden(const char *site, const char *mode, const char *dest);

#endif
