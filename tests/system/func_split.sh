#!/bin/bash
# SPDX-License-Identifier: MIT
# kiseki func run --split: local time as user, kernel, preempted and blocked, held against what the kernel counted
# (tests/tools/func_split.c), of threads and children, with a hog on their CPU; then what reports and exports show of it.
set -u
command -v cc >/dev/null || { echo "there is no compiler"; exit 77; }
[ -n "${KISEKI_LIBFUNC-}" ] && [ -e "$KISEKI_LIBFUNC" ] || { echo "libkiseki-func.so is not built here"; exit 77; }
[ -z "${SANITIZED-}" ] || { echo "a sanitizer does not let itself be preloaded behind the library"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "only root may watch threads"; exit 77; }
[ -d /sys/kernel/tracing/instances ] || { echo "there is no tracefs"; exit 77; }
[ -e /sys/kernel/tracing/events/raw_syscalls/sys_enter ] || { echo "this kernel does not trace system calls"; exit 77; }
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export KISEKI_AGENT=$AGENT
failed=0
fail()
{
	echo "FAILED: $*"
	failed=1
}

echo 'int main(void) { return 0; }' | cc -finstrument-functions -x c - -o probe || { echo "the compiler cannot instrument"; exit 77; }
cc -D_GNU_SOURCE -O1 -g -pthread -finstrument-functions "$SRC/tests/tools/func_split.c" -o program || exit 1
before=$(ls /sys/kernel/tracing/instances | grep -c record)
"$KISEKI" func run --split -o out -- ./program >mixed 2>err
[ $? = 9 ] || fail "the exit status: $(tail -3 mixed err)"
[ -s out/calls.ksk ] || { fail "nothing was recorded: $(cat err)"; exit 1; }
grep '^{' mixed >truth
python3 "$SRC/tests/tools/func_split.py" truth "$KISEKI" out/calls.ksk || fail "the split is not right"

# What people see of it.
grep -v '^{' mixed | grep -q 'user   kernel preempt.  blocked' || fail "the columns of the report: $(head -5 mixed)"
"$KISEKI" func tree out/calls.ksk --limit 0 >tree 2>err || fail "the tree"
grep -q 'user   kernel preempt.  blocked' tree && grep -q 'system_calls' tree || fail "the tree: $(head -3 tree)"
"$KISEKI" func tree out/calls.ksk --merged >tree 2>err || fail "the merged tree"
grep -q 'user   kernel preempt.  blocked' tree || fail "the merged tree: $(head -3 tree)"
for format in folded speedscope chrome pprof perfetto; do
	"$KISEKI" func export out/calls.ksk -f $format -o out.$format 2>err || fail "$format: $(cat err)"
	[ -s out.$format ] || fail "$format is empty"
done
grep -q '"kernel' out.chrome || fail "Chrome's JSON has no split"
gzip -dc out.pprof 2>/dev/null | cat - out.pprof | grep -qa kernel || fail "pprof has no split"
"$KISEKI" check out/calls.ksk >out.check 2>&1 || fail "the file is damaged: $(cat out.check)"

# The folder is what is in it; and packed anew it says the same.
"$KISEKI" func report out --json --limit 0 >first 2>err || fail "the folder: $(cat err)"
"$KISEKI" convert out/calls.ksk -o again.ksk 2>err || fail "convert: $(cat err)"
"$KISEKI" func report again.ksk --json --limit 0 >second 2>err || fail "the report of the other file"
cmp -s first second || fail "packed anew it says something else"

# What cannot be is said.
"$KISEKI" func run --split --sched -- ./program >out.both 2>err
[ $? = 2 ] && grep -q 'exclude each other' err || fail "--split and --sched: $(cat err)"
"$KISEKI" func run --split --agent -- ./program >out.both 2>err
[ $? = 2 ] && grep -q 'exclude each other' err || fail "--split and --agent: $(cat err)"
"$KISEKI" func run --split -- /bin/sh -c 'echo ran; exit 5' >out.plain 2>err
[ $? = 5 ] && grep -q ran out.plain && grep -q 'no calls were recorded' err || fail "a program without hooks: $(cat out.plain err)"

# A child that has more of it at once than is held of a thread nobody knows yet: it is known from its first call on.
cat >eager.c <<'END'
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void ask(void)
{
	int i;

	for (i = 0; i < 12000; i++)
		syscall(SYS_getppid);
}

__attribute__((no_instrument_function)) int main(void)
{
	int status = 1;

	if (fork() == 0) {
		ask();
		_exit(0);
	}
	wait(&status);
	return status;
}
END
cc -D_GNU_SOURCE -O1 -g -finstrument-functions eager.c -o eager || exit 1
for i in 1 2 3; do
	"$KISEKI" func run --split -o eager$i -- ./eager >out.eager 2>err || fail "a busy child: $(cat err)"
	"$KISEKI" func report eager$i --json --limit 0 >report 2>err || fail "its report: $(cat err)"
	python3 - report <<'END' || fail "a busy child is not known from its beginning: $(cat report)"
import json, sys
report = json.load(open(sys.argv[1]))
ask = next(f for f in report["functions"] if f["function"] == "ask")
sys.exit(ask["unknown_ns"] != 0 or ask["kernel_ns"] == 0 or report["all"]["os_losses"] != 0)
END
done

# Through an agent that is killed, and switched off and on.
cat >forever.c <<'END'
#include <sys/random.h>
#include <time.h>

static volatile unsigned long sum;

__attribute__((noinline)) void nap(void)
{
	const struct timespec t = { .tv_nsec = 5000000 };

	nanosleep(&t, 0);
}

__attribute__((noinline)) void ask(void)
{
	char bytes[65536];
	int i;

	for (i = 0; i < 10; i++)
		if (getrandom(bytes, sizeof(bytes), 0) < 0)
			return;
}

__attribute__((noinline)) void compute(void)
{
	unsigned long i;

	for (i = 0; i < 1000000; i++)
		sum += i;
}

int main(void)
{
	for (;;) {
		nap();
		ask();
		compute();
	}
}
END
cc -O1 -g -finstrument-functions forever.c -o forever || exit 1
python3 "$SRC/tests/tools/func_split_agent.py" "$KISEKI" "$AGENT" "$KISEKI_LIBFUNC" ./forever || fail "an agent that is killed"

# Nothing stays in the kernel.
[ "$(ls /sys/kernel/tracing/instances | grep -c record)" -le "$before" ] || fail "an instance was left: $(ls /sys/kernel/tracing/instances)"
exit $failed
