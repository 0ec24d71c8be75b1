#!/bin/bash
# SPDX-License-Identifier: MIT
# trace.dat with trace-cmd as the judge: what it reports of a recording and of the same recording
# after a way through .ksk must be the same lines, raw fields and all digits of the stamps; and it
# must show the losses.
set -eu
for tool in trace-cmd jq; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }

# Only lines of events that we carry; what else a recording has is told as left out. trace-cmd 3.1 forgets the clock of a file
# once in a hundred times, whoever wrote it, and prints its nanoseconds without a point: then it is asked again.
report() {
	for _ in 1 2 3 4 5; do
		trace-cmd report "$@" 2>errors | grep -E ': (sched_|task_rename)' >lines || true
		! grep -qE '[] .][0-9]{10,}: (sched_|task_rename)' lines || continue
		break
	done
	cat lines
	grep -v '^version = ' errors >&2 || true
}

for version in 6 7; do
	in=$SRC/tests/data/small-v$version.dat
	"$KISEKI" convert "$in" -o $version.ksk
	"$KISEKI" convert $version.ksk -o $version.dat
	for form in "-R -t" "-t" "-l"; do
		# shellcheck disable=SC2086 # two options
		report $form "$in" >expected
		# shellcheck disable=SC2086
		report $form $version.dat >found
		[ "$(wc -l <expected)" = 457 ] || fail "v$version: trace-cmd reports $(wc -l <expected)"
		cmp expected found || {
			diff expected found | head -n 6
			fail "v$version: trace-cmd report $form differs"
		}
	done
	events=$("$KISEKI" info --json $version.dat | jq .events)
	[ "$events" = 457 ] || fail "v$version: info counts $events events"
done
cmp 6.dat 7.dat || fail "the same events, recorded as v6 and as v7, give different files"

# Losses: of a known number, of an unknown one, and before the first event.
cat >lost.txt <<'END_OF_TEXT'
# tracer: nop
#
# entries-in-buffer/entries-written: 4/9   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
          <idle>-0       [000] d..2.   100.000001: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=11 next_prio=120
          <idle>-0       [001] d..2.   100.000003: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=b next_pid=12 next_prio=120
CPU:0 [LOST 17 EVENTS]
          worker-12      [000] d..2.   100.000010: sched_switch: prev_comm=worker prev_pid=12 prev_prio=98 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
CPU:1 [LOST EVENTS]
               c-13      [001] d..2.   100.000012: sched_switch: prev_comm=c prev_pid=13 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
END_OF_TEXT
"$KISEKI" convert lost.txt -o lost.ksk
"$KISEKI" convert lost.ksk -o lost.dat
trace-cmd report lost.dat >text 2>errors
grep -o 'CPU:.*DROPPED.*' text >dropped || true
printf '%s\n' 'CPU:0 [5 EVENTS DROPPED]' 'CPU:0 [17 EVENTS DROPPED]' 'CPU:1 [EVENTS DROPPED]' |
	diff - dropped || fail "trace-cmd shows other losses"
[ "$(grep -c ': *sched_switch' text)" = 4 ] || fail "trace-cmd shows other events: $(cat text)"
"$KISEKI" convert lost.dat -o again.ksk
# The same nanoseconds, but of another clock: text counts microseconds, trace.dat nanoseconds.
losses() {
	"$KISEKI" convert "$1" -o - --format ndjson |
		jq -c 'select(.kind == "lost") | del(.tick, .from_tick, .to_tick)'
}
losses lost.ksk >expected
losses again.ksk | diff expected - || fail "losses change on the way back from trace.dat"

# A clock that counts no time: ticks, until somebody says how many are a second. By hand: 2,500,000 ticks of
# 2.5 GHz are a millisecond.
cat >ticks.txt <<'END_OF_TEXT'
          <idle>-0       [000] d..2. 5000000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=11 next_prio=120
               a-11      [000] d..2. 5002500000: sched_switch: prev_comm=a prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
END_OF_TEXT
"$KISEKI" convert ticks.txt -o ticks.dat
"$KISEKI" convert ticks.dat -o ticks.ksk
trace-cmd report ticks.dat 2>/dev/null | grep sched_switch | sed 's/.*\] *\([0-9.]*\):.*/\1/' >stamps
printf '5000000000\n5002500000\n' | diff - stamps || fail "trace-cmd shows other ticks"
for file in ticks.txt ticks.dat ticks.ksk; do
	[ "$("$KISEKI" info --json $file | jq -r '"\(.clock.unit) \(.to_ns - .from_ns)"')" = "ticks 2500000" ] ||
		fail "info of $file: $("$KISEKI" info $file)"
	! "$KISEKI" info $file | grep -q nanoseconds || fail "info calls the ticks of $file nanoseconds"
	for report in sched latency; do
		! "$KISEKI" report $report $file >out 2>err || fail "report $report of the ticks of $file"
		grep -q 'ticks of unknown length' err || fail "report $report of $file says $(cat err)"
	done
	! "$KISEKI" convert $file --to +1 -o out.ksk 2>err || fail "ticks of $file selected by time"
	busy=$("$KISEKI" report sched --clock-hz 2.5G --json $file | jq '.all_tasks.cpu_ns')
	[ "$busy" = 1000000 ] || fail "a millisecond of 2.5 GHz in $file is $busy ns"
	"$KISEKI" convert $file -o out.pftrace 2>err
	grep -q 'nobody knows how long' err || fail "the export of $file says nothing of its ticks: $(cat err)"
	"$KISEKI" convert --clock-hz 2.5G $file -o out.pftrace 2>err
	! grep -q 'nobody knows how long' err || fail "the export of $file with its rate: $(cat err)"
done
! "$KISEKI" info --clock-hz 1G 6.ksk >out 2>err || fail "a rate for a clock of nanoseconds"
grep -q 'has nanoseconds already' err || fail "a rate for nanoseconds: $(cat err)"
