#!/bin/bash
# SPDX-License-Identifier: MIT
# From every format that can be read, through .ksk, into every format: the readers of those formats
# must take them and find as many events; and what can be read back must have the same events, field
# by field, on every CPU in the same order.
#
# Never compared, because they are another form of the same: ticks (a clock may be counted in other
# units; ns stays), and where a loss began and ended (a file has it between two events; recorders
# that write packets name the packets' times). Per format, what it cannot hold:
#	ftrace		digits below a microsecond, which it rounds as the kernel does; bits of a
#			task's state that have no letter
#	trace.dat	that flags are not known: they become 0; order of equal stamps across CPUs
#	ctf		order of equal stamps across CPUs
set -eu
for tool in jq xmllint protoc babeltrace2 trace-cmd; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }

# Notes tell what a format cannot hold, and are all that may be said.
kiseki() {
	"$KISEKI" "$@" 2>messages || fail "kiseki $*: $(cat messages)"
	grep -v '^kiseki: note: ' messages && fail "kiseki $* says more than notes"
	return 0
}

# events FILE [JQ]: its events and losses, one JSON object per line, changed by a jq filter.
events() {
	kiseki convert "$1" -o events.ndjson
	jq -Sc "select(.ns != null)
		| if .kind == \"lost\" then {kind, cpu, count, cause} else del(.tick, .tick_off_ns) end
		| ${2:-.}" events.ndjson
}

# The order on each CPU with the losses in it, whatever the order of the CPUs; and the order of all
# events, where losses may stand anywhere between two events of their CPU.
by_cpu() { jq -Ssc 'sort_by(.cpu) | .[]'; } # stable
by_time() { jq -Ssc 'sort_by(.cpu) + map(select(.kind != "lost")) | .[]'; }

as_text='del(.prev_state) | if .ns then .ns = (((.ns + 500) / 1000 | floor) * 1000) else . end'
no_flags='if .kind == "lost" then . else .common_flags //= 0 | .common_preempt_count //= 0 end'
same='.'

# back NAME FORMAT FILTER ORDER: what comes back from a format against what was there.
back() {
	local name=$1 format=$2 filter=$3 order=$4
	rm -rf "back.$format"
	kiseki convert in.ksk -o "back.$format" --format "$format"
	jq -Sc "$filter" in.events | $order >expected
	events "back.$format" "$filter" | $order >found
	diff expected found | head -4
	cmp expected found || fail "$name: $format changes the events"
}

# What the readers of the formats count.
readers() {
	local name=$1 n=$2 found format
	for format in json ndjson xml csv chrome perfetto; do
		kiseki convert in.ksk -o out.$format --format $format
	done
	jq -e ".totals.events == $n and (.events | map(select(.kind != \"lost\")) | length) == $n" \
		out.json >/dev/null || fail "$name: json does not have $n events"
	xmllint --noout --schema "$SRC/docs/format/trace.xsd" out.xml 2>messages ||
		fail "$name: $(head -3 messages)"
	[ "$(xmllint --xpath 'count(//event[@kind != "lost"])' out.xml)" = "$n" ] ||
		fail "$name: xml does not have $n events"
	found=$(tail -n +2 out.csv | grep -vc '^lost,' || true)
	[ "$found" = "$n" ] || fail "$name: csv has $found events of $n"
	jq -e '.traceEvents | length > 0' out.chrome >/dev/null || fail "$name: chrome is empty"
	protoc -I "$SRC/tests/data" --decode=kiseki.Trace perfetto_subset.proto \
		<out.perfetto >perfetto.text 2>messages || fail "$name: protoc: $(cat messages)"
	grep -E '^ *[0-9]+[ :]' perfetto.text && fail "$name: perfetto has unknown fields"
	found=$(grep -cE '^ +(sched_\w+|task_rename) \{' perfetto.text || true)
	[ "$found" = "$n" ] || fail "$name: perfetto has $found events of $n"
	found=$(babeltrace2 back.ctf 2>messages | grep -cE ' (sched_|task_)\w+: ' || true)
	[ "$found" = "$n" ] || fail "$name: babeltrace2 finds $found events of $n: $(cat messages)"
	found=$(trace-cmd report -R back.trace.dat 2>messages | grep -cE ': *(sched_|task_)\w+: ' || true)
	[ "$found" = "$n" ] || fail "$name: trace-cmd finds $found events of $n: $(cat messages)"
}

through() {
	local in=$1 name n
	name=$(basename "$in")
	events "$in" >in.events
	n=$(grep -vc '"kind":"lost"' in.events || true)
	[ "$n" -gt 0 ] || fail "$name: no events"
	rm -rf in.ksk
	kiseki convert "$in" -o in.ksk
	"$KISEKI" check in.ksk >messages || fail "$name: check: $(cat messages)"
	back "$name" ksk "$same" by_time
	back "$name" ftrace "$as_text" by_time
	back "$name" trace.dat "$no_flags" by_cpu
	back "$name" ctf "$same" by_cpu
	readers "$name" "$n"
	echo "$name: $n events"
}

# A systrace page is ftrace text inside HTML.
{
	printf '<!DOCTYPE html>\n<html>\n<body>\n<script class="trace-data" type="application/text">\n'
	cat "$SRC/tests/data/ftrace_4.19.txt"
	printf '</script>\n</body>\n</html>\n'
} >page.html
# Chains of tasks that are broken by losses, with and without a count.
{
	head -40 "$SRC/tests/data/ftrace_6.18.txt"
	echo 'CPU:1 [LOST 12 EVENTS]'
	tail -n +41 "$SRC/tests/data/ftrace_6.18.txt" | head -20
	echo 'CPU:0 [LOST EVENTS]'
	tail -n +61 "$SRC/tests/data/ftrace_6.18.txt"
} >losses.txt

for in in "$SRC"/tests/data/ftrace_*.txt "$SRC"/tests/data/small-v*.dat "$SRC/tests/data/lttng" \
	"$SRC/docs/examples/pipeline.trace" page.html losses.txt; do
	through "$in"
done
