#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh: what `make bench` does.
#
#	run.sh [--part PART]... [--quick] [--cold] [--runs N] [TRACE.dat…]
#
# The parts, all of them if none is named:
#
#	trace     codecs and conversions beside other tools' (trace_bench.c)
#	device    what tracing costs the device (device.py); needs root
#	latency   from the event to the browser (latency.py); needs root
#	profile   what sampling costs (profile.py); needs root and perf
#	ingest    how fast the collector stores (ingest.sh)
#	tls       what devices with keys bring, beside the same without (tls.py)
#	timeline  the overview of a day (timeline.c): EVENTS in all, 500 million if not said, which takes
#	          some minutes and about a gigabyte in /tmp
#	facts     the functions of a thousand devices over a day (facts.c); a gigabyte in /tmp
#	work      a minute of a host with ten virtual machines, worked out (minute/run.py)
#	long      the minutes of a run that goes on for hours (minute/long.py)
#	symbols   from an address to its function, and opening a kept table (symbol.c)
#	web       the page in the browser on 50 million events and on such a day (web.py)
#
# Each writes its part of bench/RESULTS.md, with date, machine and command; parts that were not run
# stay there as they are. Figures for programs are in build/bench/PART.json. --quick only shows that
# everything works: little is measured, once, and the result is build/bench/quick.md.
#
# Without traces it takes those in build/bench/traces, and records them first if there are none
# (record.sh; needs root). $BUILD is the folder that meson made, build beside this folder if not said.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
src=$(dirname "$here")
build=${BUILD:-$src/build}
results=$here/RESULTS.md
all_parts=(trace device latency profile symbols ingest tls timeline facts work long web)
parts=()
options=()
traces=()
quick=
export KISEKI=$build/src/cli/kiseki AGENT=$build/src/device/agent/kiseki-agent
export LOAD=$build/bench/load_pairs BUILD=$build PYTHONDONTWRITEBYTECODE=1

say() { echo "bench: $*" >&2; }

die()
{
	say "$*"
	exit 1
}

add_part()
{
	[[ " ${all_parts[*]} " == *" $1 "* ]] || die "no part \"$1\": ${all_parts[*]}"
	parts+=("$1")
}

parse_arguments()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--cold) options+=("$1") ;;
		--quick) quick=1 ;;
		--part)
			[ $# -gt 1 ] || die "--part wants one of: ${all_parts[*]}"
			add_part "$2"
			shift
			;;
		--runs)
			[ $# -gt 1 ] || die "--runs wants a number"
			options+=("$1" "$2")
			shift
			;;
		-*) die "usage: run.sh [--part PART]... [--quick] [--cold] [--runs N] [TRACE.dat…]" ;;
		*)
			[ -r "$1" ] || die "cannot read $1"
			traces+=("$1")
			;;
		esac
		shift
	done
	[ ${#parts[@]} -gt 0 ] || parts=("${all_parts[@]}")
	[ -z "$quick" ] || results=$build/bench/quick.md
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
	if [ -n "$quick" ]; then
		traces=("$src/tests/data/small-v6.dat")
		return
	fi
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

# --- the parts: each writes $part_file ---

# run COMMAND...: runs it, with its name and arguments kept for describe().
command_line=
run()
{
	command_line=$(printf '%s ' "${@##*/}")
	"$@" >&2
}

# describe TITLE: the head of a part, before what $body has.
describe()
{
	local model
	model=$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -n 1)
	cat <<-END
	## $1

	- $(date -u '+%Y-%m-%d %H:%M UTC')
	- Machine: ${model:-unknown processor}, $(nproc) cores, $(uname -m)
	- Kernel: $(uname -sr)
	- Command: \`${settings:+$settings }${command_line% }\`

	END
	cat "$body"
}

part_trace()
{
	[ -z "$quick" ] || options+=(--runs 1 --no-broken)
	say "measuring ${#traces[@]} traces, each twice; xz and zstd -19 take 70 s and more per million events"
	"$build/bench/trace_bench" --kiseki "$KISEKI" --scratch "$build/bench" \
		--json "$build/bench/trace.json" --svg "$build/bench/trace.svg" \
		--markdown "$part_file" --plot trace.svg "${options[@]}" "${traces[@]}"
	[ -n "$quick" ] || cp "$build/bench/trace.svg" "$here/trace.svg"
}

part_device()
{
	local few=()
	[ -z "$quick" ] || few=(--seconds 1 --rounds 1)
	run "$here/device.py" --markdown "$body" --json "$build/bench/device.json" "${few[@]}"
	describe "What tracing costs the device" >"$part_file"
}

part_latency()
{
	local few=()
	[ -z "$quick" ] || few=(--samples 10)
	run "$here/latency.py" --markdown "$body" --json "$build/bench/latency.json" "${few[@]}"
	describe "From the event to the browser" >"$part_file"
}

part_profile()
{
	local few=()
	[ -z "$quick" ] || few=(--rounds 1 --work 5)
	run "$here/profile.py" --markdown "$body" --json "$build/bench/profile.json" "${few[@]}"
	describe "What sampling costs" >"$part_file"
}

# make_object N: an object with so many functions, half of them with names of C++.
make_object()
{
	local file=$build/bench/symbols-$1.so
	awk -v n="$1" 'BEGIN {
		print ".text"
		for (i = 0; i < n; i++) {
			step = "step" i
			name = i % 2 ? "function_number_" i : "_ZN4bulk" length(step) step "EiPKc"
			printf ".type %s, %%function\n%s: .skip 16\n.size %s, 16\n", name, name, name
		}
		print ".section .note.GNU-stack,\"\",%progbits"
	}' >"$work/object.s"
	cc -nostdlib -shared -Wl,--build-id -o "$file" "$work/object.s" >&2
	echo "$file"
}

part_symbols()
{
	local objects=("$KISEKI")
	if [ -n "$quick" ]; then
		run "$build/bench/symbol" --runs 1 --lookups 10000 --markdown "$body" "${objects[@]}"
	else
		objects+=("$(make_object 150000)" "$(make_object 2000000)")
		run "$build/bench/symbol" --markdown "$body" "${objects[@]}"
		rm -f "${objects[@]:1}"
	fi
	describe "From an address to its function" >"$part_file"
}

part_ingest()
{
	if [ -n "$quick" ]; then
		export CONNECTIONS=${CONNECTIONS:-100} MEGABYTES=${MEGABYTES:-20} RUNS=${RUNS:-1}
	fi
	settings="CONNECTIONS=${CONNECTIONS:-1000} MEGABYTES=${MEGABYTES:-400} RUNS=${RUNS:-5}"
	run "$here/ingest.sh" --markdown "$body"
	describe "How fast the collector stores" >"$part_file"
}

part_tls()
{
	local few=()
	[ -z "$quick" ] || few=(--rounds 1 --megabytes 10)
	run "$here/tls.py" --markdown "$body" --json "$build/bench/tls.json" "${few[@]}"
	describe "Devices with keys" >"$part_file"
}

part_timeline()
{
	local events=${EVENTS:-500000000}
	[ -z "$quick" ] || events=${EVENTS:-1000000}
	say "the overview of a day, $events events"
	run "$build/bench/timeline" --events "$events" --json "$build/bench/timeline.json" \
		--markdown "$body" "${traces[0]}"
	describe "The overview of a day" >"$part_file"
}

part_facts()
{
	local few=()
	[ -z "$quick" ] || few=(--devices 10 --hours 4)
	say "a day of facts"
	run "$build/bench/facts" "${few[@]}" --markdown "$body"
	describe "The functions of a fleet over a day" >"$part_file"
}

part_work()
{
	local few=()
	[ -z "$quick" ] || few=(--machines 2 --times 1)
	say "a minute of virtual machines; the load takes a while to make"
	run "$here/minute/run.py" "${few[@]}" --markdown "$body"
	describe "A minute of ten virtual machines, worked out" >"$part_file"
}

part_long()
{
	local few=()
	[ -z "$quick" ] || few=(--minutes 2,4)
	say "a run of hours; it takes a while to make"
	run "$here/minute/long.py" "${few[@]}" --markdown "$body"
	describe "The minutes of a long run" >"$part_file"
}

part_web()
{
	local few=()
	[ -z "$quick" ] || few=(--events 1000000 --day-events 2000000 --seconds 1)
	say "the page in the browser; its stores are made once, in $build/bench/web"
	mkdir -p "$build/bench/web"
	export TIMELINE=$build/bench/timeline MODULES=$src/build/browser FOLDER=$build/bench/web
	run "$here/web.py" --markdown "$body" --json "$build/bench/web.json" "${few[@]}" "${traces[0]}"
	describe "The page in the browser" >"$part_file"
}

# --- RESULTS.md ---

# old_part PART: as it stands in the results now.
old_part()
{
	[ ! -f "$results" ] || awk -v part="$1" '
		/^<!-- part: / { on = $3 == part; next }
		on' "$results"
}

# Puts the parts together, those of this run and those of earlier ones.
compose()
{
	local part text
	cat <<-END
	# Size and speed

	Written by \`make bench\`, part by part; do not edit. What is measured and how: [README.md](README.md).
	END
	# The last is measured by hand, since it needs a server.
	for part in "${all_parts[@]}" facts_clickhouse; do
		if [ -s "$work/$part.md" ]; then
			text=$(cat "$work/$part.md")
		else
			text=$(old_part "$part")
		fi
		[ -z "$text" ] || printf '\n<!-- part: %s -->\n%s\n' "$part" "$text"
	done
}

# A part is in the results as soon as it is done: the next one may fail.
finish_part()
{
	[ -s "$part_file" ] || die "part $1 has no result"
	compose >"$work/RESULTS.md"
	cp "$work/RESULTS.md" "$results"
	say "part $1 is in $results"
}

parse_arguments "$@"
build_programs
get_traces
work=$(mktemp -d "${TMPDIR:-/tmp}/kiseki-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
body=$work/body
for part in "${parts[@]}"; do
	part_file=$work/$part.md
	settings=
	rm -f "$body"
	say "part $part"
	"part_$part"
	finish_part "$part"
done
