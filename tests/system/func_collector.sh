#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs of programs at a real collector: a fake device (tests/tools/fake_device.py) sends what a file of
# calls has, beside a run of its scheduler; what the commands say of it is what they say of the file.
# Kills, duplicates, losses, devices that lie, and switching programs on and off.
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
scenarios=(report kill lost hostile switch)
pids=()
for scenario in "${scenarios[@]}"; do
	timeout 400 python3 "$SRC/tests/tools/func_driver.py" "$KISEKI" "$scenario" \
		"$SRC/tests/data/func/sample.ksk" >"$work/$scenario.out" 2>&1 &
	pids+=($!)
done
for i in "${!scenarios[@]}"; do
	wait "${pids[i]}" || { echo "func_collector: ${scenarios[i]} failed"; failed=1; }
	cat "$work/${scenarios[i]}.out"
done
exit $failed
