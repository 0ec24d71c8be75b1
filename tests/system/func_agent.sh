#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that a real agent traces, and a real collector keeps, against a reference of their calls: threads,
# children, sudden ends; the agent killed while they run; memory that is full; off and on.
set -u
[ -n "${CALLS-}" ] && [ -e "$CALLS" ] || { echo "skipped: the programs of tests/func are not built here"; exit 77; }
exec python3 "$SRC/tests/tools/func_agent.py" "$@"
