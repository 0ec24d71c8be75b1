#!/bin/bash
# SPDX-License-Identifier: MIT
# The HTTP API of a real collector over a store with known content: every path, answers against
# their description, exports byte for byte beside `kiseki convert`, encodings, ranges, tags, refusals,
# garbage, and the live streams.
set -eu
work=$(mktemp -d)
server=
stop() { [ -z "$server" ] || kill "$server" 2>/dev/null; [ -z "$server" ] || wait "$server" || true; server=; }
trap 'stop; rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
export TZ=UTC PYTHONDONTWRITEBYTECODE=1

for tool in curl python3 zstd tar; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
fail() { echo "FAILED: $*"; exit 1; }
check() { "$SRC/tests/tools/http_check.py" "$@"; }
api=$SRC/docs/api/openapi.json

# --- a store with three devices: one with a clock, one whose name wants care, one with more ---
"$KISEKI" convert "$SRC/tests/data/ftrace_6.18.txt" -o a.ksk
"$KISEKI" convert "$SRC/tests/data/ftrace_4.19.txt" -o b.ksk
"$KSK_RANDOM" c.ksk 4000 4096
end=$(($(date +%s) - 30))
a=$("$FILL_STORE" data board-7 a.ksk $end)
b=$("$FILL_STORE" data 'we"ird\,*' b.ksk)
c=$("$FILL_STORE" data random c.ksk)

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
url=http://127.0.0.1:$port

# get STATUS PATH [CURL...]: the body is in `body`, the head in `head`.
get() {
	local want=$1 path=$2 got
	shift 2
	: >body # curl leaves it as it is when there is none
	got=$(curl -s -g --path-as-is --max-time 60 -D head -o body -w '%{http_code}' "$@" "$url$path") || got="$got (curl $?)"
	[ "$got" = "$want" ] || fail "$path: $got and not $want: $(head -c 300 body)"
}
# described STATUS PATTERN PATH [CURL...]: and the answer fits its description.
described() {
	local status=$1 pattern=$2 path=$3 method=GET
	shift 3
	case " $* " in *" -X POST "*) method=POST ;; esac
	get "$status" "$path" "$@"
	check schema "$api" $method "$pattern" "$status" <body
}
header() { grep -i "^$1:" head | tr -d '\r' | sed 's/^[^:]*: *//'; }

# --- every path with JSON, against the description ---
d=/api/v1/devices r=/api/v1/runs
described 200 /healthz /healthz
described 200 /api/v1/openapi.json /api/v1/openapi.json
cmp body "$api" || fail "the description that is served is another one"
described 200 /api/v1/formats /api/v1/formats
described 200 $d $d
grep -q '"name": "board-7"' body || fail "board-7 is not among the devices"
described 200 "$d/{device}" $d/board-7
id=$(sed -n 's/^  "id": "\(.*\)",/\1/p' body)
described 200 "$d/{device}" "$d/${id:0:8}"
described 200 "$d/{device}" "$d/we%22ird%5C%2C%2A"
described 200 "$d/{device}/runs" $d/board-7/runs
described 200 $r $r
described 200 $r "$r?limit=1"
grep -q '"more": 2' body || fail "the limit's rest is not told"
described 200 "$r/{run}" "$r/$a"
described 200 "$r/{run}/ledger" "$r/$a/ledger"
described 200 "$d/{device}/ledger" $d/board-7/ledger
for report in sched latency; do
	for of in "$d/{device} $d/board-7" "$r/{run} $r/$a"; do
		described 200 "${of% *}/report/$report" "${of#* }/report/$report"
		"$KISEKI" report $report a.ksk --json >want
		cmp want body || fail "report $report is not that of the command line"
	done
	"$KISEKI" report $report a.ksk --json --limit 2 --sort pid >want
	get 200 "$r/$a/report/$report?limit=2&sort=pid"
	cmp want body || fail "report $report: limit and sort"
	get 400 "$r/$a/report/$report?sort=beauty"
done
for of in "$d/{device} $d/board-7" "$r/{run} $r/$a"; do
	described 200 "${of% *}/timeline" "${of#* }/timeline?width=50"
done
get 200 /
grep -q '<title>Kiseki</title>' body || fail "no page"
grep -q "default-src 'none'; script-src 'self'; worker-src 'self'" head || fail "the page's policy: $(header content-security-policy)"
[ "$(header cross-origin-opener-policy)" = same-origin-allow-popups ] || fail "the page's opener"
[ "$(header x-content-type-options) $(header referrer-policy)" = "nosniff no-referrer" ] || fail "the page's headers"
[ "$(header cache-control)" = no-cache ] || fail "the page is kept: $(header cache-control)"
grep -q -e 'style=' -e '<style' -e '<script>' -e ' on[a-z]*=' body && fail "the page has what its policy forbids"
# Its files: in gzip and not, each with a tag of its own; those that it names are there.
files=$(grep -o '\(href\|src\)="[./]*assets/[^"]*"' body | sed 's/.*="[./]*//; s/"$//')
[ -n "$files" ] || fail "the page names no files"
for file in $files; do
	get 200 "/$file"
	cp body plain; plain=$(header etag)
	[ -z "$(header content-encoding)" ] || fail "$file is encoded, and nobody asked"
	case $file in *.js) [ "$(header content-type)" = "text/javascript; charset=utf-8" ] || fail "type of $file" ;; esac
	get 200 "/$file" -H 'Accept-Encoding: gzip, deflate, br, zstd'
	[ "$(header content-encoding)" = gzip ] || fail "$file is not in gzip"
	[ "$(header vary)" = Accept-Encoding ] || fail "$file does not say what it depends on"
	[ "$(header content-length)" = "$(stat -c %s body)" ] || fail "length of $file"
	gzip -dc body | cmp - plain || fail "$file is another one in gzip"
	[ "$(header etag)" != "$plain" ] || fail "$file has one tag for two contents"
	get 304 "/$file" -H 'Accept-Encoding: gzip' -H "If-None-Match: $(header etag)"
	get 304 "/$file" -H "If-None-Match: $plain"
	# Only what has its hash in its name is for ever.
	want=no-cache
	[[ $file =~ -[A-Za-z0-9_-]{8}\.[a-z0-9]+$ ]] && want="public, max-age=31536000, immutable"
	[ "$(header cache-control)" = "$want" ] || fail "$file: Cache-Control: $(header cache-control)"
done
for file in nothing.js index.html ..%2findex.html; do get 404 "/assets/$file"; done
get 400 /assets/
get 200 /metrics
[ "$(check metrics <body)" -ge 20 ] || fail "few metrics"
grep -q 'device="we\\"ird\\\\,\*"' body || fail "a label is not escaped"
get 200 "/metrics?devices=no"
[ "$(check metrics <body)" -ge 15 ] || fail "few metrics without devices"
! grep -q 'device=' body || fail "devices, though none were asked for"
get 400 "/metrics?devices=some"

# --- exports ---
get 200 "$r/$a/export"
mv body whole.ksk
for format in ftrace json ndjson xml perfetto chrome csv; do
	"$KISEKI" convert whole.ksk -o - --format $format 2>/dev/null | cat >want
	get 200 "$r/$a/export?format=$format"
	cmp want body || fail "$format is not what kiseki convert makes"
	get 200 "$d/board-7/export?format=$format"
	cmp want body || fail "$format of the device is not that of its run"
	"$KISEKI" convert whole.ksk -o - --format $format --cpu 1 --event switch,waking 2>/dev/null | cat >want
	get 200 "$r/$a/export?format=$format&cpu=1&event=switch,waking"
	cmp want body || fail "$format: cpu and event"
	# What a client gets encoded is the same in the end.
	get 200 "$r/$a/export?format=$format" -H 'Accept-Encoding: gzip'
	mv body coded
	get 200 "$r/$a/export?format=$format"
	gzip -dc coded | cmp - body || fail "$format: gzip"
	get 200 "$r/$a/export?format=$format" -H 'Accept-Encoding: gzip;q=0.5, zstd'
	[ "$(header content-encoding)" = zstd ] || fail "$format: zstd was not taken"
	mv body coded
	get 200 "$r/$a/export?format=$format"
	zstd -qdc coded | cmp - body || fail "$format: zstd"
done
# More than fits into any buffer on the way.
get 200 "$r/$c/export"
mv body random.ksk
for format in ndjson csv xml; do
	"$KISEKI" convert random.ksk -o - --format $format | cat >want
	get 200 "$r/$c/export?format=$format"
	cmp want body || fail "$format of a longer run"
	[ "$(stat -c %s body)" -gt 1000000 ] || fail "not that long"
done
"$KISEKI" convert whole.ksk -o want.dat
get 200 "$r/$a/export?format=trace.dat"
cmp want.dat body || fail "trace.dat is not what kiseki convert makes"
"$KISEKI" convert whole.ksk -o want.ctf
get 200 "$r/$a/export?format=ctf"
[ "$(header content-disposition)" = "attachment; filename=\"$(header content-disposition | sed 's/.*="//; s/"//')\"" ]
mkdir tar && tar -xf body -C tar
diff -r want.ctf tar/* || fail "the archive has not the files of the folder"
"$KISEKI" convert whole.ksk -o want.ksk --codec bsf 2>/dev/null
get 200 "$r/$a/export?codec=bsf"
cmp want.ksk body || fail "codec=bsf is not what kiseki convert makes"
"$KISEKI" convert whole.ksk -o - --format ndjson --pid 1 --comm 'k*' | cat >want
get 200 "$r/$a/export?format=ndjson&pid=1&comm=k*"
cmp want body || fail "pid and comm"
get 200 "$r/$a/export?format=ndjson&task=1,k*"
cmp want body || fail "task"

# Times: after the start, and real ones by the run's clock; neighbours share nothing.
"$KISEKI" convert whole.ksk -o - --format ndjson --from +0.01 --to +0.02 | cat >want
get 200 "$r/$a/export?format=ndjson&from=%2B0.01s&to=%2B20ms"
cmp want body || fail "a range after the start"
[ "$(grep -c '"ns"' body)" -gt 10 ] || fail "a range that says nothing"
get 200 "$d/board-7/export?format=ndjson&from=-1d&to=now"
cmp <(grep '"ns"' body | wc -l) <("$KISEKI" convert whole.ksk -o - --format ndjson | grep -c '"ns"') || fail "the last day has all of it"
events() { grep -v -e '^{"kind":"trace"' -e '^{"kind":"task"' -e '^{"kind":"totals"' body || true; }
get 200 "$r/$a/export?format=ndjson"; events >all
get 200 "$r/$a/export?format=ndjson&to=%2B0.02s"; events >halves
get 200 "$r/$a/export?format=ndjson&from=%2B0.02s"; [ -s halves ] || fail "an empty half"
events >>halves
cmp all halves || fail "two halves are not the whole"
get 404 "$d/board-7/export?from=-3d&to=-2d"
# Blocks come a minute after their events at most: so long a run that has ended is looked for, and not longer.
get 200 "$r/$a"
first=$(date -d "$(sed -n 's/^ *"first": "\(.*\)",$/\1/p' body)" +%s) last=$(date -d "$(sed -n 's/^ *"last": "\(.*\)",$/\1/p' body)" +%s)
get 200 "$d/board-7/export?from=@$((last + 50))&to=@$((last + 55))"
get 404 "$d/board-7/export?from=@$((last + 70))&to=@$((last + 75))"
get 200 "$d/board-7/export?from=@$((first - 55))&to=@$((first - 50))"
get 404 "$d/board-7/export?from=@$((first - 75))&to=@$((first - 70))"
get 400 "$r/$a/export?from=yesterday-ish"
get 400 "$r/$a/export?from=%2B2s&to=%2B1s"
get 501 "$r/$b/export?from=-5m"
get 200 "$r/$b/export?from=%2B0s&format=csv"

# --- ranges and tags ---
get 206 "$r/$a/export" -r 100-199
cmp <(tail -c +101 whole.ksk | head -c 100) body || fail "bytes 100-199"
size=$(stat -c %s whole.ksk)
[ "$(header content-range)" = "bytes 100-199/$size" ] || fail "Content-Range: $(header content-range)"
get 206 "$r/$a/export" -r -50
cmp <(tail -c 50 whole.ksk) body || fail "the last 50 bytes"
get 206 "$r/$a/export" -H "Range: bytes=10-" -H 'Accept-Encoding: gzip, zstd'
cmp <(tail -c +11 whole.ksk) body || fail "the rest from 10"
get 416 "$r/$a/export" -r "$size-"
[ "$(header content-range)" = "bytes */$size" ] || fail "Content-Range of 416"
for range in bytes=5-1 bytes=0-1,4-5 lines=1-2 bytes=x; do
	get 200 "$r/$a/export" -H "Range: $range"
	cmp whole.ksk body || fail "Range: $range is not ignored"
done
get 200 "$r/$a/export?format=csv" -r 0-9
[ "$(header accept-ranges)" = none ] || fail "csv is streamed and takes no ranges"
get 200 "$r/$a/export"
tag=$(header etag)
get 304 "$r/$a/export" -H "If-None-Match: $tag"
[ ! -s body ] || fail "304 with a body"
get 206 "$r/$a/export" -r 0-9 -H "If-Range: $tag"
get 200 "$r/$a/export" -r 0-9 -H 'If-Range: "another"'
get 200 "$r/$a/export?format=csv" -H 'Accept-Encoding: gzip'
get 304 "$r/$a/export?format=csv" -H 'Accept-Encoding: gzip' -H "If-None-Match: $(header etag)"
get 200 "$r/$a/export?format=csv&cpu=1"
[ "$(header etag)" != "$tag" ] || fail "another content, the same tag"
get 304 /api/v1/openapi.json -H "If-None-Match: $(curl -sI "$url/api/v1/openapi.json" | grep -i ^etag | tr -d '\r' | cut -d' ' -f2)"
for path in / /healthz /metrics $d "$r/$a/export?format=ksk" "$r/$a/export?format=csv" /api/v1/live; do
	[ "$(curl -sI --max-time 60 -o head -w '%{http_code} %{size_download}' "$url$path")" = "200 0" ] || fail "HEAD $path"
done
ls -d "$work"/kiseki-export-* 2>/dev/null && fail "temporary files are left"

# --- instructions ---
described 200 "$d/{device}/start" $d/board-7/start -X POST -d '{"events": ["switch"], "flush": 100}'
grep -q '"deferred": true' body || fail "board-7 is away and is told later"
described 200 "$d/{device}" $d/board-7
grep -q '"desired": "tracing"' body || fail "it is not remembered"
described 200 "$d/{device}/configure" "$d/board-7/configure?timeout_ms=100" -X POST -d '{"ring": 512, "codec": "bsf"}'
described 200 "$d/{device}" $d/board-7
grep -q '"codec": "bsf"' body || fail "the codec is not remembered"
described 200 "$d/{device}/stop" "$d/*/stop" -X POST
[ "$(grep -c '"device": ' body)" = 3 ] || fail "* is not all of them"
described 200 "$d/{device}/stop" "$d/board-7,we*/stop" -X POST
[ "$(grep -c '"device": ' body)" = 2 ] || fail "a list is not both of them"
described 404 "$d/{device}/stop" "$d/x*/stop" -X POST
described 404 "$d/{device}/stop" "$d/board-7,nobody/stop" -X POST
described 400 "$d/{device}/start" $d/board-7/start -X POST -d '{"speed": 9}'
described 400 "$d/{device}/start" $d/board-7/start -X POST -d '{"codec": "zip"}'
described 400 "$d/{device}/start" $d/board-7/start -X POST -d '{'
described 400 "$d/{device}/start" $d/board-7/start -X POST -d '[]'
described 400 "$d/{device}/configure" $d/board-7/configure -X POST
described 400 "$d/{device}/stop" $d/board-7/stop -X POST -d '{"ring": 512}'
head -c 70000 /dev/zero | tr '\0' ' ' >large
described 413 "$d/{device}/start" $d/board-7/start -X POST -H Expect: --data-binary @large
# Pages of others, and names that were pointed here, have no say.
described 403 "$d/{device}/start" $d/board-7/start -X POST -H 'Origin: http://evil.example'
described 403 "$d/{device}/start" $d/board-7/start -X POST -H 'Origin: null'
described 403 "$d/{device}/start" $d/board-7/start -X POST -H 'Sec-Fetch-Site: cross-site'
described 403 "$d/{device}/start" $d/board-7/start -X POST -H 'Host: evil.example'
# Nor do they start anything by a GET, whose answer they could not read: by a picture, a frame or a script. A link that
# is followed is fine, and so is what another page shows of ours that costs nothing.
for site in cross-site same-site; do
	for dest in 'no-cors image' 'cors empty' 'navigate iframe'; do
		set -- -H "Sec-Fetch-Site: $site" -H "Sec-Fetch-Mode: ${dest% *}" -H "Sec-Fetch-Dest: ${dest#* }"
		described 403 "$r/{run}/export" "$r/$a/export?format=csv" "$@"
		described 403 "$r/{run}/report/latency" "$r/$a/report/latency" "$@"
		get 403 /api/v1/live "$@"
		get 200 / "$@"
	done
	get 200 "$r/$a/export?format=csv" -H "Sec-Fetch-Site: $site" -H 'Sec-Fetch-Mode: navigate' -H 'Sec-Fetch-Dest: document'
done
get 200 "$r/$a/export?format=csv" -H 'Sec-Fetch-Site: same-origin' -H 'Sec-Fetch-Mode: cors' -H 'Sec-Fetch-Dest: empty'
described 403 $d $d -H 'Host: evil.example'
described 200 "$d/{device}/stop" $d/board-7/stop -X POST -H "Origin: $url"
described 200 "$d/{device}/stop" $d/board-7/stop -X POST -H "Origin: http://localhost:$port" -H "Host: localhost:$port"

# --- refusals ---
described 404 "$d/{device}" $d/nobody
described 404 "$r/{run}" $r/99999
described 400 "$r/{run}" $r/one
described 400 "$r/{run}/export" "$r/$a/export?format=doc"
described 400 "$r/{run}/export" "$r/$a/export?fromm=1"
described 400 "$r/{run}/export" "$r/$a/export?cpu=1&cpu=2"
described 400 "$r/{run}/export" "$r/$a/export?cpu=x"
described 400 "$r/{run}/timeline" "$r/$a/timeline?width=0"
for path in /nothing /api/v1 /api/v2/devices $d/board-7/nothing; do get 404 $path; done
for path in //etc/passwd /../etc/passwd /api/v1/../../etc/passwd /%2e%2e/etc/passwd "$d/%2e%2e/x" \
	"$d/a%00b" "$d/%" "$d//x" "$d/"; do
	get 400 "$path"
	grep -q '^{"error": *"' body || fail "$path: not an error in JSON: $(cat body)"
done
get 404 "$d/..%2f..%2fetc%2fpasswd"
described 414 "$d/{device}" "$d/$(head -c 5000 /dev/zero | tr '\0' a)"
get 414 "/$(head -c 5000 /dev/zero | tr '\0' a)"
get 405 $d -X POST -d x
[ "$(header allow)" = "GET, HEAD" ] || fail "Allow: $(header allow)"
get 405 $d/board-7/start
[ "$(header allow)" = POST ] || fail "Allow: $(header allow)"
get 405 $d -X DELETE

mkdir garbage
head -c 2000 /dev/urandom >garbage/random
printf 'GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n' "$(head -c 200000 /dev/zero | tr '\0' h)" >garbage/head
printf 'GET / HTTP/9.9\r\n\r\n' >garbage/version
printf 'GET\r\n\r\n' >garbage/short
printf '\r\n\r\n\r\n\r\n' >garbage/lines
printf 'POST %s/board-7/stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n' $d >garbage/length
printf 'POST %s/board-7/stop HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n' $d >garbage/chunk
printf 'POST %s/board-7/stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n' $d >garbage/huge
printf 'GET http://localhost/api/v1/devices HTTP/1.1\r\nHost: localhost\r\n\r\n' >garbage/absolute
printf '\026\003\001\002\000\001\000\001\374\003\003' >garbage/tls
check raw "$port" garbage/* >garbage.out || fail "$(cat garbage.out)"
get 200 /healthz

# --- live ---
check live "$port" /api/v1/live 2 >live.out
[ "$(grep -c '^state' live.out)" -ge 2 ] || fail "no states: $(cat live.out)"
cut -f2 live.out | sed -n 1p >body; echo >>body
check schema "$api" GET "$d/{device}" 200 <body
# A device that sends while three clients watch; the file has to be more than one of them takes.
devices=$(sed -n 's|^devices .*:\([0-9]*\)$|\1|p' serve.out)
python3 "$SRC/tests/tools/http_live.py" "$devices" "$port" c.ksk || fail "live events"
# A client that goes away gives its place back.
for _ in $(seq 3); do curl -s --max-time 0.3 "$url$d/board-7/live" >/dev/null || true; done
for _ in $(seq 600); do
	get 200 /metrics
	grep -q '^kiseki_http_live_clients 0$' body && grep -q '^kiseki_http_exports 0$' body && break
	sleep 0.1
done
grep -q '^kiseki_http_live_clients 0$' body || fail "live clients are left"
grep -q '^kiseki_http_exports 0$' body || fail "exports are left"
grep -q 'commit_errors": 0' <(curl -s "$url/healthz") || fail "commits failed"

# A client that hangs in the middle of an export does not keep the collector from stopping.
curl -s --limit-rate 1k "$url$r/$a/export?format=xml" >/dev/null &
slow=$!
curl -s "$url$d/board-7/live" >/dev/null &
follow=$!
sleep 0.3
kill -TERM $server
wait $server || fail "kiseki serve ended with $?"
server=
kill $slow $follow 2>/dev/null || true
wait $slow $follow 2>/dev/null || true
exit 0
