#!/bin/bash
# SPDX-License-Identifier: MIT
# Profiles and virtual machines at a real collector: its answers are what the command line prints of the same files, fit their
# description, and add up; what is wrong is refused in one line.
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
check() { "$SRC/tests/tools/http_check.py" "$@"; }
api=$SRC/docs/api/openapi.json

"$SAMPLE_MAKE" "$SRC/tests/golden/vm/two.sample" two.ksk
"$SAMPLE_MAKE" "$SRC/tests/golden/profile/before.profile" before.ksk
"$SAMPLE_MAKE" "$SRC/tests/golden/profile/after.profile" after.ksk
# A host with two guests of two virtual CPUs, long enough for many segments.
{
	printf 'device long\nkernel 6.1.0\nmachine aarch64\ncpus 1\nsampling 1000000 50 1 2 1 31\n'
	"$SAMPLE_MAKE" --random 5 20000 1
} >long.sample
"$SAMPLE_MAKE" long.sample long.ksk 2048 8192
# And one with so many items that readers leave marks, in segments as recorders make them.
python3 "$SRC/tests/tools/vm_host.py" 12 | "$SAMPLE_MAKE" - hosts.ksk 16384 65536
vm=$("$FILL_STORE" data vmhost two.ksk)
before=$("$FILL_STORE" data box before.ksk)
after=$("$FILL_STORE" data box after.ksk)
long=$("$FILL_STORE" data long long.ksk)
# A segment for each block: what is lost lies between two ticks that headers have.
"$SAMPLE_MAKE" "$SRC/tests/golden/profile/paced.profile" paced.ksk 60 1
paced=$("$FILL_STORE" data paced paced.ksk)
hosts=$("$FILL_STORE" data hosts hosts.ksk)
"$KISEKI" convert "$SRC/tests/data/ftrace_4.19.txt" -o sched.ksk
sched=$("$FILL_STORE" data box sched.ksk)

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

# get STATUS PATH: the body is in `body`.
get() {
	local got
	: >body
	got=$(curl -s -g --max-time 60 -o body -w '%{http_code}' "$url$2") || got="$got (curl $?)"
	[ "$got" = "$1" ] || fail "$2: $got and not $1: $(head -c 300 body)"
}
described() {
	get "$1" "$3"
	check schema "$api" GET "/api/v1$2" "$1" <body
}
# same PATTERN PATH COMMAND...: the answer is what the command prints, whatever the order of keys.
same() {
	local pattern=$1 path=$2
	shift 2
	described 200 "$pattern" "$path"
	"$KISEKI" "$@" >want 2>err || { cat err; fail "kiseki $*"; }
	python3 - "$path" <<'END' || fail "$path is not what kiseki $* prints"
import json, sys
want, got = json.load(open("want")), json.load(open("body"))
if "totals" in want and "from" in sys.argv[1]:
    # Of a window only the blocks around it are read, so what lies further away is not counted.
    want["totals"].pop("left_out"), got["totals"].pop("left_out")
want.get("totals", {}).pop("cut", 0), got.get("totals", {}).pop("cut", 0)
for key in want:
    if want[key] != got.get(key):
        sys.exit(f"{key}:\n{json.dumps(want[key])[:2000]}\n{json.dumps(got.get(key))[:2000]}")
END
}
# wrong STATUS PATH TEXT: refused, with that in its one line.
wrong() {
	get "$1" "$2"
	python3 - "$3" <<'END' || fail "$2 says: $(cat body)"
import json, sys
text = json.load(open("body"))["error"]
sys.exit(0 if sys.argv[1] in text and "\n" not in text else 1)
END
}

# says EXPRESSION: it is true of the body, d.
says() {
	python3 -c 'import json, sys; d = json.load(open("body")); sys.exit(not eval(sys.argv[1]))' "$1" || fail "not $1: $(cat body)"
}

# --- what of the time is not recorded ---
# Of 9 s, three were pauses. CPU 0 lacks what is between 2 and 5 s, of which one second was a pause; CPU 1 nothing.
for of in "/runs/{run} /runs/$paced" "/devices/{device} /devices/paced"; do
	described 200 "${of% *}/ledger" "${of#* }/ledger"
	says 'd["uncovered"] == {"runs": 1, "total_ns": 9 * 10**9, "planned_ns": 3 * 10**9, "lost_ns": 10**9, "gaps_ns": 0, "ratio": 1 / 9}'
done
described 200 "/runs/{run}/profile/report" "/runs/$paced/profile/report"
says 'd["totals"]["uncovered"] == {"total_ns": 9 * 10**9, "planned_ns": 3 * 10**9, "lost_ns": 10**9, "ratio": 1 / 9}'
says '(d["totals"]["least_period"], d["totals"]["most_period"]) == (10**9, 2 * 10**9)'
described 200 "/runs/{run}/ledger" "/runs/$sched/ledger"
# One of two CPUs lost events between stamps 100 us apart.
says '(d["uncovered"]["lost_ns"], d["uncovered"]["planned_ns"], d["uncovered"]["total_ns"]) == (50000, 0, 400000)'
# The same of devices, the latest first, and of all of them.
described 200 "/work" "/work"
says 'd["uncovered"] is None'
described 200 "/work" "/work?uncovered=100"
says '[(u["run"], u["ratio"]) for u in d["uncovered"]["devices"] if u["device"] == "paced"] == [('"$paced"', 1 / 9)]'
says 'all(d["uncovered"]["all"][k] == sum(u[k] for u in d["uncovered"]["devices"]) for k in ("runs", "total_ns", "lost_ns", "gaps_ns"))'
says 'len({u["device_id"] for u in d["uncovered"]["devices"]}) == len(d["uncovered"]["devices"]) > 1'
described 200 "/work" "/work?uncovered=1"
says 'len(d["uncovered"]["devices"]) == 1'
wrong 400 "/work?uncovered=101" "uncovered"

# --- what a run is ---
described 200 "/runs/{run}" "/runs/$vm"
python3 - <<'END' || fail "what the run says of itself: $(cat body)"
import json
p = json.load(open("body"))["profile"]
assert (p["from_ns"], p["to_ns"], p["period"], p["cpus"]) == (1000000, 2000000, 100000, 2), p
assert p["has_guests"] and p["has_switches"] and p["unit"] == "ns" and p["collector"] == "module", p
END
described 200 "/runs/{run}" "/runs/$before"
grep -q '"has_guests": false' body || fail "a native profile has guests"
described 200 "/runs/{run}" "/runs/$sched"
grep -q '"profile": {' body && fail "a run of the scheduler has a profile"

# --- profiles ---
p="/runs/{run}/profile" d="/devices/{device}/profile"
same $p/report "/runs/$before/profile/report" profile report before.ksk --json
same $d/report "/devices/box/profile/report?by=process&sort=total&value=samples" \
	profile report after.ksk --json --by process --sort total --samples
same $p/report "/runs/$before/profile/report?process=42&from_ns=2000000&to_ns=3500000&cpu=0-1" \
	profile report before.ksk --json -p 42 --from 2ms --to 3500us --cpu 0-1
same $p/report "/runs/$before/profile/report?mode=idle" profile report before.ksk --json --mode idle
same $p/report "/runs/$before/profile/report?limit=2&percent=20&sort=total" \
	profile report before.ksk --json --limit 2 --percent 20 --sort total
same $p/report "/runs/$before/profile/report?function=server*" profile report before.ksk --json --function 'server*'
same $p/tree "/runs/$before/profile/tree?groups=thread" profile export before.ksk -f json -o -
same $d/tree "/devices/box/profile/tree?groups=thread&mode=kernel" profile export after.ksk -f json -o - --mode kernel
same $p/diff "/runs/$before/profile/diff?with=$after" profile diff before.ksk after.ksk --json
same $p/diff "/runs/$before/profile/diff?with=$after&by=process&sort=total&limit=2" \
	profile diff before.ksk after.ksk --json --by process --sort total --limit 2
described 200 $d/diff "/devices/box/profile/diff?to=%2B2ms&with_from=%2B2ms"

# A part of a long run is what the whole has in that time, without reading all of it.
same $p/report "/runs/$long/profile/report" profile report long.ksk --json
python3 - <<'END' >window
import json
t = json.load(open("body"))["totals"]
span = t["to_ns"] - t["from_ns"]
print(t["from_ns"] + span * 2 // 5, t["from_ns"] + span // 2)
END
read -r from to <window
same $p/report "/runs/$long/profile/report?from_ns=$from&to_ns=$to&by=thread" \
	profile report long.ksk --json --by thread --from "${from}ns" --to "${to}ns"
same $p/tree "/runs/$long/profile/tree?from_ns=$from&to_ns=$to&groups=thread&limit=200000" \
	profile export long.ksk -f json -o - --from "${from}ns" --to "${to}ns"

# Trees that are cut add up; so do overviews.
for cut in limit=3 depth=2 min=2000000 "limit=2&groups=none&callers=1"; do
	described 200 $p/tree "/runs/$before/profile/tree?$cut"
	python3 - <<'END' || fail "tree with $cut"
import json
d = json.load(open("body"))
nodes, total = d["nodes"], d["totals"]["total"]
assert any("others" in n for n in nodes)
for key in total:
    assert sum(n["self"][key] for n in nodes) == total[key]
    for i, n in enumerate(nodes):
        below = 0
        for m in nodes[i + 1:]:
            if m["depth"] <= n["depth"]:
                break
            below += m["total"][key] if m["depth"] == n["depth"] + 1 else 0
        assert below + n["self"][key] == n["total"][key], n
END
done
for by in cpu process thread; do
	described 200 $p/timeline "/runs/$before/profile/timeline?width=7&by=$by&limit=1"
	python3 - $by <<'END' || fail "timeline by $by: $(cat body)"
import json, sys
d = json.load(open("body"))
assert d["by"] == sys.argv[1] and d["width"] == 7
assert all(len(m) == 7 for r in d["rows"] for m in r["modes"].values())
parts = {m: sum(sum(r["modes"].get(m, [])) for r in d["rows"]) for m in ("idle", "kernel", "user")}
assert parts["idle"] == 5000000 and parts["kernel"] == 1000000 and parts["user"] == 8000000, parts
assert sum(r["total"] for r in d["rows"]) == 9000000
assert (d["others"] > 0) == (sys.argv[1] != "cpu")
END
done
described 200 $d/timeline "/devices/long/profile/timeline?value=samples"

# --- virtual machines ---
v="/runs/{run}/vm" w="/devices/{device}/vm"
for of in "$v /runs/$vm/vm" "$w /devices/vmhost/vm"; do
	same "${of% *}/report" "${of#* }/report" vm report two.ksk --json
	same "${of% *}/steal" "${of#* }/steal" vm steal two.ksk --json
	same "${of% *}/correct" "${of#* }/correct" vm correct two.ksk --json
	described 200 "${of% *}/slices" "${of#* }/slices"
done
same $v/report "/runs/$vm/vm/report?by=process&from=%2B200us&to=%2B700us" \
	vm report two.ksk --json --by process --from +200us --to +700us
same $v/correct "/runs/$vm/vm/correct?by=thread&limit=1" vm correct two.ksk --json --by thread --limit 1
same $v/steal "/runs/$long/vm/steal?limit=3" vm steal long.ksk --json --limit 3

# The tree is that of the export, which has the reports beside it.
for of in "$v /runs/$vm/vm/tree?" "$w /devices/vmhost/vm/tree?" "$v /runs/$vm/vm/tree?vcpus=1&threads=1& --vcpus --threads" \
	"$v /runs/$vm/vm/tree?from=%2B200us&to=%2B700us& --from +200us --to +700us"; do
	read -r pattern path options <<<"$of"
	described 200 "$pattern/tree" "${path%?}"
	# shellcheck disable=SC2086 # several of them
	"$KISEKI" vm export two.ksk -f json -o - $options | jq -S '{report, totals, folded, nodes}' >want
	jq -S . body | diff want - || fail "$path is not what kiseki vm export $options writes"
done
described 200 $v/tree "/runs/$vm/vm/tree?limit=3&depth=5&min=1000"
[ "$(jq '[.nodes[] | .self.weight] | add == 1690000' body)" = true ] || fail "a folded tree lost something: $(cat body)"

# A part of a run is the same whether it is read from its start or from a mark: the first to ask leaves marks, and the command has none.
for window in "+1s +11s" "+10s +10.5s" "+7s +11s" "+11.9s +20s"; do
	read -r from_s to_s <<<"$window"
	q="from=%2B${from_s#+}&to=%2B${to_s#+}"
	same $v/report "/runs/$hosts/vm/report?$q" vm report hosts.ksk --json --limit 0 --from "$from_s" --to "$to_s"
	same $v/steal "/runs/$hosts/vm/steal?$q" vm steal hosts.ksk --json --limit 0 --from "$from_s" --to "$to_s"
	same $v/correct "/runs/$hosts/vm/correct?by=thread&$q" \
		vm correct hosts.ksk --json --limit 0 --by thread --from "$from_s" --to "$to_s"
	get 200 "/runs/$hosts/vm/tree?limit=200000&$q"
	"$KISEKI" vm export hosts.ksk -f json -o - --from "$from_s" --to "$to_s" | jq -S '{report, totals, folded, nodes}' >want
	jq -S . body | diff want - || fail "the tree of a part is not that of the export"
done

# What is drawn adds up to what is reported of the same time, however much is merged.
mkdir drawn
for run in "$vm" "$long"; do
	for window in "" "&from_ns=$from&to_ns=$to" "&from_ns=1250000&to_ns=1650000"; do
		get 200 "/runs/$run/vm/report?by=process$window"
		mv body "drawn/$run$window.report"
		for width in 1 5 100000; do
			get 200 "/runs/$run/vm/slices?width=$width&limit=1000000$window"
			mv body "drawn/$run$window.$width"
		done
	done
done
python3 - <<'END' || fail "what is drawn is not what is reported"
import json, pathlib

TABLES = {"guest": "places", "vmm-kernel": "exits", "vmm-user": "exits", "steal": "tasks", "waiting": "tasks"}


def check(d, report):
    wanted, got = {}, {}
    for m in report["machines"]:
        for v in m["vcpus"]:
            if v["wall_ns"]:
                wanted.setdefault((m["vm"], v["tid"]), []).append(v["classes_ns"])
    for lane in d["vcpus"] + d["cpus"]:
        at = lane["from_ns"] - d["from_ns"]
        for row in sorted(lane["spans"] + lane["merged"]):
            assert row[0] == at, (row, at)
            at += row[1]
        assert at == lane["to_ns"] - d["from_ns"]
        assert all(sum(m[2:]) == m[1] for m in lane["merged"])
    for lane in d["vcpus"]:
        sums = dict.fromkeys(d["classes"], 0)
        for _, length, kind, _, what in lane["spans"]:
            word = d["classes"][kind]
            sums[word] += length
            assert -1 <= what < (len(d[TABLES[word]]) if word in TABLES else 0)
        for row in lane["merged"]:
            for kind, ns in enumerate(row[2:]):
                sums[d["classes"][kind]] += ns
        got.setdefault((lane["vm"], lane["tid"]), []).append(sums)
    assert got == wanted, (got, wanted)
    for lane in d["cpus"]:
        assert all(-1 <= task < len(d["tasks"]) for _, _, task in lane["spans"])
    return len(got)


lanes = 0
for path in pathlib.Path("drawn").glob("*.report"):
    for width in (1, 5, 100000):
        lanes += check(json.load(open(path.with_suffix(f".{width}"))), json.load(open(path)))
assert lanes == 3 * (2 + 2 + 4 + 4), lanes
END

# --- what is wrong ---
wrong 404 "/runs/$sched/profile/report" "run $sched has no profile"
wrong 404 "/runs/$before/vm/report" "no virtual CPU was seen in it"
wrong 404 "/runs/$before/vm/slices" "no virtual CPU was seen in it"
wrong 404 "/runs/77/profile/tree" "there is no run 77"
wrong 404 "/devices/nobody/vm/slices" "nobody"
wrong 400 "/runs/$before/profile/report?by=colour" "it is one of function, object, process, thread, cpu"
wrong 400 "/runs/$before/profile/report?sort=max" "cannot take sort=max"
wrong 400 "/runs/$before/profile/report?percent=101" "it is not from 0 to 100"
wrong 400 "/runs/$before/profile/report?percent=nan" "it is not from 0 to 100"
wrong 400 "/runs/$before/profile/report?mode=users" "cannot take mode="
wrong 400 "/runs/$before/profile/report?cpu=x" "cannot take cpu="
wrong 400 "/runs/$before/profile/report?width=3" "width"
wrong 400 "/runs/$before/profile/report?from_ns=5&to_ns=5" "nothing lies between them"
wrong 400 "/runs/$before/profile/tree?limit=0" "cannot take limit=0"
wrong 400 "/runs/$before/profile/tree?groups=all" "it is one of none, process, thread"
wrong 400 "/runs/$before/profile/diff" "say with what"
wrong 400 "/runs/$before/profile/diff?with=x" "it is not a number"
wrong 400 "/runs/$before/profile/timeline?width=5000" "from 1 to 4096"
wrong 400 "/runs/$before/profile/timeline?by=object" "it is one of cpu, process, thread"
wrong 400 "/runs/$vm/vm/report?by=cpu" "it is one of process, thread, function"
wrong 400 "/runs/$vm/vm/tree?vcpus=2" "cannot take vcpus=2"
wrong 404 "/runs/$before/vm/tree" "no virtual CPU was seen in it"
wrong 400 "/runs/$vm/vm/slices?width=0" "cannot take width=0"
wrong 413 "/runs/$vm/vm/slices?limit=5" "there are more than 5 spans"
wrong 501 "/runs/$vm/vm/report?from=-5m" "never compared with real time"
kill -0 $server || fail "the collector ended: $(cat serve.err)"
