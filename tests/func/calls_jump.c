/* SPDX-License-Identifier: MIT */
/* calls_jump: flow that does not come back the way it went: longjmp, signals, jumps out of them. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "func/calls.h"
#include "func/reference.h"

static jmp_buf back;
static sigjmp_buf out;
static volatile sig_atomic_t signals, left;

static void fall(int depth)
{
	calls_leaf(depth);
	if (!depth)
		longjmp(back, 1);
	fall(depth - 1);
}

static void catch_one(int i)
{
	if (!setjmp(back))
		fall(i % 30);
	calls_twice(i);
}

static int case_longjmp(void)
{
	int i;

	for (i = 0; i < 2000; i++)
		catch_one(i);
	return 0;
}

/* It jumps to the same frame for ever: nothing of what it left returns. */
static int case_loop(void)
{
	static volatile int i;

	while (setjmp(back) >= 0 && i++ < 3000)
		fall(3);
	calls_twice(1);
	return 0;
}

static void on_signal(int number)
{
	calls_twice(number);
	signals++;
}

static void set_timer(long period_us, long us)
{
	struct itimerval t = { { 0, period_us }, { 0, us } };

	setitimer(ITIMER_REAL, &t, NULL);
}

static void catch_signal(void (*handler)(int), int flags)
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_handler = handler;
	a.sa_flags = flags;
	sigaction(SIGALRM, &a, NULL);
}

/* Handlers that are instrumented, many of them inside of a hook; with a stack of their own, too. */
static int case_signals(int own_stack)
{
	static char space[65536];
	stack_t s = { .ss_sp = space, .ss_size = sizeof(space) };
	unsigned i;

	if (own_stack)
		sigaltstack(&s, NULL);
	catch_signal(on_signal, SA_RESTART | (own_stack ? SA_ONSTACK : 0));
	set_timer(50, 50);
	for (i = 0; i < 5000 && (i < 100 || signals < 50); i++)
		calls_walk(i, 100);
	set_timer(0, 0);
	return signals < 5;
}

static volatile sig_atomic_t forks, is_child;

/* The child returns from here into what was interrupted, as a hook mostly is. */
QUIET static void on_signal_fork(int number)
{
	pid_t pid = fork();

	(void)number;
	if (!pid)
		is_child = 1;
	else if (pid > 0)
		forks++;
}

/* Says in its status whether each child came to its own end. */
QUIET static int case_sigfork(int most)
{
	int status, good = 0;
	unsigned i;

	catch_signal(on_signal_fork, SA_RESTART);
	for (i = 0; forks < most && !is_child; i++) {
		set_timer(0, 1 + forks % 97);
		calls_walk(i, 100);
	}
	set_timer(0, 0);
	if (is_child) {
		calls_walk(1, 100);
		_exit(23);
	}
	while (wait(&status) > 0)
		good += WIFEXITED(status) && WEXITSTATUS(status) == 23;
	printf("%d of %d\n", good, (int)forks);
	return good == forks ? 0 : 1;
}

/* Not instrumented itself, so that what it interrupted is as it was. */
QUIET static void on_signal_jump(int number)
{
	left += reference_depth > 0;
	calls_leaf(number);
	signals++;
	siglongjmp(out, 1);
}

/* Hooks that never end, because a handler jumps out of them, 1 us to most_us after the last one did. It says how many it left:
 * such a call may be made and not counted, if its hook had only begun. */
static int case_siglongjmp(int jumps, int most_us)
{
	static volatile unsigned i;
	sigset_t alarm;

	catch_signal(on_signal_jump, 0);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	/* Signals are let in again here and not by the jump, which would do it on the handler's stack. */
	sigsetjmp(out, 0);
	reference_depth = 0;
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	set_timer(0, signals < jumps ? 1 + signals % most_us : 0);
	for (; i < 3000 && (i < 100 || signals < jumps); i++)
		calls_walk(i, 100);
	set_timer(0, 0);
	printf("%d left\n", (int)left);
	return signals < 5;
}

#ifdef __GLIBC__ /* other C libraries have no contexts */
static ucontext_t main_context, other_context;

static void other(void)
{
	int i;

	for (i = 0; i < 50; i++) {
		calls_twice(i);
		swapcontext(&other_context, &main_context);
	}
}

/* Two stacks, one thread. */
static int case_contexts(void)
{
	static char stack[65536];
	int i;

	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof(stack);
	other_context.uc_link = &main_context;
	makecontext(&other_context, other, 0);
	for (i = 0; i < 50; i++) {
		swapcontext(&main_context, &other_context);
		calls_leaf(i);
	}
	return 0;
}
#else
static int case_contexts(void)
{
	return NO_SUCH_CASE;
}
#endif

QUIET int case_jump(const char *name, int argc, char **argv)
{
	if (!strcmp(name, "longjmp"))
		return case_longjmp();
	if (!strcmp(name, "loop"))
		return case_loop();
	if (!strcmp(name, "signals"))
		return case_signals(0);
	if (!strcmp(name, "signal_stack"))
		return case_signals(1);
	if (!strcmp(name, "siglongjmp"))
		return case_siglongjmp(number_at(argc, argv, 2, 50), number_at(argc, argv, 3, 100));
	if (!strcmp(name, "sigfork"))
		return case_sigfork(number_at(argc, argv, 2, 300));
	if (!strcmp(name, "contexts"))
		return case_contexts();
	return NO_SUCH_CASE;
}
