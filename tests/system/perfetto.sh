#!/bin/bash
# SPDX-License-Identifier: MIT
# The Perfetto export as protoc decodes it with our schema of the used part: no unknown fields, the
# same number of every event, fields as they were.
set -eu
command -v protoc >/dev/null || { echo "protoc is not installed"; exit 77; }
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

fail() { echo "FAILED: $*"; exit 1; }

"$KISEKI" convert "$SRC/tests/data/lttng" -o out.perfetto --format perfetto
protoc -I "$SRC/tests/data" --decode=kiseki.Trace perfetto_subset.proto <out.perfetto >text

# protoc prints fields that the schema does not know by their number.
if grep -qE '^ *[0-9]+[ :]' text; then fail "unknown fields"; fi

count() { grep -cE "^ +$1 (\{|:)" text || true; }
[ "$(count sched_switch)" = 1 ] || fail "sched_switch: $(count sched_switch)"
[ "$(count sched_waking)" = 4 ] || fail "sched_waking: $(count sched_waking)"
[ "$(count sched_process_fork)" = 1 ] || fail "sched_process_fork"
[ "$(count sched_process_exec)" = 1 ] || fail "sched_process_exec"
[ "$(count sched_pi_setprio)" = 1 ] || fail "sched_pi_setprio"
[ "$(grep -c 'lost_events: true' text)" = 2 ] || fail "lost_events"
grep -q 'overrun: 5' text || fail "the number of lost events"
grep -q 'release: "5.10.7-test"' text || fail "the kernel's release"

grep -A7 'sched_switch {' text | tr -s ' \n' ' ' >fields
grep -q 'prev_comm: "init" prev_pid: 10 prev_prio: 120 prev_state: 1026 next_comm: "worker" next_pid: 11 next_prio: 49' fields ||
	fail "fields of sched_switch: $(cat fields)"
grep -B3 'sched_switch {' text | grep -q 'timestamp: 1200' || fail "the stamp of sched_switch"

# A pipe gives the same bytes.
"$KISEKI" convert "$SRC/tests/data/lttng" -o - --format perfetto | cmp - out.perfetto ||
	fail "a pipe differs"
