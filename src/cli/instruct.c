/* SPDX-License-Identifier: MIT */
/* instruct: see instruct.h. */
#include "cli/instruct.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/device_json.h"
#include "cli/jsonout.h"
#include "cli/table.h"
#include "collector/config_json.h"
#include "command/config_args.h"
#include "command/say.h"

#define AT_ONCE 32U /* devices in one request */
#define ID_LEN 33U  /* with its comma */
#define TEXT_MAX 256U

struct instruction {
	const char *verb; /* of the API */
	const char *word; /* for what cannot be done */
	const char *done; /* NULL: as the verb says */
	const struct args *args;
	const char *const *devices; /* patterns */
	size_t n_devices;
	json_t *body;
	json_t *results; /* of --json */
	bool failed;
};

/* "there is no device x" is a failure of its own, and does not keep the others from it. A collector knows those that came once;
 * one that is merely away is told later, so this one was not there ever, or is called differently. */
static void say_missing(struct instruction *in, const char *pattern)
{
	struct error e = ERROR_INIT;

	if (strpbrk(pattern, "*?["))
		error_set(&e, ENOENT,
			  "cannot %s %s: no device has such a name; `kiseki devices` lists them",
			  in->word, pattern);
	else
		error_set(&e, ENOENT,
			  "cannot %s %s: there is no such device, it has never connected; on it: "
			  "kiseki-agent --collector HOST:7077 (`kiseki devices` lists those that "
			  "did)",
			  in->word, pattern);
	say_failure(&e);
	in->failed = true;
}

static bool is_meant(const struct instruction *in, const json_t *device)
{
	size_t i;

	if (args_has(in->args, "all"))
		return true;
	for (i = 0; i < in->n_devices; i++)
		if (device_json_match(device, in->devices[i]))
			return true;
	return false;
}

static void check_patterns(struct instruction *in, const json_t *list)
{
	size_t i, k;

	for (i = 0; i < in->n_devices; i++) {
		for (k = 0; k < json_array_size(list); k++)
			if (device_json_match(json_array_get(list, k), in->devices[i]))
				break;
		if (k == json_array_size(list))
			say_missing(in, in->devices[i]);
	}
}

static const char *done_word(const struct instruction *in)
{
	return in->done			    ? in->done
	       : !strcmp(in->verb, "start") ? "started"
	       : !strcmp(in->verb, "stop")  ? "stopped"
					    : "configured";
}

/* One device: what the collector said of it. */
static void note_result(struct instruction *in, const json_t *result)
{
	const char *name = device_json_text(result, "device");
	bool deferred = json_is_true(json_object_get(result, "deferred"));
	bool ok = json_is_true(json_object_get(result, "ok"));
	struct error why = ERROR_INIT;
	char shown[TABLE_CELL_MAX], text[TEXT_MAX];

	in->failed |= !ok;
	if (in->results) {
		json_array_append(in->results, (json_t *)result);
		return;
	}
	snprintf(shown, sizeof(shown), "%s", name);
	table_clean(shown);
	if (!ok) {
		error_set(&why, EIO, "cannot %s %s: %s", in->word, shown,
			  device_json_text(result, "text"));
		say_failure(&why);
	} else if (deferred) {
		printf("%s: is away; it will be %s when it comes back\n", shown, done_word(in));
	} else {
		snprintf(text, sizeof(text), "%s", device_json_text(result, "text"));
		table_clean(text);
		printf("%s: %s%s%s\n", shown, done_word(in), text[0] ? "; " : "", text);
	}
	fflush(stdout);
}

/* Tells some devices, by their ids with commas between them. */
static int instruct_some(struct instruction *in, struct client *c, const char *ids, struct error *e)
{
	json_t *answer = NULL;
	const json_t *results;
	struct url u;
	size_t i;
	int r;

	url_init(&u, "/api/v1/devices");
	url_push(&u, ids);
	url_push(&u, in->verb);
	r = client_post_json(c, &u, in->body, &answer, e);
	if (r < 0)
		return r;
	results = json_object_get(answer, "results");
	for (i = 0; i < json_array_size(results); i++)
		note_result(in, json_array_get(results, i));
	json_decref(answer);
	return 0;
}

/* The collector tells many at once, so that those that do not answer are waited for together; but a
 * request has its limit. */
static int instruct_meant(struct instruction *in, struct client *c, const json_t *list,
			  struct error *e)
{
	char ids[AT_ONCE * ID_LEN + 1] = "";
	size_t n = 0, i;
	int r = 0;

	for (i = 0; r >= 0 && i < json_array_size(list); i++) {
		const json_t *d = json_array_get(list, i);

		if (!is_meant(in, d))
			continue;
		snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), "%s%.32s", n ? "," : "",
			 device_json_text(d, "id"));
		if (++n < AT_ONCE)
			continue;
		r = instruct_some(in, c, ids, e);
		ids[n = 0] = 0;
	}
	return r >= 0 && n ? instruct_some(in, c, ids, e) : r;
}

static int instruct_all(struct instruction *in, struct error *e)
{
	CLEANUP(client) struct client *c = NULL;
	json_t *list = NULL;
	int r = client_open(&c, in->args, e);

	if (r >= 0)
		r = device_json_list(c, &list, e);
	if (r < 0)
		return r;
	check_patterns(in, list);
	if (!json_array_size(list) && args_has(in->args, "all") && !in->results)
		puts(DEVICE_JSON_NONE_YET);
	r = instruct_meant(in, c, list, e);
	json_decref(list);
	return r;
}

/* What the command line says of what to trace. */
static int read_config(struct instruction *in, enum instruct_config says, struct error *e)
{
	struct message_config config = { 0 };
	int r = says == INSTRUCT_PLAIN ? 0 : config_args_parse(&config, in->args, e);

	if (r == 0 && says == INSTRUCT_MUST)
		r = config_args_parse_paces(&config, in->args, e);
	if (r < 0)
		return r;
	if (says == INSTRUCT_MUST && !config.given)
		return error_set(e, EINVAL, "cannot %s: say what; see kiseki %s --help", in->verb,
				 in->verb);
	if (!in->n_devices && !args_has(in->args, "all"))
		return error_set(e, EINVAL, "cannot %s: name devices, or --all", in->verb);
	in->body = config_json_format(&config);
	return 0;
}

int instruct_run(const struct args *a, enum instruct_config says)
{
	struct instruction in = { .verb = a->command->name,
				  .word = a->command->name,
				  .args = a,
				  .devices = a->operands,
				  .n_devices = a->n_operands };
	struct error e = ERROR_INIT;
	int r, status;

	if (read_config(&in, says, &e) < 0)
		return say_usage(&e);
	in.results = args_has(a, "json") ? json_array() : NULL;
	r = instruct_all(&in, &e);
	json_decref(in.body);
	status = in.failed ? EXIT_FAILED : EXIT_OK;
	if (r < 0) {
		json_decref(in.results);
		return say_failure(&e);
	}
	if (in.results && jsonout_print(json_pack("{so}", "results", in.results)) != EXIT_OK)
		return EXIT_FAILED;
	return status;
}

int instruct_configure(const struct args *a, const struct instruct_order *o)
{
	struct instruction in = { .verb = "configure",
				  .word = "switch",
				  .done = o->done,
				  .args = a,
				  .devices = o->devices,
				  .n_devices = o->n_devices,
				  .results = o->results };
	struct error e = ERROR_INIT;
	int r;

	in.body = config_json_format(o->config);
	r = instruct_all(&in, &e);
	json_decref(in.body);
	if (r < 0)
		return say_failure(&e);
	return in.failed ? EXIT_FAILED : EXIT_OK;
}
