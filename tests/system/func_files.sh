#!/bin/bash
# SPDX-License-Identifier: MIT
# Records of traced processes and .ksk files with calls: what convert, info and check make of them. A
# small record lies in tests/data/func; tests/golden/func_files has what is said about it, word for word
# (UPDATE=1 writes it).
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
data=$SRC/tests/data/func
golden=$SRC/tests/golden/func_files
failed=0

bad()
{
	echo "FAILED: $*"
	failed=1
}

# same GOLDEN STATUS COMMAND...: exits so and prints the golden file.
same()
{
	local file=$golden/$1 status=$2
	shift 2
	"$KISEKI" "$@" >"$work/out" 2>"$work/err"
	[ $? = "$status" ] || bad "kiseki $*: not exit $status: $(cat "$work/err")"
	if [ -n "${UPDATE-}" ]; then
		cp "$work/out" "$file"
	else
		diff -u "$file" "$work/out" || bad "kiseki $*: not what $file says"
	fi
}

# counts FILE: the numbers that do not depend on how the calls are kept.
counts()
{
	"$KISEKI" check --json "$1" | python3 -c '
import json, sys
f = json.load(sys.stdin)["functions"]
keep = ("entered", "left", "os_records", "from_ns", "to_ns", "ledger")
row = lambda o: {k: o[k] for k in keep}
print(json.dumps([row(f), f["processes"], [(row(t), t["process"], t["tid"], t["comm"]) for t in f["threads"]]]))'
}

cp "$data"/sample.4321 "$data"/sample.4321.maps "$work"
cd "$work" || exit 1
same record.info.txt 0 info sample.4321
same record.check.txt 0 check sample.4321
same record.info.json 0 info --json sample.4321

# Packed it says the same, and is a small part of it.
"$KISEKI" convert sample.4321 -o sample.ksk || bad "convert sample.4321"
[ "$(stat -c %s sample.ksk)" -lt 6000 ] || bad "sample.ksk has $(stat -c %s sample.ksk) bytes"
[ "$(counts sample.4321)" = "$(counts sample.ksk)" ] || bad "the .ksk counts other calls"
"$KISEKI" check sample.ksk >out || bad "check sample.ksk: $(cat out)"
# … and again, from a .ksk to a .ksk.
"$KISEKI" convert sample.ksk -o again.ksk || bad "convert sample.ksk"
[ "$(counts sample.ksk)" = "$(counts again.ksk)" ] || bad "again.ksk counts other calls"

# Down a pipe as well.
# shellcheck disable=SC2002 # a pipe is what is tested
cat sample.ksk | "$KISEKI" convert - -o piped.ksk || bad "convert from a pipe"
cmp again.ksk piped.ksk || bad "a pipe makes a difference"

# The file in the tree was written by an earlier program; it must say the same for good.
cp "$data/sample.ksk" tree.ksk
same ksk.info.txt 0 info tree.ksk
same ksk.check.txt 0 check tree.ksk
[ "$(counts sample.4321)" = "$(counts tree.ksk)" ] ||
	bad "the .ksk of the tree counts other calls"

# Beside the scheduler's events, and without them where the format has no room.
"$KISEKI" convert "$SRC/tests/vectors/small.ksk" -o sched.ndjson || bad "convert small.ksk"
"$KISEKI" convert sample.ksk -o calls.ndjson 2>err || bad "convert sample.ksk to ndjson"
grep -q 'calls of the trace were left out' err || bad "no note: $(cat err)"
"$KISEKI" convert sample.4321 -o calls.json 2>err && bad "a record became json"
grep -q '^kiseki: cannot convert sample.4321: it holds calls' err || bad "not said: $(cat err)"
"$KISEKI" report sched sample.4321 2>err && bad "a report of the scheduler, of calls"
[ "$(wc -l <err)" = 1 ] || bad "not one line: $(cat err)"

# A folder: two processes on one axis of time.
mkdir folder && cp sample.4321 folder/ && cp sample.4321 folder/sample.4399 &&
	cp sample.4321.maps folder/
"$KISEKI" info folder >out || bad "info folder"
grep -q '^processes 2: sample (4321), sample (4321)$' out || bad "not two processes: $(cat out)"
"$KISEKI" convert folder -o folder.ksk || bad "convert folder"
[ "$(counts folder)" = "$(counts folder.ksk)" ] || bad "the folder's .ksk counts other calls"

# Cut or torn: told as lost, and as damage.
head -c 11000 sample.4321 >cut.4321
"$KISEKI" check cut.4321 >out && bad "a cut record is whole"
grep -q '^lost      damage: ' out || bad "nothing is lost by damage: $(cat out)"
head -c 3000 sample.4321 >cut.4321
"$KISEKI" info cut.4321 2>err && bad "a record without its header"
grep -q 'ends within its header$' err || bad "not said: $(cat err)"
size=$(stat -c %s sample.ksk)
for at in $((size / 3)) $((size / 2)) $((size * 3 / 5)); do
	cp sample.ksk torn.ksk
	printf '\377' | dd of=torn.ksk bs=1 seek="$at" conv=notrunc 2>dd.err
	cmp -s sample.ksk torn.ksk && printf '\0' | dd of=torn.ksk bs=1 seek="$at" conv=notrunc 2>dd.err
	"$KISEKI" check --json torn.ksk >out && bad "torn at $at is whole"
	python3 - out <<-'EOF' || bad "torn at $at: not all calls are given or told as lost"
		import json, sys
		f = json.load(open(sys.argv[1]))["functions"]
		lost = sum(c["lost"] for c in f["ledger"].values())
		sys.exit(f["entered"] + f["left"] + f["os_records"] + lost != 10800)
	EOF
done
head -c $((size / 2)) sample.ksk >cut.ksk
"$KISEKI" check cut.ksk >out && bad "a cut .ksk is whole"
exit $failed
