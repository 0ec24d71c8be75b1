#!/bin/bash
# SPDX-License-Identifier: MIT
# CTF with babeltrace2 as the judge: what it reads from an LTTng trace and from our export of that
# trace must be the same lines, and it must report the same losses.
set -eu
command -v babeltrace2 >/dev/null || { echo "babeltrace2 is not installed"; exit 77; }
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

fail() { echo "FAILED: $*"; exit 1; }

# Stamps and events without the column of differences, which other events in between change.
# Forks have processes in our export that this small LTTng trace does not have.
lines() {
	babeltrace2 "$1" 2>/dev/null | grep -E ' (sched_|task_)' | cut -d' ' -f1,3- |
		sed -E 's/, (parent|child)_pid = -?[0-9]+//g' | sort
}

"$KISEKI" convert "$SRC/tests/data/lttng" -o out --format ctf
lines "$SRC/tests/data/lttng" >expected
lines out >found
[ "$(wc -l <expected)" = 8 ] || fail "the input has $(wc -l <expected) lines"
cmp expected found || fail "events differ"

babeltrace2 out >/dev/null 2>warnings
grep -q 'Tracer discarded 5 events between' warnings || fail "no discarded events: $(cat warnings)"
grep -q 'Tracer discarded 1 packet between' warnings || fail "no discarded packet: $(cat warnings)"

# Again through our own import: the same bytes, as the identity of a trace follows from its content.
"$KISEKI" convert out -o again --format ctf
diff -r out again || fail "a second pass changes the export"

# What the trace does not know is not there, for a reader would take a number for it: flags and preempt
# counts of a text without these columns.
"$KISEKI" convert "$SRC/tests/data/ftrace_6.18_no_irq_info.txt" -o unknown.ctf 2>message || fail "$(cat message)"
babeltrace2 unknown.ctf >text
grep -q 'tid = [1-9]' text || fail "no tid: $(head -1 text)"
if grep -E 'common_flags|common_preempt_count' text | head -1 | grep .; then fail "flags that nobody knows"; fi
[ "$("$KISEKI" info --json unknown.ctf | sed -n 's/^ *"bytes": \([0-9]*\),$/\1/p')" = "$(cat unknown.ctf/* | wc -c)" ] || fail "the bytes of a folder"

# What is not ours is not touched, and a pipe is refused.
mkdir other && echo hello >other/file
if "$KISEKI" convert out -o other --format ctf 2>message; then fail "replaced a foreign folder"; fi
[ "$(wc -l <message)" = 1 ] || fail "not one line: $(cat message)"
[ "$(cat other/file)" = hello ] || fail "touched a foreign folder"
if "$KISEKI" convert out -o - --format ctf 2>/dev/null >/dev/null; then fail "wrote CTF to a pipe"; fi

# Damage: one line, exit 1.
cp -r "$SRC/tests/data/lttng" broken
truncate -s -1 broken/channel0_0
status=0
"$KISEKI" convert broken -o broken.ksk 2>message || status=$?
[ $status = 1 ] || fail "exit $status for a damaged trace"
[ "$(wc -l <message)" = 1 ] || fail "not one line: $(cat message)"
[ ! -e broken.ksk ] || fail "left an incomplete file"
