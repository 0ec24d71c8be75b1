#!/bin/bash
# SPDX-License-Identifier: MIT
# Boot charts at a real collector: a fake device (tests/tools/fake_device.py) brings what a file has, and
# what comes out is that; breaks, kills, losses, bad payloads, and an agent of the same device beside it.
set -u
if ! command -v python3 >/dev/null; then
	echo "skipped: python3 is not installed"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

"$BOOT_MAKE" "$SRC/tests/data/boot/small.boot" "$work/small.ksk" 200 || exit 1
"$BOOT_MAKE" --dump "$work/small.ksk" >"$work/small.dump" || exit 1

# Most of their time they wait, so they run together.
scenarios=(stored charted reported resumed lost beside hostile)
pids=()
for scenario in "${scenarios[@]}"; do
	timeout 400 python3 "$SRC/tests/tools/boot_driver.py" "$KISEKI" "$scenario" "$work" \
		>"$work/$scenario.out" 2>&1 &
	pids+=($!)
done
for i in "${!scenarios[@]}"; do
	wait "${pids[i]}" || { echo "boot_collector: ${scenarios[i]} failed"; failed=1; }
	cat "$work/${scenarios[i]}.out"
done
exit $failed
