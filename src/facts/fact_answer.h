/* SPDX-License-Identifier: MIT */
/*
 * fact_answer: questions about facts, answered as JSON (docs/fleet.md), for the command line and whoever answers over HTTP.
 *
 * Each takes what fact_request.h says; fact_answer_params has the names that it knows.
 */
#ifndef KISEKI_FACTS_FACT_ANSWER_H
#define KISEKI_FACTS_FACT_ANSWER_H

#include <jansson.h>

#include "facts/fact_request.h"

#define FACT_ANSWER_RANGE "kind last from to devices"
#define FACT_ANSWER_WITH "at with_from with_to with_devices"
#define FACT_ANSWER_TOP FACT_ANSWER_RANGE " by sort value limit"
#define FACT_ANSWER_TREE FACT_ANSWER_RANGE " value limit depth min"
#define FACT_ANSWER_DIFF FACT_ANSWER_TOP " " FACT_ANSWER_WITH
#define FACT_ANSWER_DIFF_TREE FACT_ANSWER_TREE " " FACT_ANSWER_WITH
#define FACT_ANSWER_MACHINES "last from to devices limit"
#define FACT_ANSWER_TREND FACT_ANSWER_RANGE " by name object step"

int fact_answer_top(struct facts *f, const struct fact_request *r, json_t **ret, struct error *e);
int fact_answer_tree(struct facts *f, const struct fact_request *r, json_t **ret, struct error *e);
int fact_answer_diff(struct facts *f, const struct fact_request *r, json_t **ret, struct error *e);
int fact_answer_diff_tree(struct facts *f, const struct fact_request *r, json_t **ret,
			  struct error *e);
int fact_answer_machines(struct facts *f, const struct fact_request *r, json_t **ret,
			 struct error *e);
int fact_answer_trend(struct facts *f, const struct fact_request *r, json_t **ret, struct error *e);

/* {"env": "prod", …} of a device; and all: {"labels": [{"device": id, "labels": {…}}, …]}. */
int fact_answer_labels(struct facts *f, const struct message_id *device, json_t **ret,
		       struct error *e);

#endif
