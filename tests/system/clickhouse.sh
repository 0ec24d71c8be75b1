#!/bin/bash
# SPDX-License-Identifier: MIT
# Collectors that keep blocks in ClickHouse: the same bytes as from a folder, several collectors at
# once, numbers of runs, retention, a cluster, and a server that is down, slow, full or refuses.
set -u
if ! command -v clickhouse-server >/dev/null && [ ! -x /usr/sbin/clickhouse-server ]; then
	echo "skipped: clickhouse-server is not installed"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
scenarios=(same roam numbers cluster cluster_down retain down slow refused)
if unshare -m true 2>/dev/null; then
	scenarios+=(full)
else
	echo "clickhouse: not tried: a full disk (no right to mount)"
fi
# A few at a time: each has one or two servers.
running=0
for scenario in "${scenarios[@]}"; do
	[ $running -lt 4 ] || { wait -n; running=$((running - 1)); }
	command=(timeout 400 python3 "$SRC/tests/tools/clickhouse_driver.py" "$KISEKI" "$scenario")
	[ "$scenario" != full ] || command=(unshare -m "${command[@]}")
	{ "${command[@]}" >"$work/$scenario.out" 2>&1 && touch "$work/$scenario.passed"; } &
	running=$((running + 1))
done
wait
for scenario in "${scenarios[@]}"; do
	[ -e "$work/$scenario.passed" ] || { echo "clickhouse: $scenario failed"; failed=1; }
	cat "$work/$scenario.out"
done
exit $failed
