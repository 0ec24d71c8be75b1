#!/bin/bash
# SPDX-License-Identifier: MIT
# The doctor on this machine: it says what works, and cleans up behind those that were killed.
set -eu
instances=/sys/kernel/tracing/instances

fail() { echo "FAILED: $*"; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

[ -w $instances ] || skip "no tracefs that we may write to: not root, or not mounted"
sleep 0 &
dead=$!
wait $dead
mine=$instances/kiseki-doctor-all-$$ other=$instances/kiseki-doctor-mine
left=($instances/kiseki-doctor-all-$dead $instances/kiseki-func-$dead)
trap 'for i in "${left[@]}" "$mine" "$other"; do [ ! -d "$i" ] || rmdir "$i"; done' EXIT
for i in "${left[@]}" "$mine" "$other"; do
	mkdir "$i" || skip "cannot make a tracing instance"
	echo 1 >"$i/events/sched/sched_process_exit/enable"
done

said=$("$AGENT" doctor) || fail "the doctor finds that nothing works here: $said"
grep -q "instances of killed processes" <<<"$said" || fail "no word of what was left: $said"
for i in "${left[@]}"; do
	[ ! -d "$i" ] || fail "$i of a process that is no more is still there"
done
[ -d "$mine" ] || fail "the instance of a process that runs is gone"
[ -d "$other" ] || fail "an instance that is nobody's is gone"

# Killed in the middle of its comparison, it is cleaned up by the next.
"$AGENT" doctor >/dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do
	[ ! -d $instances/kiseki-doctor-idle-$pid ] || break
	sleep 0.02
done
kill -9 $pid
wait $pid 2>/dev/null || true
"$AGENT" doctor >/dev/null
[ -z "$(ls $instances | grep -e "-$pid\$" || true)" ] || fail "a killed doctor's instance is left"
