#!/bin/bash
# SPDX-License-Identifier: MIT
# What the page asks a real collector for: reports, trees, comparisons and spans of calls, of any part of the
# time; who told which device what; groups of devices.
set -u
if ! command -v python3 >/dev/null; then
	echo "skipped: python3 is not installed"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Most of their time they wait, so they run together.
scenarios=(calls names instructions groups)
pids=()
for scenario in "${scenarios[@]}"; do
	timeout 550 python3 "$SRC/tests/tools/api_driver.py" "$KISEKI" "$scenario" \
		"$SRC/tests/data/func/sample.ksk" >"$work/$scenario.out" 2>&1 &
	pids+=($!)
done
for i in "${!scenarios[@]}"; do
	wait "${pids[i]}" || { echo "api: ${scenarios[i]} failed"; failed=1; }
	cat "$work/${scenarios[i]}.out"
done
exit $failed
