#!/bin/bash
# SPDX-License-Identifier: MIT
# Profiles of a whole machine that go on: with a duty, a budget, recorders that end and come again, and processes by the
# thousand. tests/tools/continuous_driver.py has the scenarios.
set -u
if ! command -v python3 >/dev/null; then
	echo "skipped: python3 is not installed"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

if ! "$AGENT" profile --all -t 10ms -o "$work/try.ksk" 2>"$work/err"; then
	echo "skipped: this machine lets nobody sample all of it: $(cat "$work/err")"
	exit 77
fi
pids=()
scenarios=(duty budget gaps told)
for scenario in "${scenarios[@]}"; do
	timeout 500 python3 "$SRC/tests/tools/continuous_driver.py" "$KISEKI" "$scenario" "$work" >"$work/$scenario.out" 2>&1 &
	pids+=($!)
done
for i in "${!scenarios[@]}"; do
	wait "${pids[i]}" || { echo "continuous: ${scenarios[i]} failed"; failed=1; }
	cat "$work/${scenarios[i]}.out"
done
# It makes so many processes that the others would see nothing else.
timeout 500 python3 "$SRC/tests/tools/continuous_driver.py" "$KISEKI" forks "$work" || failed=1
exit $failed
