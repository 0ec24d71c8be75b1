#!/bin/bash
# SPDX-License-Identifier: MIT
# The running kernel as the judge: a short recording in a tracing instance of its own, taken as the
# text of the kernel's trace file and, by trace-cmd, as the ring's pages. The text must come back
# from .ksk, and the pages, which know no text, must print as the kernel printed them: byte for byte
# but for the names of who ran, which are those of the moment (tests/tools/same_text.py).
set -eu
tracefs=/sys/kernel/tracing
name=kiseki-test-$$
instance=$tracefs/instances/$name
events="sched/sched_switch sched/sched_waking sched/sched_wakeup_new sched/sched_process_fork
	sched/sched_process_exec sched/sched_process_exit task/task_rename"

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

command -v trace-cmd >/dev/null || skip "trace-cmd is not installed"
[ -w $tracefs/instances ] || skip "no tracefs that we may write to: not root, or not mounted"
work=$(mktemp -d)
trap 'rm -rf "$work"; [ ! -d $instance ] || rmdir $instance' EXIT
cd "$work"

load() {
	local i
	for i in 1 2 3 4 5 6 7 8; do
		seq 300 | sort | wc -l >lines
		(exec -a "name with -9 [000] blanks" sleep 0.01) &
		sleep 0.02
	done
	wait
}

# The names of tasks are in a table of the whole system that others may change meanwhile, and then
# the text and the pages do not have the same names; so it is read before and after.
record() {
	local event
	mkdir $instance || skip "cannot make a tracing instance"
	echo 8192 >$instance/buffer_size_kb
	for event in $events; do
		echo 1 >"$instance/events/$event/enable" || skip "this kernel has no $event"
	done
	load
	echo 0 >$instance/tracing_on
	cat $tracefs/saved_cmdlines >names.before
	cat $instance/trace >trace.txt
	# It takes the pages out of the ring and removes the instance.
	trace-cmd extract -B $name -o trace.dat >extract.log 2>&1 || fail "$(cat extract.log)"
	cat $tracefs/saved_cmdlines >names.after
	[ ! -d $instance ] || rmdir $instance
	cmp -s names.before names.after
}

tries=1
until record; do
	[ $((tries++)) -lt 5 ] || skip "others are tracing: the table of names does not stand still"
done
count=$(grep -vc '^#' trace.txt)
[ "$count" -ge 100 ] || fail "the kernel recorded only $count events"
for event in $events; do
	grep -q ": ${event#*/}: " trace.txt || fail "the recording has no $event"
done

"$KISEKI" convert trace.txt -o text.ksk
"$KISEKI" check text.ksk >check.log || fail "check: $(cat check.log)"
"$KISEKI" convert text.ksk -o text.txt
python3 "$SRC/tests/tools/same_text.py" trace.txt text.txt || fail "text changes on its way through .ksk"

"$KISEKI" convert trace.dat -o pages.ksk
"$KISEKI" check pages.ksk >check.log || fail "check: $(cat check.log)"
"$KISEKI" convert pages.ksk -o pages.txt --format ftrace 2>/dev/null # notes that stamps lose digits
python3 "$SRC/tests/tools/same_text.py" trace.txt pages.txt || fail "pages print other lines than the kernel's"
echo "$count events, byte for byte"
