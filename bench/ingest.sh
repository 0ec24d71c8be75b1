#!/bin/bash
# SPDX-License-Identifier: MIT
#
# ingest.sh: how fast the collector stores, beside the least that could store.
#
#	ingest.sh [--markdown FILE] [FILE.ksk]
#
# CONNECTIONS (1000) devices replay the blocks of the file through the real protocol into a real
# `kiseki serve`, MEGABYTES (400) together, until all of it is acknowledged; and send the same bytes
# to ingest_sink, which only writes them to a file and syncs that as often. RUNS (5) of each take
# turns. Then what an idle connection costs. Without a file it takes the
# recordings of `make bench`, or random events if there are none. SCRATCH is a folder on the disk to
# measure. --markdown writes the same figures as a table, too. $BUILD is the folder that meson made, build beside this folder if not said.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$(dirname "$here")/build}
kiseki=$build/src/cli/kiseki
connections=${CONNECTIONS:-1000}
megabytes=${MEGABYTES:-400}
runs=${RUNS:-5}
commit_ms=20
work=$(mktemp -d "${SCRATCH:-/tmp}/kiseki-ingest.XXXXXX")
pids=()

clean()
{
	local pid
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || true
	done
	wait
	rm -rf "$work"
}
trap clean EXIT

get_file()
{
	local dat
	for dat in "$build"/bench/traces/{message,build,web}.dat; do
		[ -s "$dat" ] || continue
		"$kiseki" convert "$dat" -o "$work/load.ksk"
		return
	done
	echo "random events, as there is no recording" >&2
	"$build/tests/ksk_random" "$work/load.ksk" 200 50000
}

# start_serve: a collector with an empty store; sets port and pid.
start_serve()
{
	rm -rf "$work/store"
	: >"$work/serve.out"
	"$kiseki" serve --listen 127.0.0.1:0 --http 127.0.0.1:0 --data "$work/store" \
		--config /dev/null --commit-ms $commit_ms --connections $((connections + 10)) \
		>"$work/serve.out" 2>"$work/serve.err" &
	pid=$!
	pids=("$pid")
	until grep -q ready "$work/serve.out"; do
		kill -0 $pid || { cat "$work/serve.err"; exit 1; }
		sleep 0.05
	done
	port=$(sed -n 's/^devices.*://p' "$work/serve.out")
}

stop_serve()
{
	kill "$pid"
	wait "$pid"
	pids=()
	rm -rf "$work/store"
}

# Each prints "bytes events blocks seconds".
run_kiseki()
{
	start_serve
	"$build/bench/ingest_load" kiseki "$port" "$connections" "$megabytes" "$file" |
		awk '{ printf "%s ", $2 }'
	awk '{ printf "%s\n", ($14 + $15) / 100 }' "/proc/$pid/stat"
	stop_serve
}

run_bare()
{
	local sink
	: >"$work/sink.out"
	"$build/bench/ingest_sink" "$connections" $commit_ms "$work/sink" >"$work/sink.out" &
	sink=$!
	pids=("$sink")
	until [ -s "$work/sink.out" ]; do
		sleep 0.05
	done
	"$build/bench/ingest_load" bare "$(cat "$work/sink.out")" "$connections" "$megabytes" "$file" |
		awk '{ printf "%s ", $2 }'
	echo 0
	wait $sink
	pids=()
	rm -f "$work/sink"
}

resident() { awk '/VmRSS/ { print $2 }' "/proc/$pid/status"; }

run_idle()
{
	local before after
	start_serve
	before=$(resident)
	mkfifo "$work/idle.in"
	"$build/bench/ingest_load" idle "$port" "$connections" 1 "$file" <"$work/idle.in" >"$work/idle.out" &
	exec 3>"$work/idle.in"
	until grep -q open "$work/idle.out"; do
		sleep 0.05
	done
	sleep 2 # the first PINGs
	after=$(resident)
	exec 3>&-
	wait $!
	stop_serve
	awk -v n="$connections" -v a="$before" -v b="$after" 'BEGIN { printf "%.1f\n", (b - a) / n }'
}

markdown=
if [ "${1-}" = --markdown ]; then
	markdown=$2
	shift 2
fi
file=${1-}
if [ -z "$file" ]; then
	get_file
	file=$work/load.ksk
fi
for ((i = 0; i < runs; i++)); do
	run_bare >>"$work/bare"
	run_kiseki >>"$work/kiseki"
done
# Runs next to each other share what else the machine does: their ratio says most.
ratio=$(paste "$work/bare" "$work/kiseki" | awk '{ print ($6 / $9) / ($1 / $4) }' | sort -n |
	awk '{ r[NR] = $1 } END { print r[int((NR + 1) / 2)] }')
read -r size per bare best events cpu < <(awk '
	{ rate = $1 / $4 }
	FILENAME ~ /bare$/ && rate > bare { bare = rate }
	FILENAME ~ /kiseki$/ && rate > best {
		best = rate
		events = $2 / $4
		size = $1 / $3
		cpu = $5 / $1 * 1e9
		per = $1 / $2
	}
	END { printf "%d %.2f %.1f %.1f %.1f %.2f\n", size, per, bare / 1e6, best / 1e6, events / 1e6, cpu }' \
	"$work/bare" "$work/kiseki")
percent=$(awk -v r="$ratio" 'BEGIN { printf "%.0f", 100 * r }')
run_idle >"$work/idle.kib"
idle=$(cat "$work/idle.kib")
cat <<END
connections $connections, blocks of $size bytes, $per bytes/event
bare sink   $bare MB/s at best
kiseki      $best MB/s at best, $events M events/s, durable; $cpu s of CPU per GB
ratio       $percent %, the middle one of the pairs of runs (goal 60)
idle        $idle KiB of memory for each of $connections connections (goal 16)
END
[ -n "$markdown" ] || exit 0
cat >"$markdown" <<END
$connections connections replay blocks of $size bytes, $per bytes an event, $megabytes MB in all and
$runs times; beside them a sink that only writes what comes to a file and syncs it as often.

| | measured | goal |
|---|--:|--:|
| bare sink, the best run | $bare MB/s | |
| kiseki, durable, the best run | $best MB/s, $events M events/s | |
| kiseki / bare sink, the middle one of the pairs of runs | $percent % | 60 % or more |
| CPU of the collector | $cpu s/GB | |
| memory of an idle connection | $idle KiB | 16 KiB or less |
END
