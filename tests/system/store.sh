#!/bin/bash
# SPDX-License-Identifier: MIT
# A collector's folder: what `check` and `info` say of it, whole and damaged.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

bad()
{
	echo "$*"
	failed=1
}

for n in 1 2; do
	"$KSK_RANDOM" $n.ksk $((n * 2000)) 4000 || bad "cannot make a trace"
done
for n in 1 2; do
	FILE_BYTES=20000 "$FILL_STORE" data board-$n $n.ksk >/dev/null || bad "cannot make a store"
done

"$KISEKI" check data >out || bad "check: exit $?"
grep -q '^damage    none$' out || bad "check: $(cat out)"
"$KISEKI" check data --json >out.json || bad "check --json: exit $?"
"$KISEKI" info data | grep -q board-2 || bad "info does not list the device"

# The run has what the file has.
for n in 1 2; do
	want=$("$KISEKI" check $n.ksk --json | jq '[.events, ([.streams[].lost] | add)]' -c)
	got=$(jq -c ".runs[] | select(.name == \"board-$n\") | [.events, (.lost | add)]" out.json)
	[ "$want" = "$got" ] || bad "board-$n: $got, not $want"
done
[ "$(jq .ok out.json)" = true ] || bad "not ok"
[ "$(jq .log_files out.json)" -gt 2 ] || bad "only $(jq .log_files out.json) log files"

# A flipped bit is found, wherever it is; the rest is still read.
size=$(stat -c %s data/log/00000001.klog)
for at in 5 100 $((size / 2)) $((size - 1)); do
	cp -r data torn
	printf '\xa5' | dd of=torn/log/00000001.klog bs=1 seek="$at" conv=notrunc status=none
	if ! cmp -s data/log/00000001.klog torn/log/00000001.klog; then
		"$KISEKI" check torn >out
		[ $? -eq 1 ] || bad "damage at $at is not found"
		grep -q '^damage    log file 1, ' out || bad "at $at: $(cat out)"
	fi
	rm -r torn
done

# So it is in the newest one, of which a collector that starts takes all the rest: a flip in any of its records costs no other.
last=$(ls data/log/*.klog | tail -1)
number=$((10#$(basename "$last" .klog)))
size=$(stat -c %s "$last")
for at in 32 60 $((size / 3)) $((size / 2)) $((size - 40)) $((size - 1)); do
	cp -r data torn
	python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2])); b = f.read(1)[0]; f.seek(-1, 1); f.write(bytes([b ^ 4]))' \
		"torn/log/$(basename "$last")" "$at" || bad "cannot damage $last"
	"$KISEKI" check torn >out
	[ $? -eq 1 ] || bad "damage at $at of the newest log file is not found"
	grep -q "^damage    log file $number, " out || bad "at $at of the newest: $(cat out)"
	rm -r torn
done

# The tail of a write that was broken off is no damage.
last=$(ls data/log/*.klog | tail -1)
head -c 50 /dev/urandom >>"$last"
"$KISEKI" check data >out || bad "a broken-off write is called damage: $(cat out)"
grep -q '^unsaved   50 bytes' out || bad "unsaved: $(cat out)"

# A database with a page that was never written, or that is cut, is found; one that is whole is not.
for harm in whole zeros cut; do
	rm -f data/facts.sqlite
	python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("CREATE TABLE t (a PRIMARY KEY)")
c.executemany("INSERT INTO t VALUES (?)", ((f"row {i}",) for i in range(999))); c.commit()' data/facts.sqlite || bad "cannot make a database"
	case $harm in
	zeros) dd if=/dev/zero of=data/facts.sqlite bs=4096 count=1 seek=3 conv=notrunc status=none ;;
	cut) truncate -s 1 data/facts.sqlite ;;
	esac
	"$KISEKI" check data >out && found=no || found=yes
	[ $found = $([ $harm = whole ] && echo no || echo yes) ] || bad "$harm of a database: $(cat out)"
	[ $harm = whole ] || grep -q '^damage    facts.sqlite: ' out || bad "$harm of a database: $(cat out)"
done
rm data/facts.sqlite

# An index that says something else is found.
cp data/log/00000002.kidx data/log/00000001.kidx
"$KISEKI" check data >out && bad "a wrong index is not found"
grep -q 'its index does not fit' out || bad "index: $(cat out)"
exit $failed
