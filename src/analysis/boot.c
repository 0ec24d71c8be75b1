/* SPDX-License-Identifier: MIT */
/* boot: see boot.h. What can be asked of a boot that is complete; boot_build.c makes it. */
#include "analysis/boot.h"

#include <stdlib.h>

const char *const boot_state_words[BOOT_STATES] = {
	[BOOT_RUNNING] = "running",   [BOOT_RUNNABLE] = "runnable", [BOOT_DISK_WAIT] = "disk",
	[BOOT_SLEEPING] = "sleeping", [BOOT_STOPPED] = "stopped",   [BOOT_ZOMBIE] = "zombie",
	[BOOT_UNKNOWN] = "unknown",
};

enum boot_state boot_state_parse(uint64_t letter)
{
	switch (letter) {
	case 'R':
		return BOOT_RUNNING;
	case 'D':
	case 'K': /* can be killed */
		return BOOT_DISK_WAIT;
	case 'S':
	case 'I':
	case 'P':
		return BOOT_SLEEPING;
	case 'T':
	case 't':
		return BOOT_STOPPED;
	case 'Z':
	case 'X':
	case 'x':
		return BOOT_ZOMBIE;
	default:
		return BOOT_UNKNOWN;
	}
}

const struct boot_name *boot_process_name(const struct boot_process *p)
{
	return &p->names[p->n_names - 1];
}

uint64_t boot_process_ran(const struct boot_process *p)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < p->n_spans; i++)
		sum += boot_span_ran(&p->spans[i]);
	return sum;
}

uint64_t boot_process_cpu(const struct boot_process *p)
{
	uint64_t ran = boot_process_ran(p);

	return p->cpu_ns > ran ? p->cpu_ns : ran;
}

void boot_process_sum(struct boot_process *p)
{
	const struct boot_span *s = p->spans;
	size_t i;

	for (i = 0; i < BOOT_STATES; i++)
		p->state_ns[i] = 0;
	for (i = 0; i < p->n_spans; i++, s++) {
		p->state_ns[BOOT_RUNNING] += boot_span_ran(s);
		p->state_ns[s->state == BOOT_RUNNING ? BOOT_RUNNABLE : s->state] +=
			s->to_ns - s->from_ns - boot_span_ran(s);
	}
}

static bool lived(const struct boot_process *p, int32_t pid, uint64_t ns)
{
	return p->pid == pid && p->from_ns <= ns && ns <= p->to_ns;
}

/* Processes were added and not yet put in order. */
static uint32_t find_slowly(const struct boot *b, int32_t pid, uint64_t ns)
{
	uint32_t i, found = BOOT_NONE;

	for (i = 0; i < b->n_processes; i++)
		if (lived(&b->processes[i], pid, ns) &&
		    (found == BOOT_NONE || b->processes[i].from_ns > b->processes[found].from_ns))
			found = i;
	return found;
}

uint32_t boot_find(const struct boot *b, int32_t pid, uint64_t ns)
{
	size_t low = 0, high = b->n_by_pid, middle;
	const struct boot_process *p;

	if (b->n_by_pid != b->n_processes)
		return find_slowly(b, pid, ns);
	while (low < high) { /* the first that is behind */
		middle = low + (high - low) / 2;
		p = &b->processes[b->by_pid[middle]];
		if (p->pid < pid || (p->pid == pid && p->from_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !lived(&b->processes[b->by_pid[low - 1]], pid, ns))
		return BOOT_NONE;
	return b->by_pid[low - 1];
}

static void free_processes(struct boot *b)
{
	struct boot_process *p;
	size_t i, k;

	for (i = 0; i < b->n_processes; i++) {
		p = &b->processes[i];
		for (k = 0; k < p->n_names; k++)
			free(p->names[k].args);
		free(p->names);
		free(p->spans);
	}
	free(b->processes);
	free(b->by_pid);
}

void boot_free(struct boot *b)
{
	size_t i;

	if (!b)
		return;
	free_processes(b);
	for (i = 0; i < b->n_disks; i++) {
		free(b->disks[i].name);
		free(b->disks[i].points);
	}
	for (i = 0; i < b->n_marks; i++)
		free(b->marks[i].text);
	for (i = 0; i < b->n_gaps; i++)
		free(b->gaps[i].why);
	for (i = 0; i < b->n_texts; i++)
		free(b->texts[i]);
	free(b->disks);
	free(b->marks);
	free(b->gaps);
	free(b->realtimes);
	free(b->texts);
	free(b->points);
	free(b->device);
	free(b->kernel);
	free(b->machine);
	free(b->origin);
	free(b->command_line);
	free(b->release);
	free(b->target);
	free(b);
}
