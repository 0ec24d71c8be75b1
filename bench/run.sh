#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh: what `make bench` does.
#
#	run.sh [--cold] [--runs N] [TRACE.dat…]
#
# Last of all it times the overview of a day (timeline.c) made of the first trace: EVENTS in all,
# 500 million if not said, which takes some minutes and about a gigabyte in $TMPDIR or /tmp.
#
# Without traces it takes those in build/bench/traces, and records them first if there are none
# (record.sh; needs root). Then it measures (trace_bench.c) and writes build/bench/trace.json,
# build/bench/trace.svg, and for the reader of the repository bench/RESULTS.md with its plot.
# $BUILD is the folder that meson made, build beside this folder if not said.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
src=$(dirname "$here")
build=${BUILD:-$src/build}
options=()
traces=()

say() { echo "bench: $*" >&2; }

die()
{
	say "$*"
	exit 1
}

parse_arguments()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--cold) options+=("$1") ;;
		--runs)
			[ $# -gt 1 ] || die "--runs wants a number"
			options+=("$1" "$2")
			shift
			;;
		-*) die "usage: run.sh [--cold] [--runs N] [TRACE.dat…]" ;;
		*)
			[ -r "$1" ] || die "cannot read $1"
			traces+=("$1")
			;;
		esac
		shift
	done
}

# The compressors' libraries may have been installed after the build was set up: look again.
build_programs()
{
	[ -f "$build/build.ninja" ] || die "no build in $build: run make first"
	if [ ! -x "$build/bench/trace_bench" ]; then
		say "setting up $build again, to find the compressors"
		meson setup --reconfigure "$build" >/dev/null
	fi
	ninja -C "$build" >/dev/null || die "the build fails: run make"
	[ -x "$build/bench/trace_bench" ] ||
		die "trace_bench needs liblz4 and liblzma with their headers (tools/setup bench)"
}

find_recordings()
{
	local trace
	for trace in "$build"/bench/traces/{build,message,web,idle}.dat; do
		[ -s "$trace" ] && traces+=("$trace")
	done
	return 0
}

# All of them are made again when one of them failed, so that they are of one machine and day.
get_traces()
{
	[ ${#traces[@]} -gt 0 ] && return
	find_recordings
	if [ ${#traces[@]} -gt 0 ]; then
		say "measuring the recordings in $build/bench/traces (remove them to record again)"
		return
	fi
	[ "$(id -u)" = 0 ] || die "recording needs root; give traces: make bench TRACES='a.dat b.dat'"
	say "recording on this machine"
	TRACES_DIR=$build/bench/traces BUILD=$build "$here/record.sh" || {
		rm -rf "$build/bench/traces"
		die "recording failed"
	}
	find_recordings
}

parse_arguments "$@"
build_programs
get_traces
say "measuring ${#traces[@]} traces, each twice; xz and zstd -19 take 70 s and more per million events"
"$build/bench/trace_bench" --kiseki "$build/src/cli/kiseki" --scratch "$build/bench" \
	--json "$build/bench/trace.json" --svg "$build/bench/trace.svg" \
	--markdown "$here/RESULTS.md" --plot trace.svg "${options[@]}" "${traces[@]}"
cp "$build/bench/trace.svg" "$here/trace.svg"
say "wrote bench/RESULTS.md, bench/trace.svg, and trace.json and trace.svg in $build/bench"
say "the overview of a day, ${EVENTS:-500000000} events"
"$build/bench/timeline" --events "${EVENTS:-500000000}" --json "$build/bench/timeline.json" "${traces[0]}"
