/* SPDX-License-Identifier: MIT */
/* fact_row: any bytes as rows of facts that a server answered: heads, and what stands behind them, which never reaches beyond them. */
#include <assert.h>
#include <string.h>

#include "facts/clickhouse/fact_row.h"
#include "facts/fact_pack.h"

static void check_span(const uint8_t *data, size_t size, const uint8_t *at, size_t len)
{
	assert(!len || (at >= data && len <= size && at + len <= data + size));
}

/* Trees are read as the engine reads them, but for the texts of names. */
static void read_tree(const struct fact_row_body *b)
{
	CLEANUP_FACT_TREE struct fact_tree_reader t = { 0 };
	struct fact_tree_node n;

	if (fact_tree_open(&t, b->tree, b->tree_len) < 0)
		return;
	while (fact_tree_next(&t, &n))
		assert(n.number_at < t.n_numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fact_row_body b;
	struct facts_head h;
	struct byte_reader in;

	reader_init(&in, data, size);
	while (fact_row_head(&in, &h) && fact_row_body(&in, &b)) {
		check_span(data, size, b.names, 8 * b.n_names);
		check_span(data, size, b.tree, b.tree_len);
		check_span(data, size, b.tasks, b.tasks_len);
		check_span(data, size, b.objects, b.objects_len);
		read_tree(&b);
	}
	return 0;
}
