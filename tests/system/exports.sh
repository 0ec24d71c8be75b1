#!/bin/bash
# SPDX-License-Identifier: MIT
# exports: the general formats are what their own tools take: jq (JSON, NDJSON, Chrome), xmllint with
# the schema (XML), and awk for the shape of the CSV; through a file and through a pipe; and the
# filters select what they say.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in jq xmllint; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done

cat >in.txt <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 6/6   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
          <idle>-0       [000] d..2.   100.000001: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a <b> & "c" next_pid=11 next_prio=120
     a <b> & "c"-11      [000] d..4.   100.000002: sched_waking: comm=worker pid=12 prio=98 target_cpu=001
          <idle>-0       [001] d..2.   100.000004: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=worker next_pid=12 next_prio=98
          worker-12      [001] d..2.   100.000010: sched_switch: prev_comm=worker prev_pid=12 prev_prio=98 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
     a <b> & "c"-11      [000] d..2.   100.000020: sched_switch: prev_comm=a <b> & "c" prev_pid=11 prev_prio=120 prev_state=R+ ==> next_comm=swapper/0 next_pid=0 next_prio=120
END

fail() {
	echo "exports: $*"
	exit 1
}

for f in json ndjson xml csv; do
	"$KISEKI" convert in.txt -o out.$f
	"$KISEKI" convert in.txt -o - --format $f >pipe.$f
	cmp out.$f pipe.$f || fail "$f differs through a pipe"
done
"$KISEKI" convert in.txt -o chrome.json --format chrome

[ "$(jq '.events | length' out.json)" = 5 ] || fail "json does not have 5 events"
[ "$(jq -r '.events[0].next_comm' out.json)" = 'a <b> & "c"' ] || fail "json changes a name"
[ "$(jq '.events[4].ns' out.json)" = 100000020000 ] || fail "json changes a time"
[ "$(jq -r '.events[4].prev_state_text' out.json)" = R+ ] || fail "json changes a state"
[ "$(jq -s '[.[] | select(.kind == "switch")] | length' out.ndjson)" = 4 ] || fail "ndjson"
[ "$(jq -s -r '.[-1].kind' out.ndjson)" = totals ] || fail "ndjson has no totals"
xmllint --noout --schema "$SRC/docs/format/trace.xsd" out.xml 2>xml.log || fail "$(cat xml.log)"
[ "$(xmllint --xpath 'count(//event)' out.xml)" = 5 ] || fail "xml does not have 5 events"
[ "$(wc -l <out.csv)" = 6 ] || fail "csv does not have 6 lines"
grep -q '"a <b> & ""c"""' out.csv || fail "csv quotes wrongly"
[ "$(jq '[.traceEvents[] | select(.ph == "X" and .name == "worker")] | length' chrome.json)" = 1 ] ||
	fail "chrome lacks the slice of worker"
[ "$(jq '[.traceEvents[] | select(.ph == "s" or .ph == "f")] | length' chrome.json)" = 2 ] ||
	fail "chrome lacks the arrow"

count() {
	"$KISEKI" convert in.txt -o - --format ndjson "$@" |
		jq -s '[.[] | select(.ns)] | length'
}
[ "$(count --cpu 1)" = 2 ] || fail "--cpu"
[ "$(count --pid 12)" = 3 ] || fail "--pid"
[ "$(count --comm 'work*')" = 3 ] || fail "--comm"
[ "$(count --event waking)" = 1 ] || fail "--event"
[ "$(count --from 100.000004 --to 100.000020)" = 2 ] || fail "--from, --to"
[ "$(count --from +3us)" = 3 ] || fail "--from +"
if "$KISEKI" convert in.txt -o - --format json --cpu 3-1 2>err; then
	fail "--cpu 3-1 is taken"
fi
[ "$(wc -l <err)" = 1 ] || fail "an error is not one line"
