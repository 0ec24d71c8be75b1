#!/bin/bash
# SPDX-License-Identifier: MIT
# The real collector and devices that are none (tests/tools/fake_device.py, written from the
# specification alone): resuming, one connection per device, bad peers beside a good one, kill -9,
# what an idle connection costs, stopping, limits; and that it listens on loopback only.
set -u
if ! command -v python3 >/dev/null; then
	echo "skipped: python3 is not installed"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for listen in "--listen 0.0.0.0:0" "--http 0.0.0.0:0" "--listen [::]:0"; do
	# shellcheck disable=SC2086 # an option and its argument
	"$KISEKI" serve --data "$work/refused" --config /dev/null $listen >/dev/null 2>"$work/err"
	if [ $? != 1 ] || ! grep -q "^kiseki: cannot listen on .*ssh -L.*--insecure-listen" "$work/err"; then
		echo "ingest: serve $listen: not refused: $(cat "$work/err")"
		failed=1
	fi
	[ ! -e "$work/refused" ] || { echo "ingest: serve $listen left a folder"; failed=1; }
done

# Each has its own folder and port; most of their time they wait, so they run together. A disk that
# fills up needs a file system of its own, and a name space in which to mount it.
scenarios=(vectors resume takeover stop limit idle bad_peers kill held)
[ -n "${KISEKI_TEST_STORE-}" ] || scenarios+=(files no_file flood) # these are about the collector alone
if [ -n "${KISEKI_TEST_STORE-}" ]; then
	: # the disk is the server's
elif unshare -m true 2>/dev/null; then
	scenarios+=(full)
else
	echo "ingest: not tried: a full disk (no right to mount)"
fi
pids=()
for scenario in "${scenarios[@]}"; do
	command=(timeout 400 python3 "$SRC/tests/tools/ingest_driver.py" "$KISEKI" "$scenario")
	[ "$scenario" != full ] || command=(unshare -m "${command[@]}")
	"${command[@]}" >"$work/$scenario.out" 2>&1 &
	pids+=($!)
done
for i in "${!scenarios[@]}"; do
	wait "${pids[i]}" || { echo "ingest: ${scenarios[i]} failed"; failed=1; }
	cat "$work/${scenarios[i]}.out"
done
exit $failed
