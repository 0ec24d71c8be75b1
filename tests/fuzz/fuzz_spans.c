/* SPDX-License-Identifier: MIT */
/* fuzz_spans: the detail of any file's events: slices without gap, and bytes that fit their room. */
#include <stdlib.h>

#include "analysis/spans_pack.h"
#include "trace/ksk_source.h"

static void check(const struct spans *s)
{
	uint64_t ns;
	uint32_t i;
	size_t j;

	for (i = 0; i < s->n_cpus; i++) {
		for (ns = s->from_ns, j = 0; j < s->cpus[i].n; j++)
			ns += s->cpus[i].slices[j].length_ns;
		if (ns != s->to_ns)
			abort();
	}
	for (i = 0; i < s->n_tasks; i++) {
		for (ns = s->from_ns, j = 0; j < s->tasks[i].n_spans; j++)
			ns += s->spans[s->tasks[i].first_span + j].length_ns;
		if (ns > s->to_ns)
			abort();
	}
}

static void look(struct trace_source *source, uint64_t from_ns, uint64_t to_ns)
{
	CLEANUP(spans) struct spans *s = NULL;
	struct error e = ERROR_INIT;
	struct trace_item item;
	uint8_t *bytes = NULL;
	size_t len;
	int r;

	if (source->ops->rewind(source, &e) < 0 || spans_new(&s, &source->info, from_ns, to_ns) < 0)
		return;
	while ((r = source->ops->next(source, &item, &e)) > 0)
		if (spans_add(s, &item, &e) < 0)
			return;
	if (r < 0 || spans_finish(s, &e) < 0)
		return;
	check(s);
	if (spans_encode(s, 0, &bytes, &len) == 0)
		free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_source *source = NULL;
	struct error e = ERROR_INIT;
	struct trace_item item;
	uint64_t ns;

	if (source_ksk_open_memory(&source, data, size, &e) < 0)
		return 0;
	ns = source->ops->next(source, &item, &e) > 0 && item.type == ITEM_EVENT
		     ? clock_event_ns(&source->info.clock, &item.event)
		     : 1000;
	look(source, 0, UINT64_MAX);
	look(source, ns, ns + 1000000);
	look(source, ns > 5 ? ns - 5 : 0, ns + 1);
	source_free(source);
	return 0;
}
