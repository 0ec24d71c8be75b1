#!/bin/bash
# SPDX-License-Identifier: MIT
#
# agent_size: the static agent is a file of a limited size that needs nothing else, and it works.
#
#	agent_size.sh TOOL FOLDER LIMIT AGENT [--bpf]
#
# TOOL is tools/build-static-agent, FOLDER is kept to build on. As root, the static agent must be able
# to record by what AGENT, the one of the usual build, can; --bpf is passed on to the tool, and means
# that it can by BPF, too.
set -euo pipefail
tool=$1 folder=$2 limit=$3 usual=$4 bpf=${5-}

skip()
{
	echo "skipped: $*"
	exit 77
}

if [ -z "$bpf" ]; then
	command -v musl-gcc >/dev/null || skip "musl-gcc is not installed"
else
	for library in bpf elf z; do
		file=$(gcc -print-file-name=lib$library.a)
		[ -f "$file" ] || skip "lib$library.a is not installed"
	done
fi
"$tool" ${bpf:+"$bpf"} "$folder"
agent=$folder/kiseki-agent
size=$(stat -c %s "$agent")
echo "agent $size of $limit bytes"
[ "$size" -le "$limit" ]
if readelf -lW "$agent" | grep -q INTERP; then
	echo "it is not static"
	exit 1
fi
"$agent" --version | grep -q '^kiseki-agent '
"$agent" --help >/dev/null

# The recorder of boots is made beside it; its limit is a megabyte, unless libbpf is in it.
boot=$folder/kiseki-boot
size=$(stat -c %s "$boot")
[ -n "$bpf" ] || limit=1048576
echo "boot $size of $limit bytes"
[ "$size" -le "$limit" ]
if readelf -lW "$boot" | grep -q INTERP; then
	echo "it is not static"
	exit 1
fi
"$boot" --version | grep -q '^kiseki-boot '

# So is the program for guests, with the same limit.
guest=$folder/kiseki-guest
size=$(stat -c %s "$guest")
echo "guest $size of $limit bytes"
[ "$size" -le "$limit" ]
if readelf -lW "$guest" | grep -q INTERP; then
	echo "it is not static"
	exit 1
fi
"$guest" --version | grep -q '^kiseki-guest '

# What it can record by, on this machine and now.
sources()
{
	local line
	line=$("$1" doctor --json | grep '"sources":')
	[ -n "$bpf" ] || line=${line/'"bpf": true'/'"bpf": false'}
	echo "$line"
}
can=$(sources "$agent")
want=$(sources "$usual")
echo "it can record by$can"
if [ "$can" != "$want" ]; then
	echo "the usual one can by$want"
	exit 1
fi
