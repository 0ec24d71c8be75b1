#!/bin/bash
# SPDX-License-Identifier: MIT
# The recorder of boots on this machine: what it sees, as pid 1, when something goes wrong, when it ends.
# boot_record.sh SCENARIO
set -u
if ! command -v python3 >/dev/null; then
	echo "skipped: python3 is not installed"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
timeout 400 python3 "$SRC/tests/tools/boot_live.py" "$KISEKI" "$1" "$work"
