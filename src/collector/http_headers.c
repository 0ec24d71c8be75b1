/* SPDX-License-Identifier: MIT */
/* http_headers: the part of http_params.h that reads headers. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "collector/http_params.h"

#define BLANKS " \t"

/* --- Accept-Encoding --- */

/* The quality of "gzip;q=0.5" in thousandths; 1000 without one. */
static unsigned int parse_quality(const char *p, const char *end)
{
	unsigned int whole = 0, part = 0, digits = 0;

	while (p < end && *p != 'q' && *p != 'Q')
		p++;
	if (end - p < 3 || p[1] != '=')
		return 1000;
	for (p += 2; p < end && *p >= '0' && *p <= '9' && whole < 10; p++)
		whole = whole * 10 + (unsigned int)(*p - '0');
	if (p < end && *p == '.')
		for (p++; p < end && *p >= '0' && *p <= '9' && digits < 3; p++, digits++)
			part = part * 10 + (unsigned int)(*p - '0');
	for (; digits < 3; digits++)
		part *= 10;
	return whole ? 1000 : part;
}

static bool is_named(const char *p, size_t len, const char *name)
{
	return len == strlen(name) && !strncasecmp(p, name, len);
}

/* What the header says of each encoding. */
static void parse_qualities(const char *header, unsigned int quality[CODING_ZSTD + 1])
{
	bool said[] = { false, false, false };
	const char *p = header ? header : "", *end;
	unsigned int any = 0;
	enum http_coding c;
	size_t len;

	memset(quality, 0, (CODING_ZSTD + 1) * sizeof(*quality));

	for (; *p; p = end + (*end == ',')) {
		p += strspn(p, BLANKS);
		end = p + strcspn(p, ",");
		len = strcspn(p, BLANKS ";,");
		if (is_named(p, len, "*"))
			any = parse_quality(p + len, end);
		for (c = CODING_GZIP; c <= CODING_ZSTD; c++)
			if (is_named(p, len, http_coding_name(c)) ||
			    (c == CODING_GZIP && is_named(p, len, "x-gzip"))) {
				quality[c] = parse_quality(p + len, end);
				said[c] = true;
			}
	}
	for (c = CODING_GZIP; c <= CODING_ZSTD; c++)
		quality[c] = said[c] ? quality[c] : any;
}

enum http_coding http_coding_parse(const char *header)
{
	unsigned int quality[CODING_ZSTD + 1];
	enum http_coding best = CODING_IDENTITY, c;

	parse_qualities(header, quality);
	for (c = CODING_GZIP; c <= CODING_ZSTD; c++)
		if (quality[c] && quality[c] >= quality[best])
			best = c;
	return best;
}

bool http_coding_allow(const char *header, enum http_coding c)
{
	unsigned int quality[CODING_ZSTD + 1];

	parse_qualities(header, quality);
	return c == CODING_IDENTITY || quality[c];
}

const char *http_coding_name(enum http_coding c)
{
	return c == CODING_GZIP ? "gzip" : c == CODING_ZSTD ? "zstd" : NULL;
}

/* --- Range, and tags --- */

/* Digits at *p; false if there are none or too many. */
static bool take_number(const char **p, uint64_t *ret)
{
	const char *start = *p;
	uint64_t v = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++) {
		if (v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(**p - '0');
	}
	*ret = v;
	return *p > start;
}

int http_range_parse(const char *header, uint64_t size, struct http_range *ret)
{
	uint64_t from = 0, to = UINT64_MAX;
	bool has_from, has_to;
	const char *p = header;

	if (!p || strncasecmp(p, "bytes=", 6))
		return 0;
	p += 6;
	p += strspn(p, BLANKS);
	has_from = take_number(&p, &from);
	if (*p++ != '-')
		return 0;
	has_to = take_number(&p, &to);
	p += strspn(p, BLANKS);
	if (*p || !(has_from || has_to) || (has_from && has_to && to < from))
		return 0;
	if (!has_from) { /* the last bytes */
		from = to < size ? size - to : 0;
		to = to ? UINT64_MAX : 0;
		if (!to)
			return -ERANGE;
	}
	if (from >= size)
		return -ERANGE;
	if (!has_to || to > size - 1)
		to = size - 1;
	ret->from = from;
	ret->len = to - from + 1;
	return 1;
}

bool http_tag_match(const char *header, const char *tag)
{
	const char *p = header ? header : "";
	size_t len = strlen(tag);

	while (*p) {
		p += strspn(p, BLANKS ",");
		if (*p == '*')
			return true;
		if (p[0] == 'W' && p[1] == '/')
			p += 2;
		if (!strncmp(p, tag, len) && (!p[len] || strchr(BLANKS ",", p[len])))
			return true;
		p += strcspn(p, ",");
	}
	return false;
}

/* --- Host, Origin --- */

/* The host of "host:port" or "[host]:port", without brackets, into room of HTTP_HOST_MAX. */
static bool cut_host(const char *text, char *ret)
{
	const char *end;
	size_t len;

	if (*text == '[') {
		text++;
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
	} else {
		end = text + strcspn(text, ":");
	}
	len = (size_t)(end - text);
	if (!len || len >= HTTP_HOST_MAX)
		return false;
	memcpy(ret, text, len);
	ret[len] = 0;
	return true;
}

static bool is_address(const char *host)
{
	struct in6_addr six;
	struct in_addr four;

	return inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1;
}

static bool is_loopback(const char *host)
{
	struct in6_addr six;
	struct in_addr four;
	size_t len = strlen(host);

	if (!strcasecmp(host, "localhost") || !strcasecmp(host, "localhost."))
		return true;
	if (len > 10 && !strcasecmp(host + len - 10, ".localhost"))
		return true;
	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool http_host_allow(const char *host, const char *listen)
{
	char name[HTTP_HOST_MAX];

	if (!host)
		return true;
	if (!cut_host(host, name))
		return false;
	if (is_loopback(name) || !strcasecmp(name, listen))
		return true;
	return (!strcmp(listen, "0.0.0.0") || !strcmp(listen, "::")) && is_address(name);
}

bool http_origin_allow(const char *origin, const char *host)
{
	if (!origin)
		return true;
	if (!host)
		return false;
	if (!strncasecmp(origin, "http://", 7))
		origin += 7;
	else if (!strncasecmp(origin, "https://", 8))
		origin += 8;
	else
		return false;
	return !strcasecmp(origin, host);
}

bool http_fetch_is_foreign(const char *site)
{
	return site && strcasecmp(site, "same-origin") && strcasecmp(site, "none");
}

bool http_fetch_is_hidden(const char *site, const char *mode, const char *dest)
{
	bool follows =
		mode && !strcasecmp(mode, "navigate") && (!dest || !strcasecmp(dest, "document"));

	return http_fetch_is_foreign(site) && !follows;
}

/* --- who asks --- */

static size_t take_word(const char *p, char *ret, size_t room)
{
	size_t len = strcspn(p, "; \t"), i;

	if (len >= room)
		return 0;
	for (i = 0; i < len; i++)
		if (!(p[i] >= '0' && p[i] <= '9') &&
		    !((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'z') && p[i] != '-' && p[i] != '_')
			return 0;
	memcpy(ret, p, len);
	ret[len] = 0;
	return len;
}

size_t http_cookie_get(const char *header, const char *name, char *ret, size_t room)
{
	const char *p = header ? header : "";
	size_t len = strlen(name);

	for (; *p; p += strcspn(p, ";"), p += *p == ';') {
		p += strspn(p, BLANKS);
		if (!strncmp(p, name, len) && p[len] == '=')
			return take_word(p + len + 1, ret, room);
	}
	return 0;
}

size_t http_bearer_get(const char *header, char *ret, size_t room)
{
	size_t len;

	if (!header || strncasecmp(header, "bearer ", 7))
		return 0;
	header += 7;
	header += strspn(header, BLANKS);
	len = take_word(header, ret, room);
	return header[len + strspn(header + len, BLANKS)] ? 0 : len;
}

const char *http_peer_owner(const char *address, char ret[HTTP_HOST_MAX])
{
	struct in6_addr six;

	ret[0] = 0;
	if (strlen(address) < HTTP_HOST_MAX)
		strcpy(ret, address);
	if (inet_pton(AF_INET6, address, &six) != 1 || IN6_IS_ADDR_V4MAPPED(&six))
		return ret;
	memset(six.s6_addr + 8, 0, 8);
	return inet_ntop(AF_INET6, &six, ret, HTTP_HOST_MAX) ? ret : address;
}
