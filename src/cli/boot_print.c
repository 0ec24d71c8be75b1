/* SPDX-License-Identifier: MIT */
/* boot_print: see boot_print.h. */
#include "cli/boot_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/table.h"
#include "cli/units.h"
#include "command/say.h"

#define ARGS_SHOWN 60U /* bytes of the arguments */
#define BAR_CELLS 20U
#define MISSING_SHOWN 10U

const char *boot_print_moment(uint64_t ns, char text[BOOT_PRINT_TIME])
{
	uint64_t ms = ns / 1000000 + (ns % 1000000 >= 500000);

	snprintf(text, BOOT_PRINT_TIME, "%" PRIu64 ".%03u s", ms / 1000, (unsigned)(ms % 1000));
	return text;
}

const char *boot_print_change(int64_t by_ns, char text[BOOT_PRINT_TIME])
{
	char plain[UNITS_LEN];

	units_duration(by_ns < 0 ? -(uint64_t)by_ns : (uint64_t)by_ns, plain);
	snprintf(text, BOOT_PRINT_TIME, "%c%.20s", by_ns < 0 ? '-' : '+', plain);
	return text;
}

void boot_print_process(const struct boot *b, uint32_t process, bool with_args)
{
	const struct boot_process *p;
	const struct boot_name *name;
	char comm[UNITS_COMM_LEN], args[ARGS_SHOWN + 4];
	size_t len;

	if (process >= b->n_processes) {
		putchar('-');
		return;
	}
	p = &b->processes[process];
	name = boot_process_name(p);
	printf("%s[%d]", *name->comm ? units_comm(name->comm, comm) : "?", p->pid);
	len = strlen(name->args);
	if (!with_args || !len)
		return;
	snprintf(args, sizeof(args), "%.*s%s", (int)ARGS_SHOWN, name->args,
		 len > ARGS_SHOWN ? "..." : "");
	table_clean(args);
	printf("  %s%s%s", say_style(stdout, STYLE_DIM), args, say_style(stdout, STYLE_PLAIN));
}

void boot_print_bar(uint64_t part, uint64_t whole)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned cells, i;
	double share = whole ? (double)part / (double)whole : 0;

	if (!isatty(STDOUT_FILENO) || !*say_style(stdout, STYLE_BAR))
		return;
	share = share > 1 ? 1 : share;
	cells = (unsigned)(share * BAR_CELLS * 8 + 0.5);
	fputs(say_style(stdout, STYLE_BAR), stdout);
	for (i = 0; i < cells / 8; i++)
		fputs("█", stdout);
	fputs(eighths[cells % 8], stdout);
	printf("%s%*s", say_style(stdout, STYLE_PLAIN),
	       (int)(BAR_CELLS + 1 - cells / 8 - (cells % 8 > 0)), "");
}

void boot_print_title(const char *title)
{
	printf("\n%s%s%s\n", say_style(stdout, STYLE_HEAD), title, say_style(stdout, STYLE_PLAIN));
}

void boot_print_more(uint64_t more)
{
	if (more)
		printf("%s          ... and %" PRIu64 " more; --limit 0 shows all%s\n",
		       say_style(stdout, STYLE_DIM), more, say_style(stdout, STYLE_PLAIN));
}

void boot_print_head(const struct boot *b, const char *name)
{
	char length[UNITS_LEN], interval[UNITS_LEN];

	printf("%s: ", name);
	if (*b->device)
		printf("%s, ", b->device);
	if (*b->kernel)
		printf("Linux %s%s%s, ", b->kernel, *b->machine ? " " : "", b->machine);
	printf("%" PRIu32 " CPU%s, %s recorded, ", b->cpus, b->cpus == 1 ? "" : "s",
	       units_duration(b->to_ns - b->from_ns, length));
	if (b->is_exact)
		puts("exact by the scheduler's events");
	else if (b->interval_ns)
		printf("sampled every %s%s\n", units_duration(b->interval_ns, interval),
		       b->has_events ? ", starts and ends told by the kernel" : "");
	else
		puts("no samples");
}

void boot_print_missing(const struct boot *b)
{
	char from[BOOT_PRINT_TIME], length[UNITS_LEN], why[160];
	size_t i;

	if (!b->n_gaps && !b->is_cut)
		return;
	boot_print_title("Missing");
	for (i = 0; i < b->n_gaps && i < MISSING_SHOWN; i++) {
		snprintf(why, sizeof(why), "%s", b->gaps[i].why);
		table_clean(why);
		printf("%11s  for %s  %s%s%s\n", boot_print_moment(b->gaps[i].from_ns, from),
		       units_duration(b->gaps[i].to_ns - b->gaps[i].from_ns, length),
		       say_style(stdout, STYLE_BAD), why, say_style(stdout, STYLE_PLAIN));
	}
	boot_print_more(b->n_gaps - i);
	if (b->is_cut)
		printf("%11s  %sthe recording was cut off here%s\n",
		       boot_print_moment(b->to_ns, from), say_style(stdout, STYLE_BAD),
		       say_style(stdout, STYLE_PLAIN));
}

void boot_print_path(const struct boot *b, const struct boot_path *path)
{
	char from[BOOT_PRINT_TIME], length[UNITS_LEN];
	const struct boot_step *s;
	size_t i;

	boot_print_title("Critical path: each step had to happen before the next");
	puts("      start      took  mostly    process");
	for (i = 0; i < path->n_steps; i++) {
		s = &path->steps[i];
		printf("%11s %9s  %-8s %s", boot_print_moment(s->from_ns, from),
		       units_duration(s->to_ns - s->from_ns, length), boot_state_words[s->state],
		       s->is_inferred ? "?" : " ");
		boot_print_process(b, s->process, true);
		putchar('\n');
	}
	printf("%11s  reached\n", boot_print_moment(path->to_ns, from));
	for (i = 0; i < path->n_steps && !path->steps[i].is_inferred; i++)
		;
	if (i < path->n_steps)
		puts("? nothing recorded says that the next step needed this one");
}
