#!/bin/bash
# SPDX-License-Identifier: MIT
# What the func commands print, word for word, of small scripts of calls whose numbers were worked out by
# hand; and the exports, as their own readers see them where there are any. UPDATE=1 writes what they print now
# into tests/golden.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
cd "$SRC/tests/golden/func" || exit 1

fail()
{
	echo "FAILED: $*"
	failed=1
}

# same GOLDEN COMMAND...: the command must succeed, say nothing else, and print the golden file.
same()
{
	local golden=$1
	shift
	if ! "$KISEKI_SCRIPT" func "$@" >"$work/out" 2>"$work/err" || [ -s "$work/err" ]; then
		cat "$work/err"
		fail "kiseki func $*"
	fi
	if [ -n "${UPDATE-}" ]; then
		cp "$work/out" "$golden"
	elif ! diff -u "$golden" "$work/out"; then
		fail "kiseki func $*: not what $golden says"
	fi
}

small=small/trace.script
plain=plain/trace.script
same small/report.txt report $small
same small/report.json report $small --json
same small/report_calls.txt report $small --sort calls --limit 3 --process demo
same small/report_some.txt report $small --function '*i*' --min-time 1us --thread 100
same small/tree.txt tree $small
same small/tree.json tree $small --json
same small/tree_some.txt tree $small --function fibonacci --min-time 2us
same small/tree_depth.txt tree $small --depth 1 --limit 2
same small/merged.txt tree $small --merged
same small/merged.json tree $small --merged --json --depth 2
same small/graph.txt graph $small 'fib*'
same small/graph.json graph $small main --json
same plain/report.txt report $plain
same plain/report.json report $plain --json
same plain/tree.txt tree $plain
same plain/diff.txt diff $small $plain
same plain/diff_calls.txt diff $small $plain --sort calls
same plain/diff.json diff $small $plain --json
for format in folded speedscope chrome kft; do
	same small/export.$format export $small -f $format -o -
done

# Each is what its name says.
for file in small/*.json plain/*.json small/export.speedscope small/export.chrome; do
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$file" || fail "$file is no JSON"
done

# A speedscope profile: events in order, closed in the order of a stack, frames that exist.
python3 - small/export.speedscope <<'END' || fail "the speedscope profile"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json"
assert len(d["profiles"]) == 3
for p in d["profiles"]:
    stack, last = [], p["startValue"]
    for e in p["events"]:
        assert e["at"] >= last and e["at"] <= p["endValue"]
        last = e["at"]
        assert 0 <= e["frame"] < len(d["shared"]["frames"])
        if e["type"] == "O":
            stack.append(e["frame"])
        else:
            assert stack.pop() == e["frame"]
    assert not stack
END

# The KFT list, read as kd reads it: dashes, then words; callers are open when they are named.
python3 - small/export.kft <<'END' || fail "the KFT list"
import sys
on, rows = False, []
for line in open(sys.argv[1]):
    if line.startswith("--------"):
        on = True
        continue
    if not on:
        continue
    word = line.split()
    off = 1 if "no exit" in line else 0
    delta = None if off else int(word[1])
    assert len(word) == 5 + off, line
    rows.append((int(word[0]), delta, int(word[2 + off]), word[3 + off], word[4 + off]))
assert len(rows) == 12
assert rows == sorted(rows, key=lambda r: r[0])
for i, (entry, delta, pid, name, at) in enumerate(rows):
    if at == "-":
        continue
    caller, offset = at.split("+")
    assert any(r[3] == caller and r[2] == pid and r[0] <= entry and
               (r[1] is None or entry + (delta or 0) <= r[0] + r[1]) for r in rows[:i]), name
local = {}
END

# The folded stacks have all local time.
sum=$(awk '{ sum += $NF } END { print sum }' small/export.folded)
[ "$sum" = 53500 ] || fail "the folded stacks have $sum ns"

if command -v protoc >/dev/null; then
	"$KISEKI_SCRIPT" func export $small -o "$work/out.pb.gz" || fail "pprof"
	gzip -dc "$work/out.pb.gz" >"$work/out.pb" || fail "pprof is not gzipped"
	protoc -I "$SRC/tests/data" --decode=perftools.profiles.Profile pprof_subset.proto \
		<"$work/out.pb" >"$work/pprof" || fail "pprof cannot be decoded"
	"$KISEKI_SCRIPT" func export $small -o "$work/out.pftrace" || fail "perfetto"
	protoc -I "$SRC/tests/data" --decode=kiseki.Trace perfetto_subset.proto \
		<"$work/out.pftrace" >"$work/perfetto" || fail "perfetto cannot be decoded"
	for file in pprof perfetto; do
		if grep -qE '^ *[0-9]+[ :]' "$work/$file"; then fail "$file: unknown fields"; fi
		if [ -n "${UPDATE-}" ]; then
			cp "$work/$file" small/export.$file
		else
			diff -u small/export.$file "$work/$file" || fail "$file"
		fi
	done
	[ "$(grep -c TYPE_SLICE_BEGIN "$work/perfetto")" = 12 ] || fail "perfetto: begins"
	[ "$(grep -c TYPE_SLICE_END "$work/perfetto")" = 12 ] || fail "perfetto: ends"
else
	echo "skipped: protoc is not installed, pprof and Perfetto were not decoded"
fi

# Wrong command lines are said and have their own status.
for words in "report" "report $small --sort nothing" "tree $small --depth x" "graph $small" \
	"export $small -o -" "export $small -f nothing -o -" "report $small --min-time never" \
	"tree $small --merged --function main" "run"; do
	# shellcheck disable=SC2086 # words
	"$KISEKI_SCRIPT" func $words >"$work/out" 2>"$work/err"
	[ $? = 2 ] || fail "kiseki func $words: not a usage error"
	[ "$(wc -l <"$work/err")" = 1 ] || fail "kiseki func $words: not one line"
done
"$KISEKI_SCRIPT" func graph $small nothing >"$work/out" 2>"$work/err"
[ $? = 1 ] || fail "a graph of nothing"
"$KISEKI_SCRIPT" func report /nonexistent >"$work/out" 2>"$work/err"
[ $? = 1 ] || fail "a report of nothing"

# An export appears whole or not at all.
"$KISEKI_SCRIPT" func export /nonexistent -f folded -o "$work/none" 2>"$work/err"
[ ! -e "$work/none" ] || fail "an export of nothing"
exit $failed
