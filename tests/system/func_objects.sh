#!/bin/bash
# SPDX-License-Identifier: MIT
# A program is traced through an agent, and the collector has no file of it: it fetches the file from the agent, by build-id, and names its
# functions, also when the file is gone; not if the agent was told not to.
set -u
command -v cc >/dev/null && command -v curl >/dev/null || { echo "skipped: no compiler or no curl"; exit 77; }
[ -n "${KISEKI_LIBFUNC-}" ] && [ -e "$KISEKI_LIBFUNC" ] || { echo "skipped: libkiseki-func.so is not built here"; exit 77; }
[ -z "${SANITIZED-}" ] || { echo "skipped: a sanitizer does not let itself be preloaded behind the library"; exit 77; }
cd "$(mktemp -d)" || exit 1
server='' agent='' program=''
cleanup() { kill $server $agent $program 2>/dev/null; wait; rm -rf "$PWD"; }
trap cleanup EXIT
fail() { echo "FAILED: $*"; cat log agent.log 2>/dev/null; exit 1; }

"$KISEKI" serve --data "$PWD/data" --listen 127.0.0.1:0 --http 127.0.0.1:0 >log 2>&1 &
server=$!
for _ in $(seq 600); do
	grep -q '^ready' log && break
	sleep 0.1
done
devices=$(awk '$1 == "devices" { print $2 }' log)
http=$(awk '$1 == "web" { print $2 }' log)
[ -n "$devices" ] || fail "the collector does not start"

# trace NAME OPTION...: an agent of that name, and a program with a build-id of its own that it traces.
number=0
trace()
{
	name=$1
	shift
	number=$((number + 1))
	cat >this.c <<-END
	#include <time.h>
	volatile int number = $number;
	__attribute__((noinline)) void light_the_candle(void) { struct timespec t = { 0, 20000000 }; nanosleep(&t, 0); }
	int main(void) { for (;;) light_the_candle(); }
	END
	cc -g -O1 -finstrument-functions -Wl,--build-id -o "wick$number" this.c || exit 1
	id=$(readelf -n "wick$number" | awk '/Build ID/ { print $3 }')
	"$AGENT" --config /dev/null --collector "$devices" --name "$name" --spool-file "$PWD/$name.spool" --state-dir "$PWD/state" \
		--func-socket "$PWD/$name.sock" --func-folder "$PWD/$name.func" "$@" 2>agent.log &
	agent=$!
	for _ in $(seq 600); do
		[ -S "$name.sock" ] && break
		sleep 0.1
	done
	LD_PRELOAD=$KISEKI_LIBFUNC KISEKI_FUNC_AGENT="$PWD/$name.sock" "./wick$number" 2>program.log &
	program=$!
}

# functions: as the collector names them, as far as they have come.
functions() { curl -sf "${http}api/v1/devices/$name/calls/report" 2>err | python3 -c '
import json, sys
print("\n".join(f["function"] for f in json.load(sys.stdin)["functions"]))' 2>/dev/null; }

# wait_for TEXT COMMAND...: until it prints that line.
wait_for()
{
	text=$1
	shift
	for _ in $(seq 600); do
		"$@" >rows
		grep -q "$text" rows && return
		sleep 0.1
	done
	fail "no $text in: $(cat rows) $(cat err program.log)"
}

end() { kill "$program" "$agent"; wait "$program" "$agent" 2>/dev/null; agent='' program=''; }

trace candle
wait_for "object $id came" cat log
cmp "wick$number" "data/objects/.build-id/${id:0:2}/${id:2}" || fail "what came is not what was sent"
mv "wick$number" gone
wait_for '^light_the_candle' functions
end

trace lantern --objects-rate 0
wait_for "wick$number+0x" functions
sleep 1
grep -q "object $id" log && fail "an agent that should not has sent it"
end
echo "fetched once, kept, named; not when told not to"
