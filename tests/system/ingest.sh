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

for scenario in vectors resume takeover stop limit idle bad_peers kill; do
	if ! timeout 120 python3 "$SRC/tests/tools/ingest_driver.py" "$KISEKI" $scenario; then
		echo "ingest: $scenario failed"
		failed=1
	fi
done

# A disk that fills up needs a file system of its own, and a name space in which to mount it.
driver=(python3 "$SRC/tests/tools/ingest_driver.py" "$KISEKI" full)
if ! unshare -m true 2>/dev/null; then
	echo "ingest: not tried: a full disk (no right to mount)"
elif ! timeout 120 unshare -m "${driver[@]}"; then
	echo "ingest: full failed"
	failed=1
fi
exit $failed
