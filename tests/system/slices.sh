#!/bin/bash
# SPDX-License-Identifier: MIT
# Parts of a run in detail, from a real collector: slices read by a decoder that was written from the
# specification, pages of events, chains of wakeups, and times in nanoseconds on every path that takes
# times.
set -eu
work=$(mktemp -d)
server=
stop() { [ -z "$server" ] || kill "$server" 2>/dev/null; [ -z "$server" ] || wait "$server" || true; server=; }
trap 'stop; rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
export TZ=UTC PYTHONDONTWRITEBYTECODE=1

for tool in curl python3; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
fail() { echo "FAILED: $*"; exit 1; }
decode() { python3 "$SRC/tests/tools/slices_decode.py" "$@"; }
check() { "$SRC/tests/tools/http_check.py" "$@"; }
json() { python3 -c "import json,sys; d=json.load(sys.stdin); print($1)" <body; }
api=$SRC/docs/api/openapi.json

"$KISEKI" convert "$SRC/tests/data/ftrace_6.18.txt" -o a.ksk
"$KISEKI" convert "$SRC/tests/data/ftrace_4.19.txt" -o b.ksk
"$KISEKI" convert "$SRC/tests/data/ftrace_6.18_overwritten.txt" -o c.ksk
"$KSK_RANDOM" d.ksk 4000 4096
a=$("$FILL_STORE" data board-7 a.ksk $(($(date +%s) - 30)))
b=$("$FILL_STORE" data board-8 b.ksk)
c=$("$FILL_STORE" data board-9 c.ksk)
d=$("$FILL_STORE" data random d.ksk)

touch serve.out
"$KISEKI" serve --listen 127.0.0.1:0 --http 127.0.0.1:0 --data data --config /dev/null >serve.out 2>serve.err &
server=$!
for _ in $(seq 1200); do
	grep -q '^ready' serve.out && break
	kill -0 $server 2>/dev/null || { cat serve.err; fail "kiseki serve ended"; }
	sleep 0.1
done
port=$(sed -n 's|^web .*:\([0-9]*\)/$|\1|p' serve.out)
[ -n "$port" ] || fail "no port in: $(cat serve.out)"
url=http://127.0.0.1:$port/api/v1

# get STATUS PATH [CURL...]: the body is in `body`, the head in `head`.
get() {
	local want=$1 path=$2 got
	shift 2
	: >body
	got=$(curl -s -g --max-time 60 -D head -o body -w '%{http_code}' "$@" "$url$path") || got="$got (curl $?)"
	[ "$got" = "$want" ] || fail "$path: $got and not $want: $(head -c 300 body)"
}
described() {
	get "$1" "$3"
	check schema "$api" GET "/api/v1$2" "$1" <body
}
header() { grep -i "^$1:" head | tr -d '\r' | sed 's/^[^:]*: *//'; }

# --- slices ---
get 200 "/runs/$b/slices"
[ "$(header content-type)" = application/x-kiseki-slices ] || fail "type $(header content-type)"
decode vector "$SRC/docs/format/slices.md" body
for run in $a $b $c $d; do
	get 200 "/runs/$run/slices?limit=2000000"
	mv body whole.$run
	decode check whole.$run >sums.$run
	grep -q 'final 1' sums.$run || fail "run $run has ended: $(cat sums.$run)"
done
grep -q 'losses 0' sums.$a || fail "board-7 lost nothing: $(cat sums.$a)"
grep -q 'losses [1-9]' sums.$c || fail "board-9 lost something: $(cat sums.$c)"
get 200 "/runs/$a/export?format=ndjson"
mv body a.ndjson
[ "$(decode compare whole.$a a.ndjson)" -gt 50 ] || fail "hardly a switch was compared"
get 200 "/devices/board-7/slices"
cmp body whole.$a || fail "the slices of the device are not those of its run"

# Parts are the whole, wherever they are cut; an event is in one of them.
from=$(decode print whole.$a | sed -n 's/^{"from": \(.*\)}/\1/p')
to=$(decode print whole.$a | sed -n 's/^{"to": \(.*\)}/\1/p')
for pieces in 2 7; do
	parts=
	for i in $(seq 0 $((pieces - 1))); do
		get 200 "/runs/$a/slices?from_ns=$((from + (to - from) * i / pieces))&to_ns=$((from + (to - from) * (i + 1) / pieces))"
		decode check body >/dev/null
		mv body part.$i
		parts="$parts part.$i"
	done
	[ "$(decode join whole.$a $parts)" = $pieces ] || fail "$pieces parts"
done

# Tags, what may be kept, refusals.
get 200 "/runs/$a/slices?from_ns=$from&to_ns=$to"
header cache-control | grep -q immutable || fail "it cannot change, but: $(header cache-control)"
get 304 "/runs/$a/slices?from_ns=$from&to_ns=$to" -H "If-None-Match: $(header etag)"
[ ! -s body ] || fail "304 with a body"
get 200 "/devices/board-7/slices?from_ns=$from&to_ns=$to"
[ "$(header cache-control)" = no-cache ] || fail "the latest run may be another tomorrow: $(header cache-control)"
get 200 "/runs/$a/slices?from_ns=$((to + 1000))&to_ns=$((to + 2000))"
decode check body | grep -q 'cpus 0 tasks 0' || fail "nothing is there yet"
described 400 "/runs/{run}/slices" "/runs/$a/slices?from_ns=$to&to_ns=$from"
described 400 "/runs/{run}/slices" "/runs/$a/slices?from_ns=x"
described 400 "/runs/{run}/slices" "/runs/$a/slices?from_ns=$from&from=-5m"
described 400 "/runs/{run}/slices" "/runs/$a/slices?limit=0"
described 404 "/runs/{run}/slices" "/runs/999/slices"
described 413 "/runs/{run}/slices" "/runs/$a/slices?limit=20"
described 413 "/runs/{run}/slices" "/runs/$d/slices?limit=1000"

# --- events ---
# every PATH: all pages forward and all backward are the same, and as many as said.
cat >pages.py <<'END'
import json, sys, urllib.request
def pages(query, way, link, cursor):
    events = []
    while cursor is not None:
        page = json.load(urllib.request.urlopen(f"{sys.argv[1]}?{query}" + (f"&{way}={cursor}" if cursor or way == "before" else "")))
        events = page["events"] + events if way == "before" else events + page["events"]
        cursor = page[link]
    return events
for query in sys.argv[2:]:
    forward, backward = pages(query, "after", "next", ""), pages(query, "before", "prev", "")
    if forward != backward:
        sys.exit(f"{query}: {len(forward)} events forward, {len(backward)} backward, or others")
    print(len(forward))
END
described 200 "/runs/{run}/events" "/runs/$a/events"
described 200 "/devices/{device}/events" "/devices/board-9/events?before=&limit=5"
for run in $a $b $c; do
	get 200 "/runs/$run/export?format=ndjson"
	want=$(grep -c -e '"common_pid"' -e '"kind":"lost"' body)
	[ "$(python3 pages.py "$url/runs/$run/events" limit=997)" = "$want" ] || fail "run $run: not $want events"
done
want=$("$KISEKI" convert a.ksk -o - --format ndjson --event switch --comm 'k*' | grep -c '"common_pid"')
[ "$(python3 pages.py "$url/runs/$a/events" "limit=3&event=switch&comm=k*")" = "$want" ] || fail "a filter passes others"
python3 pages.py "$url/runs/$a/events" limit=29 "limit=17&cpu=1" "limit=17&from_ns=$((from + 5000000))&to_ns=$((to - 5000000))" >/dev/null
get 200 "/runs/$c/events?limit=5000"
[ "$(json "sum(e['event'] == 'lost' for e in d['events'])")" -ge 1 ] || fail "no loss among the events"
described 400 "/runs/{run}/events" "/runs/$a/events?after=here"
described 400 "/runs/{run}/events" "/runs/$a/events?after=1-0&before=1-0"
described 400 "/runs/{run}/events" "/runs/$a/events?limit=5001"
described 404 "/runs/{run}/events" "/runs/999/events"

# --- chains: bash waits for sh, which waits for ls, which an interrupt woke ---
described 200 "/runs/{run}/chain" "/runs/$a/chain?pid=31730&at_ns=$to"
[ "$(json "[s['comm'] for s in d['steps']][:3]")" = "['bash', 'sh', 'ls']" ] || fail "chain: $(cat body)"
[ "$(json "d['ends']")" = idle ] || fail "chain ends: $(cat body)"
described 200 "/devices/{device}/chain" "/devices/board-7/chain?pid=31730&at_ns=$to&limit=1"
[ "$(json "len(d['steps']), d['ends']")" = "1 long" ] || fail "a chain of one: $(cat body)"
described 400 "/runs/{run}/chain" "/runs/$a/chain?pid=1"
described 400 "/runs/{run}/chain" "/runs/$a/chain?pid=x&at_ns=1"
described 404 "/runs/{run}/chain" "/runs/$a/chain?pid=4711&at_ns=$to"

# --- nanoseconds wherever times are taken ---
mid=$((from + 10000000)) end=$((from + 20000000))
for path in "export?format=ndjson" "report/sched?limit=5" "report/latency?limit=5" "timeline?width=20" "ledger?"; do
	get 200 "/runs/$a/$path&from_ns=$mid&to_ns=$end"
	mv body ns
	get 200 "/runs/$a/$path&from=%2B0.01s&to=%2B0.02s"
	cmp ns body || fail "$path: from_ns is not from"
	get 200 "/devices/board-7/$path&from_ns=$mid&to_ns=$end"
done
get 200 "/runs/$c/ledger"
[ "$(json "len(d['rows'])")" -ge 1 ] || fail "board-9's ledger is empty"
# Within losses, and before all of them: the rows that touch that time, all of them and no others.
get 200 "/runs/$d/ledger"
mv body all
times=$(python3 -c '
import json
rows = [r for r in json.load(open("all"))["rows"] if r["from_ns"] and r["to_ns"] < 10**15]
wide = [r for r in rows if r["to_ns"] > r["from_ns"] + 2]
assert len(wide) > 3, "losses have no width"
print(1, *((r["from_ns"] + r["to_ns"]) // 2 for r in wide[:4]))') || fail "run $d: no losses to ask for"
for at in $times; do
	get 200 "/runs/$d/ledger?from_ns=$at&to_ns=$((at + 1))"
	python3 -c '
import json, sys
at, rows = int(sys.argv[1]), json.load(open("all"))["rows"]
want = [r for r in rows if (r["from_ns"] or 0) <= at and (not r["to_ns"] or r["to_ns"] >= at)]
got = json.load(open("body"))["rows"]
assert got == want and (want or at == 1), f"at {at}: {got} are not {want}"' "$at" || fail "rows of another time"
done

kill -TERM $server
wait $server || fail "kiseki serve ended with $?"
server=
