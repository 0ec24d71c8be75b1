/* SPDX-License-Identifier: MIT */
/* say: see say.h. */
#include "command/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"

int say_failure(const struct error *e)
{
	fflush(stdout); /* what was printed before it stands before it */
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, e->text);
	return EXIT_FAILED;
}

int say_usage(const struct error *e)
{
	say_failure(e);
	return EXIT_USAGE;
}

void say_note(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: note: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static bool wants_colours(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (no && *no)
		return false;
	return isatty(fileno(f)) && term && *term && strcmp(term, "dumb");
}

const char *say_style(FILE *f, enum style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m", [STYLE_HEAD] = "\033[1m",  [STYLE_DIM] = "\033[2m",
		[STYLE_BAD] = "\033[31m",  [STYLE_GOOD] = "\033[32m", [STYLE_BAR] = "\033[36m",
	};

	return wants_colours(f) ? codes[style] : "";
}

static bool lacks_something;

void say_out_of_memory(void)
{
	lacks_something = true;
}

void *say_checked(void *p)
{
	if (!p)
		say_out_of_memory();
	return p;
}

int say_flush(struct error *e)
{
	if (fflush(stdout))
		return error_set(e, errno ? errno : EIO, "cannot write the output: %s",
				 strerror(errno ? errno : EIO));
	/* Of an earlier write nobody has kept the reason. */
	if (ferror(stdout))
		return error_set(e, EIO,
				 "cannot write the output: a part of it could not be written");
	if (lacks_something)
		return error_set(e, ENOMEM, "cannot print all of it: out of memory");
	return 0;
}
