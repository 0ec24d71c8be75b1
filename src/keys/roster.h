/* SPDX-License-Identifier: MIT */
/*
 * roster: who may come: the tokens that were made, and the certificates that were given out, in
 * `roster.db` of the folder of keys.
 *
 * The collector and `kiseki keys` have it open at the same time. Of a token only a hash is kept. The
 * rows of a name's certificates that have ended go when it gets the next one. Rows are sealed
 * (store/sealed_table.h): a damaged one lets nobody in, whatever it says.
 */
#ifndef KISEKI_KEYS_ROSTER_H
#define KISEKI_KEYS_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "keys/authority.h"
#include "wire/message.h"

#define ROSTER_FILE "roster.db"
#define ROSTER_NAME_MAX 64U /* with its NUL, as a device's name anywhere */
#define ROSTER_HASH_LEN 32U
#define ROSTER_FROM_MAX 64U
#define ROSTER_TOKENS_MAX 100000U /* that wait to be used */

struct roster;

int roster_open(struct roster **ret, const char *folder, struct error *e);
void roster_close(struct roster *r);
DEFINE_CLEANUP(roster, roster_close)

/* Letters, digits, '.', '_' and '-', no '.' first: it becomes part of file names. */
bool roster_is_name(const char *name);

/* Everything between them is there or not; roster_end() with keep false forgets it. */
int roster_begin(struct roster *r, struct error *e);
int roster_end(struct roster *r, bool keep, struct error *e);

/* Did another program change something since the last call? */
bool roster_has_changed(struct roster *r);

struct roster_token {
	uint8_t hash[ROSTER_HASH_LEN]; /* SHA-256 of its secret */
	char name[ROSTER_NAME_MAX];
	uint64_t made_s, until_s;
	uint64_t valid_s; /* how long a certificate of it holds */
	uint64_t used_s;  /* 0: not yet */
	char used_from[ROSTER_FROM_MAX];
};

int roster_put_token(struct roster *r, const struct roster_token *t, struct error *e);
/* -ENOENT: no such token. -EBADMSG: its row is damaged. */
int roster_get_token(struct roster *r, const uint8_t hash[ROSTER_HASH_LEN],
		     struct roster_token *ret, struct error *e);
int roster_use_token(struct roster *r, const struct roster_token *t, struct error *e);

struct roster_row {
	uint8_t serial[AUTHORITY_SERIAL_LEN];
	char name[ROSTER_NAME_MAX];
	struct message_id device;
	uint64_t made_s, until_s, valid_s;
	uint64_t revoked_s; /* 0: it holds */
};

int roster_put(struct roster *r, const struct roster_row *row, struct error *e);
/* -ENOENT: never given out here. -EBADMSG: its row is damaged. */
int roster_get(struct roster *r, const uint8_t serial[AUTHORITY_SERIAL_LEN], struct roster_row *ret,
	       struct error *e);

/* Of another name than this one, and holding now: 1 and that name; else 0. */
int roster_get_owner(struct roster *r, const struct roster_row *row, char ret[ROSTER_NAME_MAX],
		     struct error *e);

/* All certificates of the name that hold, and tokens of it that wait: how many of both. */
int roster_revoke(struct roster *r, const char *name, uint64_t now_s, struct error *e);

/* Certificates of the name that are of the future hold from now on, for as long as they were made for. */
int roster_shorten(struct roster *r, const char *name, uint64_t now_s, struct error *e);

/* Rows that are damaged go: how many. Who they were of needs a new token. */
int roster_drop_damaged(struct roster *r, struct error *e);

/* The latest certificate of each name, or the latest token of one that has none yet (until_s is the
 * token's then, and is_token set); by name. */
struct roster_entry {
	struct roster_row row;
	bool is_token;
	bool is_damaged; /* a row of the name is */
};
int roster_dup_entries(struct roster *r, struct roster_entry **ret, size_t *ret_n, struct error *e);

#endif
