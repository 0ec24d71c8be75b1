#!/bin/bash
# SPDX-License-Identifier: MIT
#
# agent_size: the static agent is a file of at most 1 MiB that needs nothing else.
#
#	agent_size.sh TOOL FOLDER      (TOOL: tools/build-static-agent; FOLDER is kept, to build on)
set -euo pipefail
tool=$1 folder=$2 limit=$((1 << 20))

command -v musl-gcc >/dev/null || {
	echo "skipped: musl-gcc is not installed"
	exit 77
}
"$tool" "$folder"
agent=$folder/kiseki-agent
size=$(stat -c %s "$agent")
echo "agent $size of $limit bytes"
[ "$size" -le $limit ]
if grep -q 'ld-musl\|ld-linux' "$agent"; then
	echo "it is not static"
	exit 1
fi
"$agent" --version | grep -q '^kiseki-agent '
"$agent" --help >/dev/null
