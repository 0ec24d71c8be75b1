/* SPDX-License-Identifier: MIT */
/*
 * completion: see completion.h.
 *
 * Both scripts are one function that first finds the deepest command named so far and then offers that
 * command's children, options, or the words an option or operand takes.
 */
#include "command/completion.h"

#include <stdio.h>
#include <string.h>

/* Only a collector knows the names of devices; one that is not there has none. */
#define DEVICE_NAMES "kiseki devices 2>/dev/null | sed -n \"2,\\$ s/ .*//p\""

typedef void visit(const struct command *c);

static void walk(const struct command *c, visit *each)
{
	size_t i;

	each(c);
	for (i = 0; c->children && c->children[i]; i++)
		walk(c->children[i], each);
}

static bool is_file(const char *argument, const char *values)
{
	return !values && argument && (!strcmp(argument, "FILE") || !strcmp(argument, "OUT"));
}

/* What may stand for an argument, as words of the shell; "" if nothing is known. */
static const char *words_of(const struct cli_option *o)
{
	return o->values ? o->values : "";
}

/* --- bash --- */

/* case "$command" in  'kiseki report') children='…' options='…' operands='…' */
static void bash_command(const struct command *c)
{
	char name[64];
	size_t i;

	printf("\t\t'%s')\n\t\t\tchildren='", command_full_name(c, ' ', name));
	for (i = 0; c->children && c->children[i]; i++)
		printf("%s%s", i ? " " : "", c->children[i]->name);
	printf("'\n\t\t\toptions='");
	for (i = 0; c->options && c->options[i].name; i++) {
		printf("--%s ", c->options[i].name);
		if (c->options[i].letter)
			printf("-%c ", c->options[i].letter);
	}
	printf("--help'\n\t\t\toperands='%s'\n\t\t\t;;\n", c->operands ? c->operands : "");
}

/* case "$command $word" in  'kiseki convert --format') values='…' */
static void bash_options(const struct command *c)
{
	const struct cli_option *o;
	char name[64];

	command_full_name(c, ' ', name);
	for (o = c->options; o && o->name; o++) {
		if (cli_option_is_switch(o))
			continue;
		printf("\t\t'%s --%s'", name, o->name);
		if (o->letter)
			printf(" | '%s -%c'", name, o->letter);
		printf(") values='%s' ;;\n",
		       is_file(o->argument, o->values) ? "FILE" : words_of(o));
	}
}

void completion_print_bash(const struct command *c)
{
	printf("# Completion of %s for bash.\n"
	       "_%s()\n{\n"
	       "\tlocal command=%s word=${COMP_WORDS[COMP_CWORD]} children options operands "
	       "values i\n"
	       "\tCOMPREPLY=()\n"
	       "\tfor ((i = 1; i <= COMP_CWORD; i++)); do\n"
	       "\t\tcase \"$command\" in\n",
	       c->name, c->name, c->name);
	walk(c, bash_command);
	puts("\t\tesac\n"
	     "\t\t[[ $i -lt $COMP_CWORD && \" $children \" == *\" ${COMP_WORDS[i]} \"* ]] || "
	     "break\n"
	     "\t\tcommand+=\" ${COMP_WORDS[i]}\"\n"
	     "\tdone\n"
	     "\tvalues=none\n"
	     "\tcase \"$command ${COMP_WORDS[COMP_CWORD - 1]}\" in");
	walk(c, bash_options);
	printf("\tesac\n"
	       "\tif [[ $values == none ]]; then\n"
	       "\t\tvalues=\"$children $operands\"\n"
	       "\t\t[[ $word == -* ]] && values=$options\n"
	       "\tfi\n"
	       "\t[[ $values == *DEVICE* ]] && values=$(" DEVICE_NAMES ")\n"
	       "\tif [[ $values == *FILE* ]]; then\n"
	       "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
	       "\telse\n"
	       "\t\tmapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
	       "\tfi\n"
	       "}\n"
	       "complete -o filenames -F _%s %s\n",
	       c->name, c->name);
}

/* --- zsh --- */

/* Text within single quotes and brackets of an _arguments specification. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void zsh_option(const struct cli_option *o)
{
	if (o->letter)
		printf("\t\t'(-%c --%s)'{-%c,--%s}'", o->letter, o->name, o->letter, o->name);
	else
		printf("\t\t'--%s", o->name);
	putchar('[');
	zsh_text(o->help);
	putchar(']');
	if (!cli_option_is_switch(o)) {
		printf(":%s:", o->argument);
		if (is_file(o->argument, o->values))
			fputs("_files", stdout);
		else
			printf("(%s)", words_of(o));
	}
	puts("' \\");
}

static void zsh_function(const struct command *c)
{
	char name[64];
	size_t i;

	printf("_%s()\n{\n", command_full_name(c, '_', name));
	if (c->children) {
		puts("\tlocal -a children\n\tlocal state line\n\tchildren=(");
		for (i = 0; c->children[i]; i++) {
			printf("\t\t'%s:", c->children[i]->name);
			zsh_text(c->children[i]->summary);
			puts("'");
		}
		puts("\t)");
	}
	puts("\t_arguments -C \\");
	for (i = 0; c->options && c->options[i].name; i++)
		zsh_option(&c->options[i]);
	zsh_option(&command_help_option);
	if (c->children)
		printf("\t\t'1:command:->command' '*::argument:->argument'\n"
		       "\tcase $state in\n"
		       "\tcommand) _describe command children ;;\n"
		       "\targument) (( $+functions[_%s_$line[1]] )) && _%s_$line[1] ;;\n"
		       "\tesac\n",
		       name, name);
	else if (c->operands && !strcmp(c->operands, "DEVICE"))
		puts("\t\t'*:device:($(" DEVICE_NAMES "))'");
	else if (c->operands && strcmp(c->operands, "FILE"))
		printf("\t\t'*:argument:(%s)'\n", c->operands);
	else
		puts("\t\t'*:file:_files'");
	puts("}\n");
}

void completion_print_zsh(const struct command *c)
{
	printf("#compdef %s\n# Completion of %s for zsh.\n\n", c->name, c->name);
	walk(c, zsh_function);
	printf("if [[ $funcstack[1] == _%s ]]; then\n\t_%s \"$@\"\nelse\n"
	       "\tcompdef _%s %s\nfi\n",
	       c->name, c->name, c->name, c->name);
}
