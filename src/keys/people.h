/* SPDX-License-Identifier: MIT */
/*
 * people: who may ask a collector, and what for: users, who log in with a password, and tokens of programs, in `people.db`
 * of the folder of keys.
 *
 * The collector and `kiseki keys` have it open at the same time; the collector looks a user or a token up at each
 * request, so what is taken back is gone at once. Of passwords (password.h) and tokens only hashes are kept. A
 * token has 256 random bits: nobody tries them all, so its hash need not be slow. All of one thread.
 */
#ifndef KISEKI_KEYS_PEOPLE_H
#define KISEKI_KEYS_PEOPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "keys/password.h"

#define PEOPLE_NAME_MAX 64U /* with its NUL */
#define PEOPLE_STAMP_LEN 16U
#define PEOPLE_HASH_LEN 32U
#define PEOPLE_MAX 10000U	   /* users, and tokens */
#define PEOPLE_TOKEN_PREFIX "kst_" /* so that one that was published by mistake can be found */
#define PEOPLE_TOKEN_LEN (4U + 64U)

/* Each may what those before it may. */
enum people_role {
	ROLE_NOBODY = 0,
	ROLE_VIEW,    /* see what was recorded */
	ROLE_CONTROL, /* tell devices what to do, give them labels */
	ROLE_ADMIN,   /* say who may what */
};

const char *people_role_name(enum people_role role);
/* "view", "control" or "admin"; ROLE_NOBODY for anything else. */
enum people_role people_role_parse(const char *text);

struct people;

int people_open(struct people **ret, const char *folder, struct error *e);
void people_close(struct people *p);
DEFINE_CLEANUP(people, people_close)

/* Rows that the disk has damaged (store/sealed_table.h) let nobody in. They are dropped: how many. */
int people_drop_damaged(struct people *p, struct error *e);

struct people_user {
	char name[PEOPLE_NAME_MAX];
	enum people_role role;
	char hash[PASSWORD_HASH_MAX];
	uint8_t stamp
		[PEOPLE_STAMP_LEN]; /* a new one with each password: logins of before have the old one */
	uint64_t made_s, changed_s;
	bool is_damaged; /* what else it says may be wrong */
};

/* -EEXIST: there is one of this name. The stamp is made here, and here below. */
int people_add_user(struct people *p, struct people_user *u, struct error *e);
/* Another password; -ENOENT. */
int people_change_user(struct people *p, struct people_user *u, struct error *e);
/* -ENOENT; -EBADMSG: its row is damaged, as with tokens below. */
int people_get_user(struct people *p, const char *name, struct people_user *ret, struct error *e);
int people_remove_user(struct people *p, const char *name, struct error *e); /* -ENOENT */
int people_dup_users(struct people *p, struct people_user **ret, size_t *n, struct error *e);

struct people_token {
	char name[PEOPLE_NAME_MAX];
	enum people_role role;
	uint8_t hash[PEOPLE_HASH_LEN];
	uint64_t made_s;
	uint64_t until_s; /* 0: for ever */
	bool is_damaged;
};

/* Makes the token itself, which nobody can show again; hash is set. -EEXIST: there is one of this name. */
int people_add_token(struct people *p, struct people_token *t, char ret[PEOPLE_TOKEN_LEN + 1],
		     struct error *e);
/* By what stands in a request. -ENOENT: nobody has it. */
int people_find_token(struct people *p, const char *text, struct people_token *ret,
		      struct error *e);
int people_get_token(struct people *p, const uint8_t hash[PEOPLE_HASH_LEN],
		     struct people_token *ret, struct error *e);
int people_remove_token(struct people *p, const char *name, struct error *e); /* -ENOENT */
int people_dup_tokens(struct people *p, struct people_token **ret, size_t *n, struct error *e);

#endif
