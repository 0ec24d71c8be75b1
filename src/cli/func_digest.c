/* SPDX-License-Identifier: MIT */
/* func_digest: see func_digest.h. */
#include "cli/func_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cli/jsonout.h"
#include "cli/units.h"
#include "command/say.h"
#include "convert/func_input.h"
#include "convert/recognise.h"
#include "convert/source_graph_text.h"
#include "trace/func_buffer.h"
#include "trace/func_ksk.h"
#include "trace/word.h"

#define SPARSE_LEAST (1 << 20)
#define NAMED_PROCESSES 8U /* are listed; more are only counted */

void func_digest_done(struct func_digest *d)
{
	func_source_free(d->source);
	free(d->threads);
	memset(d, 0, sizeof(*d));
}

static bool starts_as_record(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t head[RECOGNISE_BYTES];
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	return n > 0 && (func_buffer_is_record(head, (size_t)n) || graph_text_is(head, (size_t)n));
}

bool func_digest_is_record(const char *path)
{
	struct func_source *s;
	struct stat st;

	/* A pipe is not opened: that would be seen at its other end. */
	if (stat(path, &st) < 0)
		return false;
	if (S_ISREG(st.st_mode))
		return starts_as_record(path);
	if (!S_ISDIR(st.st_mode) || recognise_folder(path) != RECOGNISED_NOTHING ||
	    func_buffer_open_folder(path, &s, NULL) < 0)
		return false;
	func_source_free(s);
	return true;
}

static void add_event(struct func_digest_thread *t, const struct func_event *ev)
{
	bool first = !(t->enters + t->exits + t->records);

	if (first || ev->tick < t->first_tick)
		t->first_tick = ev->tick;
	if (ev->tick > t->last_tick)
		t->last_tick = ev->tick;
	t->enters += ev->kind == FUNC_ENTER;
	t->exits += ev->kind == FUNC_EXIT;
	t->records += ev->kind == FUNC_OS;
}

static void add_loss(struct func_digest_thread *t, const struct trace_loss *loss)
{
	t->losses[loss->cause]++;
	loss_tally_add(&t->lost, loss->cause, loss->count);
}

static void add_blocks(struct func_digest_thread *t, const struct func_totals *totals)
{
	if (!totals)
		return;
	t->blocks += totals->blocks;
	t->segments += totals->segments;
	t->bytes += totals->bytes;
}

static int read_all(struct func_digest *d, struct error *e)
{
	struct func_item item;
	uint32_t i;
	int r;

	d->threads = calloc(d->source->n_threads + 1, sizeof(*d->threads));
	if (!d->threads)
		return error_set(e, ENOMEM, "cannot count the calls: out of memory");
	while ((r = d->source->ops->next(d->source, &item, e)) == 1) {
		if (item.type == FUNC_ITEM_EVENT) {
			add_event(&d->threads[item.thread], &item.event);
			add_event(&d->sum, &item.event);
		} else {
			add_loss(&d->threads[item.thread], &item.loss);
			add_loss(&d->sum, &item.loss);
		}
	}
	for (i = 0; d->packed && i < d->source->n_threads; i++) {
		add_blocks(&d->threads[i], func_ksk_totals(d->source, i, false));
		add_blocks(&d->threads[i], func_ksk_totals(d->source, i, true));
		d->sum.blocks += d->threads[i].blocks;
		d->sum.segments += d->threads[i].segments;
		d->sum.bytes += d->threads[i].bytes;
	}
	return r;
}

int func_digest_open_ksk(struct func_digest *d, const char *path, struct error *e)
{
	int r = func_ksk_open(path, &d->source, e);

	if (r == -ENODATA)
		return 1;
	d->packed = true;
	return r < 0 ? r : read_all(d, e);
}

static uint64_t events_of(const struct func_digest_thread *t)
{
	return t->enters + t->exits + t->records;
}

static void print_processes(const struct func_source *s)
{
	size_t i;

	printf("processes %zu:", s->n_processes);
	for (i = 0; i < s->n_processes && i < NAMED_PROCESSES; i++) {
		const struct func_process *p = &s->processes[i];

		printf("%s %s", i ? "," : "", p->command[0] ? p->command : "not known");
		if (!p->kernel && p->pid > 0)
			printf(" (%" PRId32 ")", p->pid);
	}
	printf("%s\nthreads   %zu\n", i < s->n_processes ? ", …" : "", s->n_threads);
}

static void print_losses(const struct func_digest_thread *t)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		if (!t->losses[i])
			continue;
		any = true;
		printf("%slost      %s: %" PRIu64 " calls and returns%s in %" PRIu64 " gap%s%s\n",
		       say_style(stdout, STYLE_BAD), word_cause(i), t->lost.lost[i],
		       t->lost.some[i] ? " and an unknown number more" : "", t->losses[i],
		       t->losses[i] == 1 ? "" : "s", say_style(stdout, STYLE_PLAIN));
	}
	if (!any)
		puts("lost      no calls");
}

void func_digest_print_info(const struct func_digest *d)
{
	const struct trace_clock *c = &d->source->clock;
	const struct func_digest_thread *t = &d->sum;
	char a[UNITS_LEN], b[UNITS_LEN], span[UNITS_LEN];
	uint64_t first = clock_ns(c, t->first_tick), last = clock_ns(c, t->last_tick);

	print_processes(d->source);
	printf("ticks     of %.6g ns, %zu pair%s with CLOCK_MONOTONIC\n",
	       (double)c->mult / (double)(1ULL << c->shift), d->source->n_syncs,
	       d->source->n_syncs == 1 ? "" : "s");
	if (events_of(t))
		printf("calls     from %s to %s s (%s)\n", units_moment(first, a),
		       units_moment(last, b), units_duration(last - first, span));
	printf("          %-10s %10" PRIu64 "\n          %-10s %10" PRIu64
	       "\n          %-10s %10" PRIu64 "\n",
	       "entered", t->enters, "left", t->exits, "OS records", t->records);
	if (d->packed && events_of(t))
		printf("          %.2f bits per event\n",
		       8 * (double)t->bytes / (double)events_of(t));
	print_losses(t);
}

static uint64_t lost_of(const struct func_digest_thread *t, bool *ret_more)
{
	uint64_t lost = 0;
	uint32_t i;

	*ret_more = false;
	for (i = 0; i < LOSS_CAUSES; i++) {
		lost += t->lost.lost[i];
		*ret_more = *ret_more || t->lost.some[i];
	}
	return lost;
}

static void print_thread(const struct func_digest *d, uint32_t i)
{
	const struct func_thread *who = &d->source->threads[i];
	const struct func_digest_thread *t = &d->threads[i];
	char comm[UNITS_COMM_LEN], bits[32] = "-";
	uint64_t lost;
	bool more;

	lost = lost_of(t, &more);
	if (d->packed && events_of(t))
		snprintf(bits, sizeof(bits), "%.2f", 8 * (double)t->bytes / (double)events_of(t));
	printf("%6" PRIu32 " %7" PRId32 " %7" PRId32 "  %-16s %11" PRIu64 " %7" PRIu64 " %8" PRIu64
	       " %10" PRIu64 " %7s %9" PRIu64 "%s\n",
	       i, d->source->processes[who->process].pid, who->cpu < 0 ? who->tid : who->cpu,
	       units_comm(who->comm, comm), events_of(t), t->blocks, t->segments, t->bytes, bits,
	       lost, more ? "+" : "");
}

void func_digest_print_check(const struct func_digest *d)
{
	uint32_t i;

	printf("%sthread     pid     tid  %-16s      events  blocks segments      bytes  b/event"
	       "      lost%s\n",
	       say_style(stdout, STYLE_HEAD), "name", say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < d->source->n_threads; i++)
		print_thread(d, i);
	putchar('\n');
	print_losses(&d->sum);
}

static json_t *losses_json(const struct func_digest_thread *t)
{
	json_t *object = json_object();
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		json_object_set_new(object, word_cause(i),
				    json_pack("{so so sb}", "losses", jsonout_count(t->losses[i]),
					      "lost", jsonout_count(t->lost.lost[i]), "more",
					      t->lost.some[i]));
	return object;
}

static json_t *count_json(const struct func_digest *d, const struct func_digest_thread *t)
{
	const struct trace_clock *c = &d->source->clock;
	bool any = events_of(t);

	return json_pack("{so so so so so so so so so}", "entered", jsonout_count(t->enters),
			 "left", jsonout_count(t->exits), "os_records", jsonout_count(t->records),
			 "from_ns", any ? jsonout_count(clock_ns(c, t->first_tick)) : json_null(),
			 "to_ns", any ? jsonout_count(clock_ns(c, t->last_tick)) : json_null(),
			 "blocks", jsonout_count(t->blocks), "segments", jsonout_count(t->segments),
			 "bytes", jsonout_count(t->bytes), "ledger", losses_json(t));
}

json_t *func_digest_json(const struct func_digest *d, bool threads)
{
	const struct func_source *s = d->source;
	json_t *object = count_json(d, &d->sum), *list = json_array(), *row;
	size_t i;

	for (i = 0; i < s->n_processes; i++)
		json_array_append_new(list, json_pack("{so so so sb}", "pid",
						      json_integer(s->processes[i].pid), "command",
						      jsonout_text(s->processes[i].command), "exe",
						      jsonout_text(s->processes[i].exe), "kernel",
						      s->processes[i].kernel));
	json_object_set_new(object, "processes", list);
	json_object_set_new(object, "n_threads", jsonout_count(s->n_threads));
	list = json_array();
	for (i = 0; threads && i < s->n_threads; i++) {
		row = count_json(d, &d->threads[i]);
		json_object_set_new(row, "process", jsonout_count(s->threads[i].process));
		json_object_set_new(row, "tid", json_integer(s->threads[i].tid));
		json_object_set_new(row, "comm", jsonout_comm(s->threads[i].comm));
		json_array_append_new(list, row);
	}
	json_object_set_new(object, "threads", list);
	return object;
}

static void print_file(const struct func_digest *d, const char *path)
{
	char bytes[UNITS_LEN];
	struct stat st;

	printf("file      %s\nformat    %s", path, d->source->origin);
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		printf(", %s", units_bytes((uint64_t)st.st_size, bytes));
		/* A record has its full size from the start. */
		if (st.st_size > SPARSE_LEAST && st.st_blocks < st.st_size / 1024)
			printf(" (%s on disk)", units_bytes((uint64_t)st.st_blocks * 512, bytes));
	}
	putchar('\n');
}

static int show(struct func_digest *d, const struct args *a, const char *path, bool check)
{
	json_t *object;

	if (args_has(a, "json")) {
		object = json_pack("{so so so}", "file", jsonout_text(path), "format",
				   jsonout_text(d->source->origin), "functions",
				   func_digest_json(d, check));
		if (check)
			json_object_set_new(object, "ok",
					    json_boolean(!d->sum.losses[LOSS_DAMAGE]));
		return jsonout_print(object);
	}
	print_file(d, path);
	if (check)
		func_digest_print_check(d);
	else
		func_digest_print_info(d);
	return EXIT_OK;
}

int func_digest_run(const struct args *a, const char *path, bool check)
{
	CLEANUP_FUNC_DIGEST struct func_digest d = { 0 };
	struct error e = ERROR_INIT;
	int status;

	if (func_input_open(path, &d.source, &e) < 0 || read_all(&d, &e) < 0)
		return say_failure(&e);
	status = show(&d, a, path, check);
	/* What a record lost by damage is damage of its file. */
	return status == EXIT_OK && check && d.sum.losses[LOSS_DAMAGE] ? EXIT_FAILED : status;
}
