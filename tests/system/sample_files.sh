#!/bin/bash
# SPDX-License-Identifier: MIT
# Files of profiles hold what was put into them, wherever blocks and segments end, and their specification is enough:
# tests/tools/sample_decode.py, written from docs/format/sample.md alone, reads the same records as the program.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PYTHONDONTWRITEBYTECODE=1
failed=0

fail()
{
	echo "sample_files: $*"
	failed=1
}

# NAME RECORDS BLOCK SEGMENT: makes name.ksk of name.txt, and reads it in both ways.
same()
{
	"$SAMPLE_MAKE" "$1.txt" "$1.ksk" "$3" "$4" || fail "sample_make $1"
	"$SAMPLE_DUMP" "$1.ksk" >program.txt || fail "sample_dump $1"
	grep '^[0-9]' "$1.txt" >wanted.txt
	grep '^[0-9]' program.txt >found.txt
	[ "$(wc -l <found.txt)" -eq "$2" ] || fail "$1 has $(wc -l <found.txt) records, not $2"
	cmp wanted.txt found.txt || fail "$1 does not come back"
	[ -n "$python" ] || return
	"$python" "$SRC/tests/tools/sample_decode.py" "$1.ksk" >decoder.txt || fail "sample_decode.py $1"
	cmp found.txt decoder.txt || fail "$1 is read differently"
}

python=$(command -v python3) || echo "skipped: python3 is not installed, the specification is not held against the program"
if [ -n "$python" ]; then
	"$python" "$SRC/tests/tools/sample_decode.py" "$SRC/tests/vectors/sample.txt" || fail "the vector of sample.md"
fi
for style in 0 1 2 3; do
	"$SAMPLE_MAKE" --random 7 1500 $style >random$style.txt || fail "sample_make --random"
	same random$style 1500 700 9000
done

# A script as people write it: numbers in any form, rows of metadata and a loss between the records.
"$SAMPLE_MAKE" "$SRC/tests/data/sample/small.sample" small.ksk || fail "small.sample"
"$SAMPLE_DUMP" small.ksk >small.txt || fail "sample_dump small.ksk"
[ "$(grep -c '^[01] ' small.txt)" -eq "$(grep -c '^[01] ' "$SRC/tests/data/sample/small.sample")" ] || fail "small.sample: other records"
grep -qx 'loss 0 0 12' small.txt || fail "small.sample: the loss is lost"
echo '0 5 nothing 1/1/-/x' >bad.txt
"$SAMPLE_MAKE" bad.txt bad.ksk 2>/dev/null && fail "a line of no meaning is taken"
[ ! -e bad.ksk ] || fail "a file is left of it"
exit $failed
