/* SPDX-License-Identifier: MIT */
/* help: see help.h. */
#include "command/help.h"

#include <string.h>

#include "command/say.h"

#define COLUMNS 79
#define NAMES_WIDTH 24 /* where the second column starts */

/* Words from `column` on, broken before COLUMNS and indented; ends the line. */
static void wrap(FILE *f, const char *text, int column, int indent)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " \n");

		if (!first && column + 1 + (int)n > COLUMNS) {
			fprintf(f, "\n%*s", indent, "");
			column = indent;
			first = true;
		}
		fprintf(f, "%s%.*s", first ? "" : " ", (int)n, text);
		column += (int)n + !first;
		first = false;
		text += n;
		if (text[0] == '\n' && text[1] == '\n') {
			fprintf(f, "\n\n%*s", indent, "");
			column = indent;
			first = true;
		}
		text += strspn(text, " \n");
	}
	fputc('\n', f);
}

static void two_columns(FILE *f, const char *left, const char *right)
{
	int n = fprintf(f, "  %s", left);

	if (n + 2 > NAMES_WIDTH) {
		fputc('\n', f);
		n = 0;
	}
	fprintf(f, "%*s", NAMES_WIDTH - n, "");
	wrap(f, right, NAMES_WIDTH, NAMES_WIDTH);
}

static void title(FILE *f, const char *text)
{
	fprintf(f, "\n%s%s%s\n", say_style(f, STYLE_HEAD), text, say_style(f, STYLE_PLAIN));
}

static void print_option(FILE *f, const struct cli_option *o)
{
	char left[80];

	if (o->letter)
		snprintf(left, sizeof(left), "-%c, --%s%s%s", o->letter, o->name, cli_option_gap(o),
			 o->argument ? o->argument : "");
	else
		snprintf(left, sizeof(left), "    --%s%s%s", o->name, cli_option_gap(o),
			 o->argument ? o->argument : "");
	two_columns(f, left, o->help);
}

void help_print(const struct command *c, FILE *f)
{
	char name[64], line[400];
	size_t i;

	command_full_name(c, ' ', name);
	snprintf(line, sizeof(line), "%s: %s", name, c->summary);
	wrap(f, line, 0, 0);
	title(f, "Usage");
	snprintf(line, sizeof(line), "%s %s", name, c->usage);
	fputs("  ", f);
	wrap(f, line, 2, 4 + (int)strlen(name));
	if (c->description) {
		fputc('\n', f);
		wrap(f, c->description, 0, 0);
	}
	if (c->children)
		title(f, "Commands");
	for (i = 0; c->children && c->children[i]; i++)
		two_columns(f, c->children[i]->name, c->children[i]->summary);
	title(f, "Options");
	for (i = 0; c->options && c->options[i].name; i++)
		print_option(f, &c->options[i]);
	print_option(f, &command_help_option);
	if (c->examples)
		title(f, "Examples");
	for (i = 0; c->examples && c->examples[i].text; i++) {
		fputs("  ", f);
		wrap(f, c->examples[i].text, 2, 2);
		fprintf(f, "    %s\n", c->examples[i].command);
	}
	if (c->children)
		fprintf(f, "\n'%s COMMAND --help' tells more about a command.\n", name);
}
