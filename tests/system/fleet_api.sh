#!/bin/bash
# SPDX-License-Identifier: MIT
# What a collector and the command line answer about many devices and long times, from facts; and the file of facts, read by
# a second reader.
set -u
if ! command -v python3 >/dev/null; then
	echo "skipped: python3 is not installed"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
exec timeout 550 python3 "$SRC/tests/tools/fleet_driver.py" "$KISEKI" "$FILL_FACTS" \
	"$SRC/tests/data/func/sample.ksk"
