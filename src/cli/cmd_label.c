/* SPDX-License-Identifier: MIT */
/* label: labels of devices, by which many are meant at once. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/device_json.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/table.h"
#include "command/say.h"

#define WORD_MAX 512U

static void print_labels(const json_t *labels)
{
	const char *key, *blank = "";
	char text[WORD_MAX];
	json_t *value;

	json_object_foreach((json_t *)labels, key, value)
	{
		snprintf(text, sizeof(text), "%s=%s", key, json_string_value(value));
		table_clean(text);
		printf("%s%s", blank, text);
		blank = " ";
	}
	putchar('\n');
}

/* Of all devices, by their names where they are known. */
static void print_all(const json_t *document, const json_t *devices)
{
	const json_t *list = json_object_get(document, "labels"), *row;
	const char *name;
	char text[WORD_MAX];
	size_t i, k;

	for (i = 0; i < json_array_size(list); i++) {
		row = json_array_get(list, i);
		name = device_json_text(row, "device");
		for (k = 0; k < json_array_size(devices); k++)
			if (!strcmp(device_json_text(json_array_get(devices, k), "id"),
				    device_json_text(row, "device")))
				name = device_json_text(json_array_get(devices, k), "name");
		snprintf(text, sizeof(text), "%s", name);
		table_clean(text);
		printf("%s: ", text);
		print_labels(json_object_get(row, "labels"));
	}
	if (!json_array_size(list))
		puts("No device has a label. kiseki label DEVICE KEY=VALUE");
}

static int show_all(struct client *c, const struct args *a, struct error *e)
{
	json_t *document = NULL, *devices = NULL;
	struct url u;
	int r;

	url_init(&u, "/api/v1/labels");
	r = client_get_json(c, &u, &document, e);
	if (r < 0)
		return r;
	if (args_has(a, "json"))
		return jsonout_print(document) == EXIT_OK ? 0 : -EIO;
	r = device_json_list(c, &devices, e);
	if (r >= 0)
		print_all(document, devices);
	json_decref(devices);
	json_decref(document);
	return r;
}

/* {"labels": {"env": "prod", "old": null}} of "env=prod" and "old=". */
static int read_labels(const struct args *a, json_t **ret, struct error *e)
{
	json_t *labels = json_object();
	char key[WORD_MAX];
	const char *equals;
	size_t i;

	for (i = 1; i < a->n_operands; i++) {
		equals = strchr(a->operands[i], '=');
		if (!equals || (size_t)(equals - a->operands[i]) >= sizeof(key)) {
			json_decref(labels);
			return error_set(e, EINVAL, "cannot take %s: a label is KEY=VALUE",
					 a->operands[i]);
		}
		snprintf(key, sizeof(key), "%.*s", (int)(equals - a->operands[i]), a->operands[i]);
		json_object_set_new(labels, key, equals[1] ? json_string(equals + 1) : json_null());
	}
	*ret = json_pack("{so}", "labels", labels);
	return *ret ? 0 : error_set(e, EINVAL, "cannot take the labels: they are not UTF-8");
}

static int show_one(struct client *c, const struct args *a, struct error *e)
{
	json_t *body = NULL, *document = NULL;
	struct url u;
	int r = 0;

	url_init(&u, "/api/v1/devices");
	url_push(&u, a->operands[0]);
	url_push(&u, "labels");
	if (a->n_operands == 1) {
		r = client_get_json(c, &u, &document, e);
	} else {
		r = read_labels(a, &body, e);
		if (r >= 0)
			r = client_post_json(c, &u, body, &document, e);
		json_decref(body);
	}
	if (r < 0)
		return r;
	if (args_has(a, "json"))
		return jsonout_print(document) == EXIT_OK ? 0 : -EIO;
	print_labels(json_object_get(document, "labels"));
	json_decref(document);
	return 0;
}

static int run(const struct args *a)
{
	CLEANUP(client) struct client *c = NULL;
	struct error e = ERROR_INIT;
	int r;

	if (client_open(&c, a, &e) < 0)
		return say_usage(&e);
	r = a->n_operands ? show_one(c, a, &e) : show_all(c, a, &e);
	if (r == -EINVAL)
		return say_usage(&e);
	return r < 0 ? say_failure(&e) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "json", NULL, "print the collector's JSON", NULL },
	CLIENT_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What a board is, for `kiseki profile top --devices env=prod`:",
	  "kiseki label board-7 env=prod board=a9" },
	{ "Without one of them again:", "kiseki label board-7 env=" },
	{ NULL, NULL },
};

const struct command command_label = {
	.name = "label",
	.summary = "give devices labels, by which many are meant at once",
	.usage = "[DEVICE [KEY=VALUE...]]",
	.description =
		"Without a label it shows those that the device has; without a device, those of "
		"all. A value that is left out removes the label. Keys are letters, digits and "
		"any of . _ - /; a value is anything without commas and equal signs.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = 65,
	.run = run,
};
