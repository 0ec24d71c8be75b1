#!/bin/bash
# SPDX-License-Identifier: MIT
# A program is profiled whose file the collector has not: it fetches the file from the recorder, by build-id, and names
# its functions and their lines, also when the file is gone; not if it was told not to, nor if the recorder was.
set -eu
command -v cc >/dev/null && command -v curl >/dev/null || { echo "skipped: no compiler or no curl"; exit 77; }
if [ "$(id -u)" != 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 9)" -gt 2 ]; then
	echo "skipped: the kernel lets nobody but root sample"
	exit 77
fi
cd "$(mktemp -d)"
server=
cleanup() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; wait; rm -rf "$PWD"; }
trap cleanup EXIT
unset LD_PRELOAD

fail() { echo "FAILED: $*"; [ ! -f log ] || cat log; exit 1; }

# Half a megabyte of names, so that it takes many pieces.
{
	echo '#include <time.h>'
	for i in $(seq 3000); do echo "int filler_with_a_long_name_number_$i(int x) { return x + $i; }"; done
	cat <<-'END'
	static volatile unsigned long sink;
	__attribute__((noinline)) static void burn_the_candle(void) { for (unsigned long i = 0; i < 1000000; i++) sink += i * i; }
	int main(void)
	{
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		do { burn_the_candle(); clock_gettime(CLOCK_MONOTONIC, &b); } while (b.tv_sec - a.tv_sec < 3);
		return 0;
	}
	END
} >spin.c

# serve OPTION...: a collector on ports of its own; $devices and $http are where.
serve()
{
	rm -f log # of the one before, which was ready, too
	"$KISEKI" serve --data "$PWD/data" --listen 127.0.0.1:0 --http 127.0.0.1:0 "$@" >log 2>&1 &
	server=$!
	for _ in $(seq 300); do
		grep -q '^ready' log 2>/dev/null && break
		sleep 0.1
	done
	devices=$(awk '$1 == "devices" { print $2 }' log)
	http=$(awk '$1 == "web" { print $2 }' log)
	[ -n "$devices" ] || fail "the collector does not start"
}

stop() { kill "$server"; wait "$server" || true; server=; }

# profile OPTION...: a recording of a program with a build-id of its own, which is gone afterwards.
number=0
profile()
{
	number=$((number + 1))
	sed "s/x + 1;/x + $number;/" spin.c >this.c
	cc -g -O1 -Wl,--build-id -o "spin$number" this.c
	id=$(readelf -n "spin$number" | awk '/Build ID/ { print $3 }')
	"$AGENT" profile --collector "$devices" --state-dir "$PWD/state" --name board "$@" -- "./spin$number" 2>err ||
		fail "profile: $(cat err)"
	mv "spin$number" gone
}

names() { curl -sf "${http}api/v1/devices/board/profile/report" | python3 -c '
import json, sys
print("\n".join(r["name"] for r in json.load(sys.stdin)["rows"] if r["object"].startswith("spin")))'; }

# Unless told otherwise: the recorder is on the same machine.
serve
profile
grep -q "object $id came" log || fail "it was not fetched"
cmp "gone" "data/objects/.build-id/${id:0:2}/${id:2}" || fail "what came is not what was sent"
[ -f "data/symbols/$id.ksym" ] || fail "its table was not made"
names >rows
grep -qx burn_the_candle rows || fail "no names: $(cat rows)"

# Files and lines, too, as pprof itself shows them: of the loop, which is one line. They have a table of their own.
lines()
{
	curl -sf "${http}api/v1/devices/board/export?kind=profile&format=pprof" -o lines.pb.gz || fail "no export"
	python3 "$SRC/tests/tools/pprof_lines.py" lines.pb.gz "$PWD/this.c" \
		"$(grep -n 'void burn_the_candle' this.c | cut -d: -f1)" burn_the_candle || fail "no lines"
	if [ -n "${PPROF-}" ] || command -v go >/dev/null; then
		# shellcheck disable=SC2086 # a command and its arguments
		${PPROF:-go tool pprof} -top -lines -symbolize=none lines.pb.gz 2>/dev/null >shown || fail "pprof"
		grep -q " burn_the_candle $PWD/this.c:" shown || fail "pprof shows no lines: $(cat shown)"
	else
		echo "skipped: pprof is not installed, its lines were not looked at"
	fi
}
lines
[ -f "data/symbols/$id.lines.ksym" ] || fail "the table of lines was not kept"

# The file is not there, the table is; and nobody is asked a second time.
before=$(grep -c 'came' log)
mv gone "spin$number"
"$AGENT" profile --collector "$devices" --state-dir "$PWD/state" --name board -- "./spin$number" 2>err || fail "again: $(cat err)"
[ "$(grep -c 'came' log)" = "$before" ] || fail "it was fetched twice"
rm -r data/objects/.build-id
names >rows
grep -qx burn_the_candle rows || fail "no names by the table: $(cat rows)"
lines

# The recorder may say no.
profile --objects-rate 0
grep -q "object $id" log && fail "a recorder that should not has sent it"
names >rows
grep -qx burn_the_candle rows && fail "names from nowhere"
grep -q '^spin' rows || fail "neither names nor places: $(cat rows)"

# Slower, and what is cut goes on with the next recording.
profile --objects-rate 256K -t 1s
mv gone "spin$number"
"$AGENT" profile --collector "$devices" --state-dir "$PWD/state" --name board -- "./spin$number" 2>err || fail "resumed: $(cat err)"
cmp "spin$number" "data/objects/.build-id/${id:0:2}/${id:2}" || fail "it did not come whole"
stop

# So may the collector.
rm -rf data
serve --objects-size 0
profile
[ ! -e data/objects ] || fail "a collector that should not has asked"
names >rows
grep -qx burn_the_candle rows && fail "names from nowhere"
stop
echo "fetched once, kept, named; not when told not to"
