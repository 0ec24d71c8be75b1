#!/bin/bash
# SPDX-License-Identifier: MIT
# Bootcharts: archives that other tools have made become .ksk files and archives again, and a reader that knows nothing of
# our code (tests/tools/bootchart_read.py) finds the same processes with the same times in them.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
corpus=$SRC/tests/corpus/bootchart

fail() { echo "FAILED: $*"; exit 1; }
read_chart() { python3 "$SRC/tests/tools/bootchart_read.py" "$@"; }
# Fails with a message that has this in it.
refuses() {
	local text=$1
	shift
	if "$@" >out 2>errors; then fail "$* did not fail"; fi
	grep -qF "$text" errors || fail "$*: $(cat errors)"
	[ "$(wc -l <errors)" = 1 ] || fail "$*: more than one line: $(cat errors)"
}

for name in android busybox; do
	"$KISEKI" boot export "$corpus/$name.tgz" -o $name.ksk
	"$KISEKI" convert "$corpus/$name.tgz" -o $name.convert.ksk
	cmp $name.ksk $name.convert.ksk || fail "$name: boot export and convert differ"
	"$KISEKI" check $name.ksk >out || fail "$name: $(cat out)"
	"$KISEKI" boot export $name.ksk -o $name.tgz
	"$KISEKI" boot export "$corpus/$name.tgz" -o direct.tgz
	cmp $name.tgz direct.tgz || fail "$name: the way through .ksk changes the archive"
	read_chart "$corpus/$name.tgz" >expected
	read_chart $name.tgz >found
	diff expected found || fail "$name: other processes than before"
	grep -q '^process 1 ' found || fail "$name: no process 1: $(cat found)"
	# The same, unpacked; and as JSON, from any of them.
	mkdir $name.folder
	tar -xzf $name.tgz -C $name.folder
	"$KISEKI" boot export $name.folder -o folder.ksk
	"$KISEKI" boot export $name.tgz -o archive.ksk
	cmp folder.ksk archive.ksk || fail "$name: the folder is another boot than the archive"
	"$KISEKI" boot export $name.ksk -o from_ksk.json
	"$KISEKI" boot export "$corpus/$name.tgz" -o from_tgz.json
	cmp from_ksk.json from_tgz.json || fail "$name: JSON differs"
	python3 -m json.tool from_ksk.json >/dev/null || fail "$name: no JSON"
done
"$KISEKI" boot export "$corpus/bootchart2.tgz" -o bootchart2.tgz
read_chart bootchart2.tgz >found
grep -q '^process 4 ' found || fail "bootchart2: no process 4: $(cat found)"
tar -xzOf bootchart2.tgz dmesg | grep -q 'Run /sbin/init' || fail "bootchart2: no kernel messages"
tar -xzOf bootchart2.tgz cmdline2.log | tr '\0' ' ' | grep -q '^:/bin/sh ./rcS ' ||
	fail "bootchart2: no arguments"
"$KISEKI" boot report "$corpus/bootchart2.tgz" >out || fail "boot report takes no bootchart"

# A power cut while the archive was written: what there is, and that something is missing.
"$KISEKI" boot export "$corpus/cut.tgz" -o cut.ksk
"$KISEKI" boot report cut.ksk >out
grep -q 'ends too early' out || fail "nothing is said of the cut: $(cat out)"

for command in info check 'report sched' 'func report'; do
	# shellcheck disable=SC2086 # two words
	refuses 'cannot read' "$KISEKI" $command "$corpus/busybox.tgz"
done
refuses "it is a bootchart; see kiseki boot, or make a .ksk of it with kiseki convert" "$KISEKI" info "$corpus/busybox.tgz"
refuses "it is a bootchart; see kiseki boot, or make a .ksk of it with kiseki convert" "$KISEKI" info busybox.folder
refuses 'it is a bootchart, which becomes .ksk' "$KISEKI" convert "$corpus/busybox.tgz" -o x.json
refuses 'it has no boot chart' "$KISEKI" boot export "$SRC/tests/data/ftrace_6.18.txt" -o x.tgz
refuses 'pictures are made by kiseki boot chart' "$KISEKI" boot export busybox.ksk -o x.svg
refuses 'names no format' "$KISEKI" boot export busybox.ksk -o x
refuses 'no output given' "$KISEKI" boot export busybox.ksk
for file in x x.json x.svg x.tgz; do
	if [ -e $file ]; then fail "$file was written although the command failed"; fi
done
