/* SPDX-License-Identifier: MIT */
/* fuzz_http_params: what requests say. The first byte chooses the parser, the rest is its text. */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_walk.h"
#include "collector/event_page.h"
#include "collector/http_params.h"

static void try_target(const char *text)
{
	struct http_target *t = malloc(sizeof(*t));
	const char *got[HTTP_CAPTURES_MAX];
	struct error e = ERROR_INIT;
	static const char *const words[] = { "one", "two", NULL };
	uint64_t n = 0;
	size_t i, word = 0;
	int r = t ? http_target_parse(t, text, &e) : -1;

	for (i = 0; r == 0 && i < t->n_segments; i++)
		if (!*t->segments[i] || !strcmp(t->segments[i], ".."))
			abort();
	if (r == 0) {
		http_target_match(t, "/api/v1/devices/{device}/runs/{run}", got);
		http_target_check(t, "from to", &e);
		http_target_get_word(t, "by", words, &word, &e);
		http_target_get_count(t, "n", (struct http_bounds){ 1, 9 }, &n, &e);
	}
	if (n > 9 || word > 1 || (r < 0 && t && !e.text[0]) || strchr(e.text, '\n'))
		abort();
	free(t);
}

/* What is read is what was written. */
static void try_cursor(const char *text)
{
	struct event_cursor c, again;
	char out[EVENT_CURSOR_MAX];

	if (event_cursor_parse(text, &c) < 0)
		return;
	event_cursor_format(&c, out);
	if (event_cursor_parse(out, &again) < 0 || again.ns != c.ns || again.ordinal != c.ordinal)
		abort();
}

static void try_modes(const char *text)
{
	struct error e = ERROR_INIT;
	uint32_t modes = 0;
	int r = profile_modes_parse(&modes, text, &e);

	if (modes >> SAMPLE_MODES || (r == 0) != !e.text[0])
		abort();
}

static void try_who(const char *text, uint8_t which)
{
	char got[64], owner[HTTP_HOST_MAX];
	size_t room = 1 + which % sizeof(got), n;

	n = http_cookie_get(text, "__Host-kiseki", got, room);
	if (n && (n >= room || strlen(got) != n || strpbrk(got, "; =\"")))
		abort();
	n = http_bearer_get(text, got, room);
	if (n && (n >= room || strlen(got) != n || strpbrk(got, "; =\"")))
		abort();
	http_peer_owner(text, owner);
}

static void try_headers(const char *text, uint8_t which)
{
	struct http_range range = { 0, 0 };

	if (http_coding_parse(text) > CODING_ZSTD)
		abort();
	if (http_range_parse(text, which, &range) == 1 &&
	    (!range.len || range.from + range.len > which))
		abort();
	try_cursor(text);
	try_modes(text);
	try_who(text, which);
	http_tag_match(text, "\"a\"");
	http_host_allow(text, "127.0.0.1");
	http_origin_allow(text, "localhost");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = size ? strndup((const char *)data + 1, size - 1) : NULL;

	if (!text)
		return 0;
	if (data[0] & 1)
		try_target(text);
	else
		try_headers(text, data[0]);
	free(text);
	return 0;
}
