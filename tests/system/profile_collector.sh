#!/bin/bash
# SPDX-License-Identifier: MIT
# Profiles at a real collector: kiseki-agent samples this machine and sends it over loopback, with a file beside it that has
# all of it; collectors that are killed, away for longer than the memory lasts, or have a full disk; and
# recordings of virtual machines, which a fake device (tests/tools/fake_device.py) brings out of a file.
set -u
if ! command -v python3 >/dev/null; then
	echo "skipped: python3 is not installed"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

"$SAMPLE_MAKE" "$SRC/tests/golden/vm/two.sample" "$work/machines.ksk" 60 200 || exit 1
"$SAMPLE_MAKE" "$SRC/tests/golden/profile/before.profile" "$work/plain.ksk" || exit 1

"$SRC/tests/tools/raise_sample_limit"
scenarios=(machines twice exported)
if "$AGENT" profile -e cpu-clock -o "$work/try.ksk" -- true 2>"$work/err"; then
	scenarios+=(live cut overrun alone away)
	if unshare -m true 2>/dev/null; then
		scenarios+=(full)
	else
		echo "profile_collector: not tried: a full disk (no right to mount)"
	fi
else
	echo "profile_collector: not tried: this machine lets nobody be sampled: $(cat "$work/err")"
fi

# Most of their time they wait, so they run together.
pids=()
for scenario in "${scenarios[@]}"; do
	command=(timeout 500 python3 "$SRC/tests/tools/profile_driver.py" "$KISEKI" "$scenario" "$work")
	[ "$scenario" != full ] || command=(unshare -m "${command[@]}")
	"${command[@]}" >"$work/$scenario.out" 2>&1 &
	pids+=($!)
done
for i in "${!scenarios[@]}"; do
	wait "${pids[i]}" || { echo "profile_collector: ${scenarios[i]} failed"; failed=1; }
	cat "$work/${scenarios[i]}.out"
done
exit $failed
