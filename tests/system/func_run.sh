#!/bin/bash
# SPDX-License-Identifier: MIT
# kiseki func run, from the compiler to the report: counts that are known, exit status and signals, filters by
# name, children and threads in one report, and every export of a real record.
set -u
command -v cc >/dev/null || { echo "there is no compiler"; exit 77; }
[ -n "${KISEKI_LIBFUNC-}" ] && [ -e "$KISEKI_LIBFUNC" ] || { echo "libkiseki-func.so is not built here"; exit 77; }
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
failed=0
fail()
{
	echo "FAILED: $*"
	failed=1
}

cat >demo.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf back;

__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) void jump(void) { longjmp(back, 1); }
__attribute__((noinline)) void before_jump(void) { jump(); }
__attribute__((noinline)) void parse_a(void) { usleep(1000); }
__attribute__((noinline)) void parse_b(void) { parse_a(); }
__attribute__((noinline)) void *worker(void *p) { fib(5); return p; }
__attribute__((noinline)) void nap(void) { usleep(30000); }

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1 && !strcmp(argv[1], "wait")) {
		write(1, "ready\n", 6);
		pause();
	}
	fib(10);
	parse_b();
	if (!setjmp(back))
		before_jump();
	pthread_create(&t, NULL, worker, NULL);
	pthread_join(t, NULL);
	if (!fork()) {
		parse_a();
		_exit(0);
	}
	wait(NULL);
	nap();
	return 7;
}
END
cc -O1 -g -pthread -finstrument-functions demo.c -o demo || { echo "the compiler cannot instrument"; exit 77; }

# check PYTHON: an expression over the report r and its functions f, by name.
check()
{
	python3 - "$1" <<'END' || fail "$1"
import json, sys
r = json.load(open("report"))
f = {x["function"]: x for x in r["functions"]}
sys.exit(not eval(sys.argv[1]))
END
}

"$KISEKI" func run -o rec --json --limit 0 -- ./demo >report 2>err
[ $? = 7 ] || fail "the exit status"
check 'f["fib"]["calls"] == 177 + 15'
check 'f["main"]["calls"] == 1 and f["main"]["total_ns"] > f["nap"]["total_ns"] >= 30000000'
check 'f["parse_a"]["calls"] == 2 and f["parse_b"]["calls"] == 1'
check 'f["jump"]["unwound"] == 1 and f["before_jump"]["unwound"] == 1'
check 'f["worker"]["calls"] == 1 and r["all"]["threads"] == 3'
check 'r["all"]["lost"] == 0 and all(x["object"] == "demo" for x in r["functions"])'
check 'sum(x["local_ns"] for x in r["functions"]) == r["all_functions"]["local_ns"]'
check 'all(x["user_ns"] is None and x["kernel_ns"] is None for x in r["functions"])'

# The record can be asked again, whole or in part.
"$KISEKI" func report rec --json --limit 0 >again 2>err || fail "the report of the record"
cmp -s report again || fail "the record says something else"
"$KISEKI" func report rec --json --thread worker >/dev/null 2>err || fail "one thread"
"$KISEKI" func tree rec --function parse_b >tree 2>err || fail "the tree"
grep -q '|  parse_b' tree && grep -q '|  |  parse_a' tree || fail "the tree: $(cat tree)"
"$KISEKI" func tree rec --merged --lines >tree 2>err || fail "the merged tree"
grep -q 'main  \[demo\]  .*demo.c:' tree || fail "lines: $(cat tree)"
"$KISEKI" func graph rec fib >graph 2>err || fail "the graph"
grep -q 'worker' graph || fail "the graph: $(cat graph)"
"$KISEKI" func diff rec rec >diff 2>err || fail "the difference"
grep -q 'Slower\|New' diff && fail "a record differs from itself"
for format in folded speedscope chrome kft pprof perfetto; do
	"$KISEKI" func export rec -f $format -o out.$format 2>err || fail "$format"
	[ -s out.$format ] || fail "$format is empty"
done
grep -q '^main;parse_b;parse_a [0-9]' out.folded || fail "folded: $(head -3 out.folded)"
[ "$(grep -c ' fib ' out.kft)" = 192 ] || fail "kft"

# Filters by name.
"$KISEKI" func run --json --only 'parse_*' -- ./demo >report 2>err
check 'set(f) == {"parse_a", "parse_b"}'
"$KISEKI" func run --json --tree parse_b -- ./demo >report 2>err
check 'set(f) == {"parse_a", "parse_b"} and f["parse_a"]["calls"] == 1'
"$KISEKI" func run --json --not fib,main -- ./demo >report 2>err
check '"fib" not in f and "main" not in f and "worker" in f'
"$KISEKI" func run --json --depth 1 -- ./demo >report 2>err
check '"main" in f and "fib" not in f'
"$KISEKI" func run --json --min-time 20ms -- ./demo >report 2>err
check 'set(f) >= {"main", "nap"} and all(x["min_ns"] is None or x["min_ns"] >= 20000000 for x in r["functions"])'
"$KISEKI" func run --only nothing_has_this_name -- ./demo >out 2>err
[ $? = 1 ] && grep -q 'nothing_has_this_name' err || fail "a name that is none: $(cat err)"

# Two libraries, one after the other at the same addresses: each call has the name of its time.
for i in 1 2; do
	echo "__attribute__((noinline)) void inner_$i(void) { __asm__(\"\"); } void plug(void) { inner_$i(); }" >lib$i.c
	cc -O1 -fPIC -shared -finstrument-functions lib$i.c -o lib$i.so || fail "a library"
done
cat >plugs.c <<'END'
#include <dlfcn.h>
#include <stdio.h>

static void use(const char *path)
{
	void *h = dlopen(path, RTLD_NOW);

	((void (*)(void))dlsym(h, "plug"))();
	dlclose(h);
}

int main(void)
{
	use("./lib1.so");
	use("./lib2.so");
	use("./lib1.so");
	return 0;
}
END
cc -O1 -finstrument-functions plugs.c -o plugs -ldl || fail "plugs"
"$KISEKI" func run --json -- ./plugs >report 2>err || fail "plugs"
check 'f["inner_1"]["calls"] == 2 and f["inner_1"]["object"] == "lib1.so"'
check 'f["inner_2"]["calls"] == 1 and f["inner_2"]["object"] == "lib2.so"'
"$KISEKI" func run --json --only 'inner_*@lib2.so' -- ./plugs >report 2>err || fail "plugs"
check 'set(f) == {"inner_2"}'

# Signals reach the program, and its end by one is told as shells tell it.
"$KISEKI" func run --json -- ./demo wait >report 2>err &
pid=$!
for _ in $(seq 1200); do
	grep -q ready report && break
	sleep 0.1
done
kill -TERM $pid
wait $pid
[ $? = 143 ] || fail "the status after SIGTERM"
sed -i '/^ready$/d' report
check 'f["main"]["calls"] == 1 and f["main"]["open"] == 1'

# What cannot be recorded is said, and runs.
"$KISEKI" func run -- /bin/sh -c 'echo ran; exit 5' >out 2>err
[ $? = 5 ] && grep -q ran out && grep -q 'no calls were recorded' err || fail "a program without hooks"
"$KISEKI" func run -- /nonexistent >out 2>err
[ $? = 127 ] || fail "a program that is not there"
ls "${TMPDIR:-/tmp}" | grep -q "^kiseki-func-.*$$" && fail "a folder was left"

# The records are the agent's, and there is nothing to report here.
mkdir given
coproc door { exec python3 "$SRC/tests/tools/fake_door.py" "$PWD/socket" given; }
read -r ready <&"${door[0]}" && [ "$ready" = ready ] || fail "the agent of this test"
"$KISEKI" func run --agent=socket --not nap -- ./demo >out 2>err
[ $? = 7 ] || fail "the exit status with an agent: $(cat err)"
[ ! -s out ] && grep -q "the calls went to the agent at $PWD/socket" err || fail "with an agent: $(cat out err)"
door_pid=$door_PID
exec {door[1]}>&-
wait "$door_pid" || fail "the agent of this test failed"
"$KISEKI" func report given --json --limit 0 >report 2>err || fail "the agent's records"
check 'f["fib"]["calls"] == 177 + 15 and f["parse_a"]["calls"] == 2 and "nap" not in f'
check 'r["all"]["lost"] == 0 and r["all"]["threads"] == 3'
"$KISEKI" func run --agent=socket -- ./demo >out 2>err
[ $? = 1 ] && grep -q "cannot ask the agent at $PWD/socket: No such file" err || fail "without an agent: $(cat err)"
"$KISEKI" func run --agent --sched -- ./demo >out 2>err
[ $? = 2 ] || fail "an agent and --sched"

# A program that is called by a symbolic link has its agent beside the link.
if [ "$(id -u)" = 0 ]; then
	mkdir linked && ln -s "$KISEKI" linked/kiseki
	printf '#!/bin/sh\necho "$@" >>"%s/called"\nexit 3\n' "$PWD" >linked/kiseki-agent
	chmod +x linked/kiseki-agent
	env -u KISEKI_AGENT "$PWD/linked/kiseki" func run --split -o split-rec -- ./demo >out 2>err
	grep -q -- --func-socket called 2>/dev/null || fail "the agent beside a link was not called: $(cat err)"
fi

# With the scheduler beside it, where that can be traced.
if [ "$(id -u)" = 0 ] && [ -z "${SANITIZED-}" ]; then
	KISEKI_AGENT=$AGENT "$KISEKI" func run --sched --json --limit 0 -- ./demo >report 2>err
	if [ $? = 7 ]; then
		check 'f["nap"]["blocked_ns"] >= 29000000 and f["nap"]["running_ns"] < f["nap"]["blocked_ns"]'
		check 'all(x["local_ns"] == x["running_ns"] + x["preempted_ns"] + x["blocked_ns"] + x["unknown_ns"] for x in r["functions"] if x["running_ns"] is not None)'
	else
		echo "the scheduler cannot be traced here: $(tail -1 err)"
	fi
fi
exit $failed
