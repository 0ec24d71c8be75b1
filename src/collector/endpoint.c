/* SPDX-License-Identifier: MIT */
/* endpoint: see endpoint.h. Names are not looked up: what is listened on must not depend on a
 * server somewhere. */
#include "collector/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_port(const char *text, uint16_t *ret)
{
	unsigned long v;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	v = strtoul(text, &end, 10);
	if (*end || v > UINT16_MAX)
		return -EINVAL;
	*ret = (uint16_t)v;
	return 0;
}

/* Parts the text at the colon before the port; an address of IPv6 stands in brackets. */
static int split(const char *text, char host[ENDPOINT_TEXT_MAX], uint16_t *port)
{
	const char *colon = strrchr(text, ':'), *end = colon ? colon : text + strlen(text);

	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		colon = end[1] ? end + 1 : NULL;
		text++;
	}
	if (end - text >= ENDPOINT_TEXT_MAX || (colon && parse_port(colon + 1, port) < 0))
		return -EINVAL;
	memcpy(host, text, (size_t)(end - text));
	host[end - text] = 0;
	return 0;
}

int endpoint_parse(const char *text, uint16_t default_port, struct sockaddr_storage *ret,
		   struct error *e)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };
	char host[ENDPOINT_TEXT_MAX];
	uint16_t port = default_port;

	if (split(text, host, &port) < 0)
		return error_set(e, EINVAL, "cannot listen on '%s': HOST:PORT is wanted", text);
	if (!host[0] || !strcmp(host, "localhost"))
		strcpy(host, "127.0.0.1");
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, host, &four.sin_addr) == 1) {
		four.sin_port = htons(port);
		memcpy(ret, &four, sizeof(four));
		return 0;
	}
	if (inet_pton(AF_INET6, host, &six.sin6_addr) == 1) {
		six.sin6_port = htons(port);
		memcpy(ret, &six, sizeof(six));
		return 0;
	}
	return error_set(e, EINVAL,
			 "cannot listen on '%s': '%s' is not a numeric address; a port alone is "
			 "written :PORT",
			 text, host);
}

bool endpoint_is_loopback(const struct sockaddr_storage *a)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (a->ss_family == AF_INET) {
		memcpy(&four, a, sizeof(four));
		return ntohl(four.sin_addr.s_addr) >> 24 == 127;
	}
	memcpy(&six, a, sizeof(six));
	return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
}

int endpoint_parse_listen(const char *text, uint16_t default_port, bool insecure,
			  struct sockaddr_storage *ret, struct error *e)
{
	struct sockaddr_storage a;
	int r = endpoint_parse(text, default_port, &a, e);

	if (r < 0)
		return r;
	if (!insecure && !endpoint_is_loopback(&a))
		return error_set(e, EPERM,
				 "cannot listen on %s: only loopback is safe without keys (kiseki "
				 "keys init); tunnel it, e.g. with ssh -L, or pass "
				 "--insecure-listen if the network is trusted",
				 text);
	*ret = a;
	return 0;
}

uint16_t endpoint_get_port(const struct sockaddr_storage *a)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (a->ss_family == AF_INET) {
		memcpy(&four, a, sizeof(four));
		return ntohs(four.sin_port);
	}
	memcpy(&six, a, sizeof(six));
	return ntohs(six.sin6_port);
}

const char *endpoint_format(const struct sockaddr_storage *a, char out[ENDPOINT_TEXT_MAX])
{
	char host[INET6_ADDRSTRLEN] = "?";
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (a->ss_family == AF_INET) {
		memcpy(&four, a, sizeof(four));
		inet_ntop(AF_INET, &four.sin_addr, host, sizeof(host));
	} else if (a->ss_family == AF_INET6) {
		memcpy(&six, a, sizeof(six));
		inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof(host));
	}
	snprintf(out, ENDPOINT_TEXT_MAX, a->ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
		 endpoint_get_port(a));
	return out;
}
