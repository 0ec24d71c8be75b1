#!/bin/bash
# SPDX-License-Identifier: MIT
# kiseki-agent profile, on this machine: shares of functions, chains, processes that come and go, numbers of processes,
# what a kill leaves, a disk that is full, and users without rights. What is sampled is CPU time, so a
# busy machine makes it slower and changes nothing else.
set -u
work=$(mktemp -d) || exit 1
others=
trap 'for p in $others; do kill -9 "$p" 2>/dev/null; done; rm -rf "$work"' EXIT
chmod 755 "$work"
failed=0

fail()
{
	echo "FAILED: $*"
	failed=1
}

record()
{
	"$AGENT" profile "$@" 2>"$work/err"
	status=$?
}

dump()
{
	"$PROFILE_DUMP" "$1" >"$work/dump" 2>"$work/dump-err" || fail "cannot read $1: $(cat "$work/dump-err")"
}

# samples CONDITION: how many there are. 4 mode, 5 pid, 6 tid, 7 name, 8 weight, 9 and 10 frames of kernel and program.
samples()
{
	awk "\$1 == \"sample\" && ($1) { n++ } END { print n + 0 }" "$work/dump"
}

"$SRC/tests/tools/raise_sample_limit"
record -o "$work/try.ksk" -- true
if [ $status != 0 ]; then
	echo "this machine lets nobody be sampled: $(cat "$work/err")"
	exit 77
fi
command -v cc >/dev/null || { echo "there is no C compiler here"; exit 77; }

# Three parts of the work in one function, one in another, until so many ms of CPU time are used.
cat >"$work/work.c" <<'PROGRAM'
#include <stdlib.h>
#include <time.h>
/* What is on the stack: gcc for x86-64 makes no frame for a leaf that needs none, whatever it is told. */
__attribute__((noinline)) void heavy(long n) { volatile long sink = 0; for (long i = 0; i < 3 * n; i++) sink += i * i; }
__attribute__((noinline)) void light(long n) { volatile long sink = 0; for (long i = 0; i < n; i++) sink += i * i; }
int main(int argc, char **argv)
{
	clock_t end = clock() + (argc > 1 ? atol(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);

	while (clock() < end) {
		heavy(2000);
		light(2000);
	}
	return argc > 2 ? atoi(argv[2]) : 0;
}
PROGRAM
cc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o "$work/work" "$work/work.c" || { fail "cannot compile"; exit 1; }

# Where a function is in the file, from and to.
range_of()
{
	nm -S "$work/work" | awk -v name="$1" '$4 == name { print $1, $2 }' |
		{ read -r from size && echo "$((0x$from)) $((0x$from + 0x$size))"; }
}

# Counts samples by the function of the program that they are in, and those whose chain has main behind it.
count_functions()
{
	python3 - "$work/dump" "$1" "$(range_of heavy)" "$(range_of light)" "$(range_of main)" <<'COUNT'
import sys
path = sys.argv[2] + "+0x"
ranges = [tuple(map(int, a.split())) for a in sys.argv[3:]]
n = [0, 0, 0]
chained = 0
for line in open(sys.argv[1]):
    w = line.split()
    if w[0] != "sample":
        continue
    at = [int(f[len(path):], 16) if f.startswith(path) else -1 for f in w[10 + int(w[8]):]]
    if not at:
        continue
    for i, (low, high) in enumerate(ranges):
        if low <= at[0] < high:
            n[i] += 1
            chained += i < 2 and any(ranges[2][0] <= a < ranges[2][1] for a in at[1:])
print(*n, chained)
COUNT
}

# A command: its status, the shares, its chains, nothing of anybody else.
record -o "$work/c.ksk" -e cpu-clock -- "$work/work" 600 7
[ $status = 7 ] || fail "status $status instead of the command's 7: $(cat "$work/err")"
grep -Eq '^kiseki-agent: note: [0-9]+ samples, 0 lost, [0-9]+ bytes, [0-9.]+ for each, in ' "$work/err" ||
	fail "no summary: $(cat "$work/err")"
dump "$work/c.ksk"
read -r heavy light other chained < <(count_functions "$work/work")
total=$((heavy + light))
[ $total -ge 150 ] || fail "only $total samples in 600 ms of CPU time (other $other)"
[ $((heavy * 100)) -ge $((total * 60)) ] && [ $((heavy * 100)) -le $((total * 88)) ] ||
	fail "heavy $heavy, light $light: not near 3 to 1"
[ $((chained * 100)) -ge $((total * 90)) ] || fail "$chained of $total chains have main in them"
[ "$(samples '$7 != "work"')" = 0 ] || fail "somebody else is in it: $(grep -v ' work ' "$work/dump" | head -n 3)"
[ "$(awk '$1 == "sampling" { print $3, $4, $6 }' "$work/dump")" = "0 0 0" ] || fail "$(head -n 1 "$work/dump")"
# What the samples stand for is the CPU time.
awk '$1 == "sample" { t += $8 } END { exit !(t > 400e6 && t < 900e6) }' "$work/dump" ||
	fail "weights: $(awk '$1 == "sample" { t += $8 } END { print t }' "$work/dump") ns"

# No chains, and a limit to them.
record -o "$work/n.ksk" --no-chain -- "$work/work" 100
dump "$work/n.ksk"
[ "$(samples '$9 + $10 != 1')" = 0 ] && [ "$(samples 1)" -gt 20 ] || fail "--no-chain"
record -o "$work/n.ksk" --depth 2 -- "$work/work" 100
dump "$work/n.ksk"
[ "$(samples '$9 + $10 > 2')" = 0 ] && [ "$(samples '$10 == 2')" -gt 20 ] || fail "--depth 2"

# A budget or a duty that cannot be is refused before anything is recorded.
for wrong in "--budget 0" "--budget 101" "--budget x" "--duty 3s" "--duty 3s/2s" "--duty 10ms/2s" "--duty 1s/2d" "--budget 1 --pid 1"; do
	# shellcheck disable=SC2086
	"$AGENT" profile -o "$work/wrong.ksk" $wrong 2>"$work/err"
	[ $? = 2 ] && [ "$(wc -l <"$work/err")" -ge 1 ] && [ ! -e "$work/wrong.ksk" ] || fail "$wrong: $(cat "$work/err")"
done

# kiseki profile record passes it all on, and the report names the functions.
KISEKI_AGENT=$AGENT "$KISEKI" profile record --output "$work/r.ksk" --event cpu-clock --rate=2000 -n board -- "$work/work" 200 3 2>"$work/err"
[ $? = 3 ] || fail "kiseki profile record: $(cat "$work/err")"
"$KISEKI" profile report --json "$work/r.ksk" >"$work/json" 2>/dev/null || fail "kiseki profile report"
python3 - "$work/json" <<'REPORT' || fail "kiseki profile report: $(head -c 500 "$work/json")"
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
own = {r["name"]: r["self"]["weight"] for r in rows}
sys.exit(not (own["heavy"] > own["light"] > 0 and 100e6 < sum(own.values()) < 400e6))
REPORT
"$KISEKI" info "$work/r.ksk" | grep -q board || fail "kiseki info: $("$KISEKI" info "$work/r.ksk")"
"$KISEKI" check "$work/r.ksk" >"$work/check" || fail "kiseki check: $(cat "$work/check")"

# Processes that live shortly are known by name, with their files.
for i in 1 2 3 4 5; do
	cp "$work/work" "$work/short$i"
done
record -o "$work/s.ksk" -- sh -c "for i in 1 2 3 4 5; do $work/short\$i 60; done; true"
[ $status = 0 ] || fail "short processes: $(cat "$work/err")"
dump "$work/s.ksk"
for i in 1 2 3 4 5; do
	n=$(grep -c "^sample.* short$i .*$work/short$i+0x" "$work/dump")
	[ "$n" -gt 10 ] || fail "$n samples of short$i"
done

# Processes by number: one that executes another program meanwhile; the recording ends with it.
sh -c "$work/work 200; exec $work/short1 300" &
pid=$!
others=$pid
record -o "$work/p.ksk" -p $pid
[ $status = 0 ] || fail "--pid: $(cat "$work/err")"
dump "$work/p.ksk"
[ "$(samples "\$5 == $pid && \$7 == \"short1\"")" -gt 100 ] || fail "--pid: no samples after the exec"
[ "$(grep -c "^sample.* $pid $pid short1 .*$work/short1+0x" "$work/dump")" -gt 100 ] || fail "--pid: no mappings"
wait $pid
others=

# Switches: as often onto a CPU as off it, but for the ends.
record -o "$work/w.ksk" --switches -- sh -c "$work/work 50; sleep 0.05; $work/work 50"
dump "$work/w.ksk"
awk '$1 == "switch" { if ($6 != 0) off++; if ($9 != 0) on++ } END { exit !(on > 2 && off > 2) }' "$work/dump" ||
	fail "--switches: $(grep -c ^switch "$work/dump")"

# Errors.
record -o "$work/x.ksk" -- /nowhere/program
[ $status = 127 ] || fail "status $status of a program that is not there"
record -p 999999999 -o "$work/none.ksk"
[ $status = 1 ] && grep -q 'cannot sample process 999999999: there is none' "$work/err" || fail "pid: $(cat "$work/err")"
[ ! -e "$work/none.ksk" ] || fail "a file of nothing"
for words in '--period 1ns' '--rate 0' '--pid 1,x' '--depth 128' '--event x' '--period 1ms --rate 5' '--buffer 1' '--all --pid 1'; do
	# shellcheck disable=SC2086
	record -o "$work/none.ksk" $words
	[ $status = 2 ] || fail "status $status of $words"
done
record -o "$work/no/folder.ksk" -- true
[ $status = 1 ] && grep -q "cannot write $work/no/folder.ksk" "$work/err" || fail "folder: $(cat "$work/err")"

# All CPUs, which needs rights.
"$AGENT" profile -a -e cpu-clock -o "$work/k.ksk" 2>"$work/err" &
pid=$!
others=$pid
"$work/work" 300
for ((i = 0; i < 300; i++)); do
	kill -0 $pid 2>/dev/null || break
	"$PROFILE_DUMP" "$work/k.ksk" >"$work/dump" 2>/dev/null
	[ "$(samples '$7 == "work"')" -gt 20 ] && break
	"$work/work" 50
	sleep 0.1
done
if ! kill -9 $pid 2>/dev/null; then
	echo "all CPUs: not tried, $(cat "$work/err")"
	[ $failed = 0 ] && exit 77
	exit 1
fi
wait $pid 2>/dev/null
others=
dump "$work/k.ksk"
[ "$(samples '$7 == "work"')" -gt 20 ] || fail "a killed recorder left $(samples 1) samples: $(cat "$work/err")"
[ "$(awk '$1 == "sampling" { print $3, $6 }' "$work/dump")" = "50 1" ] || fail "killed: $(head -n 1 "$work/dump")"

# SIGINT completes the file.
"$AGENT" profile -a -o "$work/i.ksk" 2>"$work/err" &
pid=$!
others=$pid
"$work/work" 300
until [ "$("$PROFILE_DUMP" "$work/i.ksk" 2>/dev/null | grep -c ^sample)" -gt 50 ]; do
	kill -0 $pid 2>/dev/null || break
	sleep 0.1
done
kill -INT $pid
wait $pid
status=$?
others=
[ $status = 0 ] || fail "SIGINT: status $status, $(cat "$work/err")"
dump "$work/i.ksk"
[ "$(awk '$1 == "sampling" { print $6 }' "$work/dump")" = 0 ] || fail "SIGINT: the file is not complete"
[ "$(samples '$4 == 1 && $9 > 0 && $11 !~ /^0x/')" -gt 0 ] || [ "$(head -c 8 /proc/kallsyms)" = 00000000 ] ||
	fail "no names of the kernel's functions"

# A disk that is full: said, and what is there is a whole file.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir "$work/small"
	cat >"$work/full.sh" <<FULL
mount -t tmpfs -o size=512k none $work/small || exit 77
"$work/work" 100000 &
burner=\$!
timeout 300 "$AGENT" profile -a -e cpu-clock -i 50us -o $work/small/f.ksk 2>$work/err
echo \$? >$work/full.status
kill \$burner
cp $work/small/f.ksk $work/f.ksk
FULL
	if unshare -m bash "$work/full.sh"; then
		[ "$(cat "$work/full.status")" = 1 ] && grep -q 'cannot write .*f.ksk: No space left' "$work/err" ||
			fail "disk full: $(cat "$work/full.status") $(cat "$work/err")"
		dump "$work/f.ksk"
		[ "$(samples 1)" -gt 10 ] || fail "disk full: $(samples 1) samples"
		[ "$(awk '$1 == "sampling" { print $6 }' "$work/dump")" = 0 ] || fail "disk full: not a whole file"
	fi
fi

# By cycles. Samples come late, and those that are in the kernel by then are the program's.
record -o "$work/y.ksk" -e cycles --user -- "$work/work" 200
if grep -q 'no counter of this machine serves it' "$work/err"; then
	echo "by cycles: not tried, this machine counts none"
else
	[ $status = 0 ] || fail "by cycles: $(cat "$work/err")"
	dump "$work/y.ksk"
	[ "$(samples '$4 == 2')" -gt 50 ] && [ "$(samples '$4 != 2 || $9 > 0')" = 0 ] ||
		fail "programs by cycles: $(samples '$4 != 2 || $9 > 0') of $(samples 1) samples are in the kernel"
	# Not more than the kernel allows; and it is said how many. The limit may fall meanwhile, and another test may raise it.
	limit=/proc/sys/kernel/perf_event_max_sample_rate
	most=$(cat $limit)
	if [ "$most" -le 50000 ]; then
		record -o "$work/y.ksk" -e cycles -r $((most * 2)) -- "$work/work" 50
		got=$(sed -n "s/.*: \\([0-9]*\\) samples a second instead of $((most * 2)): .*perf_event_max_sample_rate\$/\\1/p" "$work/err")
		after=$(cat $limit)
		[ $status = 0 ] || fail "cycles above the limit of $most: $status, $(cat "$work/err")"
		[ "$after" -gt "$most" ] || { [ "${got:-0}" -le "$most" ] && [ "${got:-0}" -ge "$after" ]; } ||
			fail "cycles above the limit of $most, then $after: $(cat "$work/err")"
	else
		echo "cycles above the limit: not tried, $most in a second are allowed"
	fi
fi

# Without rights: nothing of others, one's own without the kernel.
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ]; then
	mkdir -m 777 "$work/own"
	cp "$AGENT" "$work/own/agent"
	as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all"
	$as_nobody "$work/own/agent" profile -a -o "$work/own/a.ksk" 2>"$work/err"
	[ $? = 1 ] && grep -q 'cannot sample all CPUs: .*perf_event_paranoid' "$work/err" || fail "nobody: $(cat "$work/err")"
	[ ! -e "$work/own/a.ksk" ] || fail "nobody: a file of nothing"
	$as_nobody "$work/own/agent" profile -p $$ -o "$work/own/a.ksk" 2>"$work/err"
	[ $? = 1 ] && grep -q 'of another user' "$work/err" || fail "nobody, another's: $(cat "$work/err")"
	$as_nobody "$work/own/agent" profile -o "$work/own/c.ksk" -- "$work/work" 200 2>"$work/err" ||
		fail "nobody: $(cat "$work/err")"
	grep -q 'without the kernel: kernel.perf_event_paranoid is 2' "$work/err" || fail "nobody: $(cat "$work/err")"
	dump "$work/own/c.ksk"
	[ "$(samples '$4 == 2')" -gt 50 ] && [ "$(samples '$9 > 0')" = 0 ] || fail "nobody: $(samples 1) samples"
fi

exit $failed
