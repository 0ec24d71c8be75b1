/* SPDX-License-Identifier: MIT */
/* man: see man.h. */
#include "command/man.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Text in roff: a hyphen that can be typed, no accidental requests at the start of a line. */
static void put(FILE *f, const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (text[0] == '\n' && text[1] == '\n') {
			fputs("\n.PP\n", f);
			text++;
			start = true;
			continue;
		}
		if (start && (*text == '.' || *text == '\''))
			fputs("\\&", f);
		if (*text == '-')
			fputs("\\-", f);
		else if (*text == '\\')
			fputs("\\e", f);
		else
			fputc(*text, f);
		start = *text == '\n';
	}
}

static void section(FILE *f, const char *name)
{
	fprintf(f, ".SH %s\n", name);
}

static void put_option(FILE *f, const struct cli_option *o)
{
	fputs(".TP\n", f);
	if (o->letter)
		fprintf(f, "\\fB\\-%c\\fR, ", o->letter);
	fputs("\\fB\\-\\-", f);
	put(f, o->name);
	fputs("\\fR", f);
	if (o->argument)
		fprintf(f, "%s\\fI%s\\fR", cli_option_gap(o), o->argument);
	fputc('\n', f);
	put(f, o->help);
	fputs(".\n", f);
}

static void put_children(FILE *f, const struct command *c)
{
	char name[64];
	size_t i;

	section(f, "COMMANDS");
	for (i = 0; c->children[i]; i++) {
		fputs(".TP\n\\fB", f);
		put(f, command_full_name(c->children[i], '-', name));
		fputs("\\fR(1)\n", f);
		put(f, c->children[i]->summary);
		fputs(".\n", f);
	}
}

static void put_examples(FILE *f, const struct command *c)
{
	size_t i;

	section(f, "EXAMPLES");
	for (i = 0; c->examples[i].text; i++) {
		fputs(".PP\n", f);
		put(f, c->examples[i].text);
		fputs("\n.PP\n.RS\n.nf\n", f);
		put(f, c->examples[i].command);
		fputs("\n.fi\n.RE\n", f);
	}
}

/* A command that asks a collector reads no input of its own. */
static bool asks_server(const struct command *c)
{
	size_t i;

	for (i = 0; c->options && c->options[i].name; i++)
		if (!strcmp(c->options[i].name, "server"))
			return true;
	return false;
}

static void put_ends(FILE *f, const struct command *c)
{
	char name[64];

	section(f, "EXIT STATUS");
	fputs("0 on success, 1 on failure, 2 if the command line is wrong.\n", f);
	section(f, "ENVIRONMENT");
	fputs(".TP\n\\fBNO_COLOR\\fR\nIf set and not empty, nothing is coloured.\n", f);
	if (asks_server(c))
		fputs(".TP\n\\fBKISEKI_SERVER\\fR\nThe collector, where \\-\\-server is not "
		      "given.\n",
		      f);
	else
		fputs(".TP\n\\fBTMPDIR\\fR\nWhere a file is kept for a while, of which a pipe or a "
		      "request needs the whole.\n",
		      f);
	if (!c->parent)
		return;
	section(f, "SEE ALSO");
	fputs("\\fB", f);
	put(f, command_full_name(c->parent, '-', name));
	fputs("\\fR(1)\n", f);
}

void man_print(const struct command *c, FILE *f)
{
	char dashed[64], spaced[64], upper[64];
	size_t i;

	command_full_name(c, '-', dashed);
	command_full_name(c, ' ', spaced);
	for (i = 0; i < sizeof(upper); i++)
		upper[i] = (char)toupper((unsigned char)dashed[i]);
	fprintf(f, ".TH %s 1 \"\" \"kiseki %s\" \"Kiseki manual\"\n", upper, KISEKI_VERSION);
	section(f, "NAME");
	put(f, dashed);
	fputs(" \\- ", f);
	put(f, c->summary);
	fputc('\n', f);
	section(f, "SYNOPSIS");
	fprintf(f, "\\fB%s\\fR ", spaced);
	put(f, c->usage);
	fputc('\n', f);
	if (c->description) {
		section(f, "DESCRIPTION");
		put(f, c->description);
		fputc('\n', f);
	}
	if (c->children)
		put_children(f, c);
	section(f, "OPTIONS");
	for (i = 0; c->options && c->options[i].name; i++)
		put_option(f, &c->options[i]);
	put_option(f, &command_help_option);
	if (c->examples)
		put_examples(f, c);
	put_ends(f, c);
}
