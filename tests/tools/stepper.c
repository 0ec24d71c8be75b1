/* SPDX-License-Identifier: MIT */
/*
 * stepper: see stepper.h.
 *
 * Programs cannot be stepped through where an emulator for user programs has no ptrace, and under
 * valgrind the steps would be valgrind's own. With ThreadSanitizer most of them would be within its
 * library, for many minutes.
 */
#include "tools/stepper.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __has_feature
#define HAS_FEATURE(f) __has_feature(f)
#else
#define HAS_FEATURE(f) 0
#endif
#if HAS_FEATURE(thread_sanitizer) || defined(__SANITIZE_THREAD__)
#define IS_SLOWED true
#else
#define IS_SLOWED false
#endif

#define PAGE 4096U
#define STEPS_MAX 3000000U
#define STEPS_FEW 5000U /* for two stores: more means that the child is emulated */

enum phase { BEFORE = 0, DURING = 1, AFTER = 2 };

static volatile uint32_t *share_phase(void)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* A child that waits to be stepped through `act`; -1 if there cannot be one. */
static pid_t start_child(volatile uint32_t *phase, const struct stepper *s)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(77);
		raise(SIGSTOP);
		*phase = DURING;
		if (s)
			s->act(s->context);
		*phase = AFTER;
		for (;;)
			pause();
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) ? pid : -1;
}

static bool step(pid_t pid)
{
	int status;

	return !ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) && waitpid(pid, &status, 0) == pid &&
	       WIFSTOPPED(status);
}

static void end_child(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

const char *stepper_find_obstacle(void)
{
	volatile uint32_t *phase = share_phase();
	uint32_t steps = 0;
	bool is_over;
	pid_t pid;

	if (IS_SLOWED)
		return "ThreadSanitizer, which is most of the steps, has nothing to find in one "
		       "thread";
	if (!phase)
		return "there is no memory to share";
	pid = start_child(phase, NULL);
	if (pid < 0)
		return "programs cannot be traced here, or they are of another architecture";
	while (*phase != AFTER && steps++ < STEPS_FEW && step(pid))
		;
	end_child(pid);
	is_over = *phase == AFTER;
	munmap((void *)phase, PAGE);
	return is_over ? NULL : "the program is emulated, its steps are not its own";
}

static const char *look(const struct stepper *s, const uint8_t *seen, uint8_t *copy)
{
	memcpy(copy, seen, s->len);
	return s->look(copy, s->len);
}

uint32_t stepper_run(const struct stepper *s, const char **ret_wrong)
{
	volatile uint32_t *phase = share_phase();
	uint8_t *seen = malloc(s->len);
	uint8_t *copy = aligned_alloc(PAGE, (s->len + PAGE - 1) / PAGE * PAGE);
	uint32_t steps, looked = 0;
	pid_t pid = phase && seen && copy ? start_child(phase, s) : -1;

	*ret_wrong = pid < 0 ? "there is no child to step through" : NULL;
	if (seen)
		memcpy(seen, s->file, s->len);
	for (steps = 0; !*ret_wrong && *phase != AFTER; steps++) {
		if (steps == STEPS_MAX || !step(pid))
			*ret_wrong = "the child does not come to its end";
		if (*phase != DURING || !memcmp(seen, s->file, s->len))
			continue;
		memcpy(seen, s->file, s->len);
		if (!*ret_wrong)
			*ret_wrong = look(s, seen, copy);
		looked++;
	}
	if (pid > 0)
		end_child(pid);
	if (phase)
		munmap((void *)phase, PAGE);
	free(seen);
	free(copy);
	return looked;
}
