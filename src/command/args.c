/* SPDX-License-Identifier: MIT */
/* args: see args.h. */
#include "command/args.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
	char *const *argv;
	int argc;
	int at;
};

__attribute__((format(printf, 3, 4))) static int wrong(const struct args *a, struct error *e,
						       const char *fmt, ...)
{
	char name[64], text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	command_full_name(a->command, ' ', name);
	return error_set(e, EINVAL, "cannot run %s: %s; see %s --help", name, text, name);
}

static int find_option(const struct args *a, char letter, const char *name, size_t len)
{
	const struct cli_option *o = a->command->options;
	int i;

	for (i = 0; o && o[i].name; i++) {
		assert(i < COMMAND_OPTIONS_MAX);
		if (letter ? o[i].letter == letter
			   : strlen(o[i].name) == len && !strncmp(o[i].name, name, len))
			return i;
	}
	return -1;
}

static int unknown_option(const struct args *a, const char *name, size_t len, struct error *e)
{
	char word[64];
	const char *near;

	snprintf(word, sizeof(word), "%.*s", len < 60 ? (int)len : 60, name);
	near = command_nearest_option(a->command, word);
	if (near)
		return wrong(a, e, "unknown option --%s, did you mean --%s?", word, near);
	return wrong(a, e, "unknown option --%s", word);
}

/* The argument of option i: what stands after it in its word, or the next word. */
static int take_value(struct args *a, struct cursor *c, int i, const char *rest, struct error *e)
{
	const struct cli_option *o = &a->command->options[i];

	if (!rest && cli_option_is_switch(o))
		rest = "";
	if (!rest && c->at >= c->argc)
		return wrong(a, e, "--%s needs %s", o->name, o->argument);
	a->values[i] = rest ? rest : c->argv[c->at++];
	return 0;
}

static int parse_long(struct args *a, struct cursor *c, const char *word, struct error *e)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	int i = find_option(a, 0, word, len);

	if (i < 0 && !strcmp(word, command_help_option.name)) {
		a->help = true;
		return 0;
	}
	if (i < 0)
		return unknown_option(a, word, len, e);
	if (a->command->options[i].argument)
		return take_value(a, c, i, equals ? equals + 1 : NULL, e);
	if (equals)
		return wrong(a, e, "--%s takes no argument", a->command->options[i].name);
	a->values[i] = "";
	return 0;
}

static int parse_short(struct args *a, struct cursor *c, const char *word, struct error *e)
{
	for (; *word; word++) {
		int i = find_option(a, *word, "", 0);

		if (i < 0 && *word == command_help_option.letter) {
			a->help = true;
			continue;
		}
		if (i < 0)
			return wrong(a, e, "unknown option -%c", *word);
		if (a->command->options[i].argument)
			return take_value(a, c, i, word[1] ? word + 1 : NULL, e);
		a->values[i] = "";
	}
	return 0;
}

static int add_operand(struct args *a, const char *word, struct error *e)
{
	size_t most = a->command->operands_max;

	if (a->n_operands >= (most < ARGS_OPERANDS_MAX ? most : ARGS_OPERANDS_MAX))
		return wrong(a, e, "'%s' is one argument too many", word);
	a->operands[a->n_operands++] = word;
	return 0;
}

static int parse_words(struct args *a, struct cursor *c, struct error *e)
{
	bool options = true;
	int r = 0;

	while (r >= 0 && c->at < c->argc) {
		const char *word = c->argv[c->at++];

		if (options && !strcmp(word, "--"))
			options = false;
		else if (options && word[0] == '-' && word[1] == '-')
			r = parse_long(a, c, word + 2, e);
		else if (options && word[0] == '-' && word[1])
			r = parse_short(a, c, word + 1, e);
		else
			r = add_operand(a, word, e);
	}
	return r;
}

/* Walks down from the root as far as words name commands. */
static int find_command(struct args *a, struct cursor *c, struct error *e)
{
	const char *word, *near;

	while (a->command->children && c->at < c->argc && c->argv[c->at][0] != '-') {
		const struct command *child;

		word = c->argv[c->at++];
		child = command_find(a->command, word);
		if (!child) {
			near = command_nearest(a->command, word);
			return near ? wrong(a, e, "unknown command '%s', did you mean %s?", word,
					    near)
				    : wrong(a, e, "unknown command '%s'", word);
		}
		a->command = child;
	}
	return 0;
}

/* The first operand that is not given, as the usage has it: its n-th word that is neither an option nor optional. */
static int missing(const struct args *a, struct error *e)
{
	const char *at = a->command->usage;
	size_t skip = a->n_operands, len;
	int depth = 0;

	for (; *at; at += len + (at[len] == ' ')) {
		len = strcspn(at, " ");
		depth += *at == '[';
		if (!depth && *at != '-' && !skip--)
			break;
		depth -= at[len - 1] == ']';
	}
	assert(*at);
	return wrong(a, e, "%.*s is missing", (int)strcspn(at, " ."), at);
}

int args_parse(struct args *a, const struct command *root, int argc, char *const argv[],
	       struct error *e)
{
	struct cursor c = { .argv = argv, .argc = argc, .at = 1 };
	int r;

	memset(a, 0, sizeof(*a));
	a->command = root;
	r = find_command(a, &c, e);
	if (r >= 0)
		r = parse_words(a, &c, e);
	if (a->help)
		return 0; /* help is wanted more than anything else is wrong */
	if (r >= 0 && a->n_operands < a->command->operands_min)
		return missing(a, e);
	return r;
}

const char *args_get(const struct args *a, const char *name)
{
	int i = find_option(a, 0, name, strlen(name));

	assert(i >= 0);
	return a->values[i];
}

bool args_knows(const struct args *a, const char *name)
{
	return find_option(a, 0, name, strlen(name)) >= 0;
}

bool args_has(const struct args *a, const char *name)
{
	return args_get(a, name) != NULL;
}

int args_get_count(const struct args *a, const char *name, uint64_t *ret, struct error *e)
{
	const char *text = args_get(a, name);
	unsigned long long value;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno)
		return wrong(a, e, "--%s needs a number, not '%s'", name, text);
	*ret = value;
	return 0;
}

int args_get_word(const struct args *a, const char *name, const char *const words[], size_t *ret,
		  struct error *e)
{
	const char *text = args_get(a, name);
	char list[200] = "";
	size_t i, n = 0;

	if (!text)
		return 0;
	for (i = 0; words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*ret = i;
			return 0;
		}
		if (n < sizeof(list))
			n += (size_t)snprintf(list + n, sizeof(list) - n, " %s", words[i]);
	}
	return wrong(a, e, "--%s is one of%s, not '%s'", name, list, text);
}
