/* SPDX-License-Identifier: MIT */
/* clickhouse_url: any text as the place of a store: what is taken has names that a query can hold. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "store/clickhouse/clickhouse_url.h"

static void check_name(const char *name)
{
	assert(strlen(name) < CLICKHOUSE_NAME_MAX);
	for (; *name; name++)
		assert(isalnum((unsigned char)*name) || *name == '_');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clickhouse_url url;
	struct error e = ERROR_INIT;
	char *text = malloc(size + 1);
	uint32_t i;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (clickhouse_url_parse(&url, text, &e) == 0) {
		check_name(url.user);
		check_name(url.database);
		check_name(url.cluster);
		assert(*url.database && url.n_servers && url.n_servers <= CLICKHOUSE_SERVERS_MAX);
		for (i = 0; i < url.n_servers; i++)
			assert(*url.servers[i].host && url.servers[i].port);
	} else {
		assert(*e.text);
	}
	free(text);
	return 0;
}
