/* SPDX-License-Identifier: MIT */
/* store_report: see store_report.h. */
#include "cli/store_report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hex.h"
#include "cli/jsonout.h"
#include "cli/units.h"
#include "command/command.h"
#include "command/say.h"
#include "store/database.h"
#include "store/store_check.h"
#include "trace/word.h"

#define DAMAGE_MAX 1000U /* places that are listed; more are only counted */
#define ID_TEXT 33

/* What a folder holds beside the log and cannot be made again from it. */
static const char *const databases[] = { "facts.sqlite", "fleet.db", "keys/roster.db",
					 "keys/people.db" };
#define DATABASES (sizeof(databases) / sizeof(*databases))

struct store_digest {
	const char *path;
	struct store *store;
	struct store_counts counts;
	uint64_t places;  /* of the log */
	uint64_t damaged; /* with the databases */
	struct store_damage damage[DAMAGE_MAX];
	struct error databases[DATABASES]; /* what is wrong with them, or an empty text */
	struct store_device *devices;
	size_t n_devices;
	struct store_run *runs;
	size_t n_runs;
	uint64_t losses[LOSS_CAUSES], lost[LOSS_CAUSES], uncounted[LOSS_CAUSES];
};

bool store_report_wants(const char *path)
{
	return store_is_place(path);
}

static void add_damage(void *context, const struct store_damage *d)
{
	struct store_digest *g = context;

	if (g->damaged < DAMAGE_MAX)
		g->damage[g->damaged] = *d;
	g->damaged++;
}

static int add_device(void *context, const struct store_device *d)
{
	struct store_digest *g = context;
	void *grown = realloc(g->devices, (g->n_devices + 1) * sizeof(*g->devices));

	if (!grown)
		return -ENOMEM;
	g->devices = grown;
	g->devices[g->n_devices++] = *d;
	return 0;
}

static int add_run(void *context, const struct store_run *r)
{
	struct store_digest *g = context;
	void *grown = realloc(g->runs, (g->n_runs + 1) * sizeof(*g->runs));

	if (!grown)
		return -ENOMEM;
	g->runs = grown;
	g->runs[g->n_runs++] = *r;
	return 0;
}

static int add_loss(void *context, const struct store_loss *l)
{
	struct store_digest *g = context;

	g->losses[l->cause]++;
	if (l->count == LOSS_UNKNOWN)
		g->uncounted[l->cause]++;
	else
		g->lost[l->cause] += l->count;
	return 0;
}

/* One that is not there was never made. */
static int check_databases(struct store_digest *g, struct error *e)
{
	char path[PATH_MAX];
	size_t i;
	int r;

	for (i = 0; i < DATABASES; i++) {
		snprintf(path, sizeof(path), "%s/%s", g->path, databases[i]);
		r = database_check(path, &g->databases[i]);
		if (r == -EBADMSG)
			g->damaged++;
		else if (r == -EACCES || r == -EBUSY)
			say_note("%s, so it is not checked", g->databases[i].text);
		else if (r < 0 && r != -ENOENT && r != -ENOTDIR)
			return error_set(e, r, "%s", g->databases[i].text);
		if (r != -EBADMSG)
			g->databases[i].text[0] = 0;
	}
	return 0;
}

static int gather(struct store_digest *g, bool verify, struct error *e)
{
	const struct store_options o = { .read_only = true };
	size_t i;
	int r = store_open(&g->store, g->path, &o, e);

	if (r == 0 && verify)
		r = store_check(g->store, add_damage, g, &g->counts, e);
	g->places = g->damaged;
	if (r == 0 && verify)
		r = check_databases(g, e);
	if (r == 0)
		r = store_devices(g->store, add_device, g, e);
	if (r == 0)
		r = store_runs(g->store, NULL, add_run, g, e);
	for (i = 0; i < g->n_runs && r == 0; i++)
		r = store_ledger(g->store, g->runs[i].number, add_loss, g, e);
	if (r < 0 && !e->text[0])
		error_set(e, r, "cannot read %s: %s", g->path, strerror(-r));
	else if (r < 0 && strncmp(e->text, "cannot ", 7) != 0)
		error_prefix(e, r, "cannot read %s", g->path);
	return r;
}

static const char *format_id(const struct message_id *id, char out[ID_TEXT])
{
	return hex_format(id->bytes, sizeof(id->bytes), out);
}

static const char *device_name(const struct store_digest *g, const struct message_id *id)
{
	size_t i;

	for (i = 0; i < g->n_devices; i++)
		if (!memcmp(&g->devices[i].id, id, sizeof(*id)))
			return g->devices[i].name;
	return "";
}

static const char *format_time(uint64_t ns, char out[UNITS_LEN])
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm t;

	if (!gmtime_r(&seconds, &t) || !strftime(out, UNITS_LEN, "%Y-%m-%dT%H:%M:%SZ", &t))
		snprintf(out, UNITS_LEN, "-");
	return out;
}

static uint64_t all_lost(const struct store_run *r)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < LOSS_CAUSES; i++)
		sum += r->lost[i];
	return sum;
}

/* --- for people --- */

static void print_run(const struct store_digest *g, const struct store_run *r)
{
	char since[UNITS_LEN], per_event[32] = "-", id[ID_TEXT];
	const char *name = device_name(g, &r->device);

	if (!*name)
		name = format_id(&r->device, id);
	if (r->events)
		snprintf(per_event, sizeof(per_event), "%.2f",
			 (double)r->bytes / (double)r->events);
	printf("%5" PRIu32 " %-20.20s %20s %-5s %-5s %12" PRIu64 " %9" PRIu64 " %12" PRIu64
	       " %7s %10" PRIu64 "%s\n",
	       r->number, name, format_time(r->first_ns, since), r->ended ? "ended" : "open",
	       store_run_kind(r), r->events, r->blocks, r->bytes, per_event, all_lost(r),
	       r->lost_unknown ? "+" : "");
}

static void print_ledger(const struct store_digest *g)
{
	bool any = false;
	int i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		if (!g->losses[i])
			continue;
		any = true;
		printf("%slost      %s: %" PRIu64 " events%s in %" PRIu64 " gap%s%s\n",
		       say_style(stdout, STYLE_BAD), word_cause((uint32_t)i), g->lost[i],
		       g->uncounted[i] ? " and an unknown number more" : "", g->losses[i],
		       g->losses[i] == 1 ? "" : "s", say_style(stdout, STYLE_PLAIN));
	}
	if (!any)
		puts("lost      nothing");
}

static void print_damage(const struct store_digest *g)
{
	uint64_t i;

	for (i = 0; i < g->places && i < DAMAGE_MAX; i++)
		printf("%sdamage    log file %" PRIu32 ", offset %" PRIu64 ", %" PRIu64
		       " bytes: %s%s\n",
		       say_style(stdout, STYLE_BAD), g->damage[i].file, g->damage[i].offset,
		       g->damage[i].len, g->damage[i].what, say_style(stdout, STYLE_PLAIN));
	if (g->places > DAMAGE_MAX)
		printf("damage    ... and %" PRIu64 " more places\n", g->places - DAMAGE_MAX);
	for (i = 0; i < DATABASES; i++)
		if (g->databases[i].text[0])
			printf("%sdamage    %s: %s%s\n", say_style(stdout, STYLE_BAD), databases[i],
			       g->databases[i].text, say_style(stdout, STYLE_PLAIN));
	if (g->counts.unfinished)
		printf("unsaved   %" PRIu64 " bytes at the end, of a write that was broken off\n",
		       g->counts.unfinished);
	if (!g->damaged)
		printf("damage    %snone%s\n", say_style(stdout, STYLE_GOOD),
		       say_style(stdout, STYLE_PLAIN));
}

static void print_all(const struct store_digest *g, bool verify)
{
	char bytes[UNITS_LEN];
	uint64_t used, room;
	size_t i;

	store_space(g->store, &used, &room);
	printf("%s: store, %zu device%s, %zu run%s, %s", g->path, g->n_devices,
	       g->n_devices == 1 ? "" : "s", g->n_runs, g->n_runs == 1 ? "" : "s",
	       units_bytes(used, bytes));
	if (verify)
		printf(" in %" PRIu64 " log files, %" PRIu64 " blocks", g->counts.files,
		       g->counts.blocks);
	printf("\n\n%s  run device                            since state kind        events    "
	       "blocks"
	       "        bytes B/event       lost%s\n",
	       say_style(stdout, STYLE_HEAD), say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < g->n_runs; i++)
		print_run(g, &g->runs[i]);
	putchar('\n');
	print_ledger(g);
	if (verify)
		print_damage(g);
}

/* --- for programs --- */

static json_t *run_json(const struct store_digest *g, const struct store_run *r)
{
	char device[ID_TEXT], id[ID_TEXT];
	json_t *lost = json_object();
	int i;

	for (i = 0; i < LOSS_CAUSES; i++)
		json_object_set_new(lost, word_cause((uint32_t)i), jsonout_count(r->lost[i]));
	return json_pack("{so so so so so so so so so so so so so so ss so}", "run",
			 jsonout_count(r->number), "id", jsonout_text(format_id(&r->id, id)),
			 "device", jsonout_text(format_id(&r->device, device)), "name",
			 jsonout_text(device_name(g, &r->device)), "first_ns",
			 jsonout_count(r->first_ns), "last_ns", jsonout_count(r->last_ns), "ended",
			 json_boolean(r->ended), "streams", jsonout_count(r->streams), "events",
			 jsonout_count(r->events), "blocks", jsonout_count(r->blocks), "bytes",
			 jsonout_count(r->bytes), "lost", lost, "lost_more",
			 json_boolean(r->lost_unknown), "last_tick", jsonout_count(r->last_tick),
			 "kind", store_run_kind(r), "threads", jsonout_count(r->threads));
}

static json_t *ledger_json(const struct store_digest *g)
{
	json_t *object = json_object();
	int i;

	for (i = 0; i < LOSS_CAUSES; i++)
		json_object_set_new(object, word_cause((uint32_t)i),
				    json_pack("{so so so}", "losses", jsonout_count(g->losses[i]),
					      "lost", jsonout_count(g->lost[i]), "uncounted",
					      jsonout_count(g->uncounted[i])));
	return object;
}

static json_t *damage_json(const struct store_digest *g)
{
	json_t *list = json_array();
	uint64_t i;

	for (i = 0; i < g->places && i < DAMAGE_MAX; i++)
		json_array_append_new(list, json_pack("{so so so so}", "file",
						      jsonout_count(g->damage[i].file), "offset",
						      jsonout_count(g->damage[i].offset), "bytes",
						      jsonout_count(g->damage[i].len), "what",
						      jsonout_text(g->damage[i].what)));
	return list;
}

static json_t *databases_json(const struct store_digest *g)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < DATABASES; i++)
		if (g->databases[i].text[0])
			json_array_append_new(list,
					      json_pack("{ss so}", "file", databases[i], "what",
							jsonout_text(g->databases[i].text)));
	return list;
}

static json_t *all_json(const struct store_digest *g, bool verify)
{
	json_t *runs = json_array(), *object;
	uint64_t used, room;
	size_t i;

	store_space(g->store, &used, &room);
	for (i = 0; i < g->n_runs; i++)
		json_array_append_new(runs, run_json(g, &g->runs[i]));
	object = json_pack("{so ss so so so so so}", "file", jsonout_text(g->path), "format",
			   "store", "bytes", jsonout_count(used), "free", jsonout_count(room),
			   "devices", jsonout_count(g->n_devices), "runs", runs, "ledger",
			   ledger_json(g));
	if (!verify)
		return object;
	json_object_set_new(object, "ok", json_boolean(!g->damaged));
	json_object_set_new(object, "log_files", jsonout_count(g->counts.files));
	json_object_set_new(object, "blocks", jsonout_count(g->counts.blocks));
	json_object_set_new(object, "unfinished_bytes", jsonout_count(g->counts.unfinished));
	json_object_set_new(object, "damage", damage_json(g));
	json_object_set_new(object, "damaged_places", jsonout_count(g->places));
	json_object_set_new(object, "damaged_databases", databases_json(g));
	return object;
}

int store_report_run(const struct args *a, const char *path, bool verify)
{
	_cleanup_free_ struct store_digest *g = calloc(1, sizeof(*g));
	struct error e = ERROR_INIT;
	int status = EXIT_OK;

	if (!g) {
		error_set(&e, ENOMEM, "cannot read %s: out of memory", path);
		return say_failure(&e);
	}
	g->path = path;
	if (gather(g, verify, &e) < 0)
		status = say_failure(&e);
	else if (args_has(a, "json"))
		status = jsonout_print(all_json(g, verify));
	else
		print_all(g, verify);
	if (status == EXIT_OK && g->damaged)
		status = EXIT_FAILED;
	store_free(g->store);
	free(g->devices);
	free(g->runs);
	return status;
}
