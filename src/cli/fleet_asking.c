/* SPDX-License-Identifier: MIT */
/* fleet_asking: see fleet_asking.h. */
#include "cli/fleet_asking.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/device_json.h"
#include "command/say.h"

#define PARAM_MAX 32U
#define DEVICES_TEXT_MAX 4096U

struct params {
	const struct fleet_asking *f;
	const struct args *a;
	char devices[DEVICES_TEXT_MAX]; /* "": all */
};

/* The n-th of the command's parameters; false beyond the last. */
static bool get_name(const char *params, size_t n, char name[PARAM_MAX])
{
	size_t len;

	for (; *params; params += len + (params[len] == ' ')) {
		len = strcspn(params, " ");
		if (n--)
			continue;
		snprintf(name, PARAM_MAX, "%.*s", (int)len, params);
		return true;
	}
	return false;
}

/* with_devices is --with-devices. */
static const char *get_option(const struct args *a, const char *name)
{
	char option[PARAM_MAX];
	size_t i;

	snprintf(option, sizeof(option), "%s", name);
	for (i = 0; option[i]; i++)
		if (option[i] == '_')
			option[i] = '-';
	return args_get(a, option);
}

static const char *get_param(const void *context, const char *name)
{
	const struct params *p = context;
	char known[PARAM_MAX];
	size_t i;

	if (!strcmp(name, "devices"))
		return *p->devices ? p->devices : NULL;
	if (!strcmp(name, "name"))
		return p->f->name;
	for (i = 0; get_name(p->f->params, i, known); i++)
		if (!strcmp(known, name))
			return get_option(p->a, name);
	return NULL;
}

/* Operands, --devices, or --fleet: nobody asks about all by accident. */
static int take_devices(struct params *p, struct error *e)
{
	const struct args *a = p->a;
	size_t i, len = 0, n = p->f->has_operands ? a->n_operands : 0;

	if ((n != 0) + args_has(a, "devices") + args_has(a, "fleet") != 1)
		return error_set(e, EINVAL, "which devices: %s--devices SEL, or --fleet for all",
				 p->f->has_operands ? "DEVICE..., " : "");
	if (args_has(a, "devices"))
		len = (size_t)snprintf(p->devices, sizeof(p->devices), "%s",
				       args_get(a, "devices"));
	for (i = 0; i < n && len < sizeof(p->devices); i++)
		len += (size_t)snprintf(p->devices + len, sizeof(p->devices) - len, "%s%s",
					i ? "," : "", a->operands[i]);
	if (len >= sizeof(p->devices))
		return error_set(e, E2BIG, "cannot take so many devices: give them a label");
	return 0;
}

static int ask_folder(struct params *p, json_t **ret, struct error *e)
{
	const struct fact_request r = { .get = get_param,
					.params = p,
					.find = fact_request_find_id,
					.now_ns = clock_real_ns() };
	CLEANUP(facts) struct facts *f = NULL;
	int code = facts_open_reader(&f, args_get(p->a, "data"), e);

	return code < 0 ? code : p->f->answer(f, &r, ret, e);
}

static int ask_collector(struct params *p, json_t **ret, struct error *e)
{
	CLEANUP(client) struct client *c = NULL;
	char name[PARAM_MAX];
	struct url u;
	size_t i;
	int code = client_open(&c, p->a, e);

	if (code < 0)
		return code;
	url_init(&u, "/api/v1/fleet");
	url_push(&u, p->f->path);
	url_push_param(&u, "devices", get_param(p, "devices"));
	url_push_param(&u, "name", p->f->name);
	for (i = 0; get_name(p->f->params, i, name); i++)
		url_push_param(&u, name, get_param(p, name));
	if (u.full)
		return error_set(e, E2BIG, "cannot ask: the question is too long");
	return client_get_json(c, &u, ret, e);
}

int fleet_asking_ask(const struct fleet_asking *f, const struct args *a, json_t **ret,
		     struct error *e)
{
	struct params p = { .f = f, .a = a };
	int code = take_devices(&p, e);

	if (code < 0)
		return code;
	return args_has(a, "data") ? ask_folder(&p, ret, e) : ask_collector(&p, ret, e);
}

int fleet_asking_failure(int code, const struct error *e)
{
	return code == -EINVAL ? say_usage(e) : say_failure(e);
}

/* --- what is printed alike --- */

uint64_t fleet_asking_amount(const json_t *document, const json_t *row, const char *part)
{
	char path[PARAM_MAX];

	snprintf(path, sizeof(path), "%s.%s", part,
		 strcmp(device_json_text(document, "value"), "samples") ? "ns" : "samples");
	return device_json_count(row, path);
}

const char *fleet_asking_format(const json_t *document, uint64_t amount, char text[UNITS_LEN])
{
	if (strcmp(device_json_text(document, "value"), "samples") &&
	    strcmp(device_json_text(document, "kind"), "cycles"))
		return units_duration(amount, text);
	snprintf(text, UNITS_LEN, "%" PRIu64, amount);
	return text;
}

void fleet_asking_print_basis(const char *title, const json_t *basis)
{
	uint64_t devices = device_json_count(basis, "devices");
	uint64_t lost = device_json_count(basis, "lost");
	uint64_t damaged = device_json_count(basis, "damaged");

	printf("%s%s to %s, %" PRIu64 " device%s, %" PRIu64 " hours and %" PRIu64 " minutes", title,
	       device_json_text(basis, "from"), device_json_text(basis, "to"), devices,
	       devices == 1 ? "" : "s", device_json_count(basis, "hours"),
	       device_json_count(basis, "minutes"));
	if (lost || device_json_count(basis, "lost_places"))
		printf(", %" PRIu64 "%s records lost", lost,
		       device_json_count(basis, "lost_places") ? " and more" : "");
	if (damaged)
		printf(", %" PRIu64 " sets damaged and left out", damaged);
	putchar('\n');
}
