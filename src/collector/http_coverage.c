/* SPDX-License-Identifier: MIT */
/* http_coverage: see http_coverage.h. */
#include "collector/http_coverage.h"

#include <errno.h>
#include <string.h>

#include "analysis/json_value.h"
#include "collector/http_device.h"

json_t *http_coverage_json(const struct coverage *c)
{
	return json_pack("{so so so so so so}", "runs", json_value_count(c->runs), "total_ns",
			 json_value_count(c->total_ns), "planned_ns",
			 json_value_count(c->planned_ns), "lost_ns", json_value_count(c->lost_ns),
			 "gaps_ns", json_value_count(c->gaps_ns), "ratio",
			 json_real(coverage_ratio(c)));
}

/* The latest run of each device that has a profile. */
struct latest {
	struct store_run runs[HTTP_COVERAGE_DEVICES_MAX];
	size_t n, most;
};

static int take_run(void *context, const struct store_run *run)
{
	struct latest *l = context;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!memcmp(&l->runs[i].device, &run->device, sizeof(run->device)))
			return 0;
	if (run->samplers)
		l->runs[l->n++] = *run;
	return l->n == l->most;
}

static void add(struct coverage *sum, const struct coverage *c)
{
	sum->runs += c->runs;
	sum->total_ns += c->total_ns;
	sum->planned_ns += c->planned_ns;
	sum->lost_ns += c->lost_ns;
	sum->gaps_ns += c->gaps_ns;
}

/* What is gone by now, or has no time yet, is not told. */
static json_t *list(struct http *h, const struct latest *l, const struct http_names *names)
{
	json_t *rows = json_array(), *row;
	struct coverage sum = { 0 }, c;
	char id[ID_TEXT_LEN];
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (coverage_of_device(h->options.store, &l->runs[i], &c, NULL) < 0)
			continue;
		add(&sum, &c);
		row = http_coverage_json(&c);
		json_object_set_new(row, "device",
				    json_value_text(http_names_get(names, &l->runs[i].device)));
		json_object_set_new(row, "device_id",
				    json_value_text(http_id_format(&l->runs[i].device, id)));
		json_object_set_new(row, "run", json_value_count(l->runs[i].number));
		json_array_append_new(rows, row);
	}
	return json_pack("{so so}", "all", http_coverage_json(&sum), "devices", rows);
}

int http_coverage_devices(struct http *h, size_t most, json_t **ret, struct error *e)
{
	_cleanup_free_ struct latest *l = calloc(1, sizeof(*l));
	struct http_names names = { 0 };
	int r;

	if (!l)
		return error_set(e, ENOMEM, "out of memory");
	l->most = most < HTTP_COVERAGE_DEVICES_MAX ? most : HTTP_COVERAGE_DEVICES_MAX;
	r = store_runs(h->options.store, NULL, take_run, l, e);
	if (r >= 0)
		r = http_names_init(&names, h->options.store, e);
	if (r < 0)
		return r;
	*ret = list(h, l, &names);
	http_names_done(&names);
	return *ret ? 0 : error_set(e, ENOMEM, "out of memory");
}
