/* SPDX-License-Identifier: MIT */
/*
 * fleet_asking: questions over any devices and any time, from the command line: to a collector (--server), or straight to the folder
 * of a store (--data). The answer is the same JSON (docs/fleet.md).
 */
#ifndef KISEKI_CLI_FLEET_ASKING_H
#define KISEKI_CLI_FLEET_ASKING_H

#include <jansson.h>

#include "cli/client.h"
#include "cli/units.h"
#include "command/args.h"
#include "facts/fact_answer.h"

/* For the tables of commands: which devices, and where they are asked about. */
#define FLEET_ASKING_PLACE_OPTIONS                                                                 \
	{ 0, "fleet", NULL, "all devices", NULL },                                                 \
		{ 0, "devices", "SEL",                                                             \
		  "those with all of these labels: env=prod,board=a9; or names: a,b", NULL },      \
		{ 0, "kind", "KIND", "facts of these: profile, vm, cycles (profile)",              \
		  "profile vm cycles" },                                                           \
		{ 0, "last", "LENGTH", "so much of the time: 15m, 24h, 7d (1h)", NULL },           \
	{                                                                                          \
		0, "data", "DIR", "ask the folder of a store instead of a collector", NULL         \
	}
#define FLEET_ASKING_OPTIONS                                                                       \
	FLEET_ASKING_PLACE_OPTIONS,                                                                \
		{ 0, "from", "TIME", "from this moment on: -2h, 10:02", NULL },                    \
		{ 0, "to", "TIME", "before this moment (now)", NULL },                             \
		{ 0, "json", NULL, "print JSON (docs/fleet.md)", NULL }, CLIENT_OPTION

struct fleet_asking {
	const char *path;   /* of the API: "top" */
	const char *params; /* that are options of the command, in blanks; "_" is "-" there */
	int (*answer)(struct facts *f, const struct fact_request *r, json_t **ret, struct error *e);
	const char *name;  /* of what a trend is; NULL: none */
	bool has_operands; /* they are devices */
};

/* -EINVAL with what is wrong about the command line. */
int fleet_asking_ask(const struct fleet_asking *f, const struct args *a, json_t **ret,
		     struct error *e);

/* The exit status of a failure: usage, or not. */
int fleet_asking_failure(int code, const struct error *e);

/* One line: how many devices, of which time, and what is missing. */
void fleet_asking_print_basis(const char *title, const json_t *basis);

/* A member like "self.ns" or "self.samples", by the answer's value. */
uint64_t fleet_asking_amount(const json_t *document, const json_t *row, const char *part);
const char *fleet_asking_format(const json_t *document, uint64_t amount, char text[UNITS_LEN]);

#endif
