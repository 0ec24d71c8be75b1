/* SPDX-License-Identifier: MIT */
/*
 * syscall_filter: see syscall_filter.h.
 *
 * The program looks at the architecture first, for numbers mean other calls there, and then goes down
 * the list. Each rule carries its own return, so no jump is longer than six instructions. Kernels from
 * 5.11 on remember which calls are allowed whatever their arguments are, and do not run it for those.
 */
#include "sandbox/syscall_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/sandbox.h"
#include "sandbox/syscall_name.h"

#if defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__x86_64__) && !defined(__ILP32__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__arm__) && defined(__ARM_EABI__)
#define ARCH AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#else
#define ARCH 0
#endif

#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1 /* of the kernel; the C library has no name for it yet */
#endif

#define HEAD_LEN 5U
#define RULE_LEN 6U
#define LINE_MAX_LEN 160U
#define TOLD_MAX 1024 /* numbers beyond this are told each time */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_HALF 0U
#else
#define LOW_HALF 4U
#endif

#define LOAD(offset) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define RETURN(action) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, action)
#define IF_EQUAL(k, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define AND(k) (struct sock_filter) BPF_STMT(BPF_ALU | BPF_AND | BPF_K, k)

static size_t put_rule(struct sock_filter *out, const struct syscall_rule *r)
{
	const uint32_t action = r->code ? SECCOMP_RET_ERRNO | (uint32_t)r->code : SECCOMP_RET_ALLOW;
	size_t n = 0;

	if (r->number < 0) /* this machine has no such call */
		return 0;
	if (!r->mask) {
		out[n++] = IF_EQUAL((uint32_t)r->number, 0, 1);
		out[n++] = RETURN(action);
		return n;
	}
	out[n++] = IF_EQUAL((uint32_t)r->number, 0, 5);
	out[n++] = LOAD(offsetof(struct seccomp_data, args) + 8U * r->argument + LOW_HALF);
	out[n++] = AND(r->mask);
	out[n++] = IF_EQUAL(r->value, 0, 1);
	out[n++] = RETURN(action);
	out[n++] = LOAD(offsetof(struct seccomp_data, nr));
	return n;
}

static size_t make_program(const struct syscall_filter *f, struct sock_filter *out)
{
	size_t i, n = 0;

	out[n++] = LOAD(offsetof(struct seccomp_data, arch));
	out[n++] = IF_EQUAL(ARCH, 1, 0);
	out[n++] = RETURN(SECCOMP_RET_KILL_PROCESS);
	out[n++] = LOAD(offsetof(struct seccomp_data, nr));
	for (i = 0; i < f->n; i++)
		n += put_rule(out + n, &f->rules[i]);
	out[n++] =
		RETURN(f->otherwise == SYSCALL_KILL ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_TRAP);
	return n;
}

/* --- telling --- */

static void set_result(ucontext_t *u, long result)
{
#if defined(__aarch64__)
	u->uc_mcontext.regs[0] = (unsigned long long)result;
#elif defined(__x86_64__)
	u->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__arm__)
	u->uc_mcontext.arm_r0 = (unsigned long)result;
#elif defined(__riscv)
	u->uc_mcontext.__gregs[10] = (unsigned long)result;
#else
	(void)u;
	(void)result;
#endif
}

static void append(char *line, size_t *len, const char *text)
{
	while (*text && *len < LINE_MAX_LEN - 1)
		line[(*len)++] = *text++;
}

static void append_number(char *line, size_t *len, unsigned int number)
{
	char digits[12];
	size_t at = sizeof(digits) - 1;

	digits[at] = 0;
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	append(line, len, digits + at);
}

/* In a signal's handler: no locks, no memory, and the errno of the thread stays. */
static void tell(int signal, siginfo_t *info, void *context)
{
	static unsigned char told[TOLD_MAX];
	const int number = info->si_syscall, before = errno;
	const char *name = syscall_name_get(number);
	char line[LINE_MAX_LEN];
	size_t len = 0;

	(void)signal;
	if (info->si_code != SYS_SECCOMP) /* somebody sent it */
		return;
	if (number < 0 || number >= TOLD_MAX ||
	    !__atomic_exchange_n(&told[number], 1, __ATOMIC_RELAXED)) {
		append(line, &len, "kiseki: the sandbox refused the system call ");
		if (name)
			append(line, &len, name);
		else
			append_number(line, &len, (unsigned int)number);
		append(line, &len, "\n");
		if (write(STDERR_FILENO, line, len) < 0)
			len = 0; /* nobody listens */
	}
	set_result(context, -EPERM);
	errno = before;
}

static int install_handler(struct error *e)
{
	struct sigaction act = { .sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_RESTART };
	sigset_t own;

	sigfillset(&act.sa_mask);
	sigemptyset(&own);
	sigaddset(&own, SIGSYS);
	if (sigaction(SIGSYS, &act, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &own, NULL) < 0)
		return error_set(e, errno, "cannot handle SIGSYS: %s", strerror(errno));
	return 0;
}

int syscall_filter_install(const struct syscall_filter *f, struct error *e)
{
	_cleanup_free_ struct sock_filter *list =
		calloc(HEAD_LEN + SYSCALL_RULES_MAX * RULE_LEN, sizeof(*list));
	struct sock_fprog program = { .filter = list };
	int r;

	if (SANDBOX_SANITIZED)
		return 0;
	if (!ARCH)
		return error_set(e, ENOSYS, "cannot filter system calls on this machine");
	if (!list || f->n > SYSCALL_RULES_MAX)
		return error_set(e, list ? E2BIG : ENOMEM, "cannot filter system calls: %s",
				 list ? "too many rules" : "out of memory");
	program.len = (unsigned short)make_program(f, list);
	r = f->otherwise == SYSCALL_TELL ? install_handler(e) : 0;
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		return error_set(e, errno == EINVAL ? ENOSYS : errno,
				 "cannot filter system calls: %s", strerror(errno));
	return 0;
}
