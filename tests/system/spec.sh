#!/bin/bash
# SPDX-License-Identifier: MIT
# The specification is enough: tests/tools/ksk_decode.py, written from docs/format alone, says of
# every file what the program says of it, field by field; also of random files with events that no
# kernel makes, and of damaged ones, whose losses both must count alike.
set -u
if ! command -v python3 >/dev/null; then
	echo "skipped: python3 is not installed"
	exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PYTHONDONTWRITEBYTECODE=1
failed=0

fail()
{
	echo "spec: $*"
	failed=1
}

# Compares two files of objects, line by line; the second argument is the decoder's. Prints the
# number of events.
cat >compare.py <<'END'
import itertools, json, sys
events = 0
for number, (a, b) in enumerate(itertools.zip_longest(*map(open, sys.argv[1:3])), 1):
    if a is None or b is None:
        sys.exit(f"line {number}: only one of the two goes on")
    a, b = json.loads(a), json.loads(b)
    # The name of who ran follows from the whole trace (tests/system/names.py); a switch says it itself.
    name = a.pop("common_comm", None)
    if a.get("kind") == "switch" and a["common_pid"] == a["prev_pid"] != 0 and name != a["prev_comm"]:
        sys.exit(f"line {number}, common_comm: {name} in {a}")
    for key in {**a, **b}:
        if a.get(key) != b.get(key):
            sys.exit(f"line {number}, {key}: {a.get(key)} became {b.get(key)}\n{a}\n{b}")
    events += "common_pid" in a
print(events)
END

# same FILE.ksk EVENTS: both readers say the same of it, at least so many events.
same()
{
	local events
	"$KISEKI" convert "$1" -o program.ndjson 2>said || fail "kiseki does not read $1: status $?, $(cat said)"
	python3 "$SRC/tests/tools/ksk_decode.py" "$1" >decoder.ndjson || fail "ksk_decode.py: $1"
	events=$(python3 compare.py program.ndjson decoder.ndjson) || fail "$1 is read differently"
	[ "${events:-0}" -ge "$2" ] || fail "$1 has ${events:-no} events, not $2"
}

# imported INPUT EVENTS: a trace of another tool; its .ksk must also say what the input said, but
# for the bounds of losses, which a .ksk takes from the events around them.
imported()
{
	"$KISEKI" convert "$1" -o in.ksk 2>said || fail "kiseki does not convert $1: status $?, $(cat said)"
	same in.ksk "$2"
	"$KISEKI" convert "$1" -o direct.ndjson 2>said || fail "kiseki does not convert $1: status $?, $(cat said)"
	grep -v '"kind":"lost"' direct.ndjson >a
	grep -v '"kind":"lost"' decoder.ndjson >b
	python3 compare.py a b >/dev/null || fail "$1 is not in its .ksk"
}

imported "$SRC/tests/data/small-v6.dat" 457
imported "$SRC/tests/data/lttng" 8
for text in "$SRC"/tests/data/ftrace_*.txt; do
	imported "$text" 4
done

# A longer text: the same events again and again, ten seconds later each time.
awk '{ lines[NR] = $0 }
     END {
	for (i = 0; i < 30; i++)
		for (n = 1; n <= NR; n++) {
			if (lines[n] ~ /^#/) {
				if (!i)
					print lines[n]
			} else if (match(lines[n], /[0-9]+\.[0-9]+: /)) {
				split(substr(lines[n], RSTART, RLENGTH), part, ".")
				print substr(lines[n], 1, RSTART - 1) part[1] + 10 * i "." part[2] \
					substr(lines[n], RSTART + RLENGTH)
			}
		}
     }' "$SRC/tests/data/ftrace_6.18_tgid.txt" >long.txt
imported long.txt 5000

# The vector, and a file that leaves no corner of the codec out: its tasks are far more than slots.
same "$SRC/tests/vectors/small.ksk" 20
cmp decoder.ndjson "$SRC/tests/vectors/small.ndjson" || fail "the vector is read differently"
"$KSK_RANDOM" random.ksk 3000 1000000 || fail "ksk_random"
same random.ksk 12000

# Damage: cut anywhere, bytes flipped, a block missing or there twice, a piece missing, and no
# index to tell by.
"$KSK_RANDOM" whole.ksk 400 3000 || fail "ksk_random"
size=$(stat -c %s whole.ksk)
mapfile -t ends < <(PYTHONPATH=$SRC/tests/tools python3 -c '
import ksk_decode
print(*(b.end for b in ksk_decode.File(open("whole.ksk", "rb").read()).blocks), sep="\n")')
[ "${#ends[@]}" -ge 30 ] || fail "whole.ksk has ${#ends[@]} blocks"
for part in 3 31 50 68 97; do
	head -c $((size * part / 100)) whole.ksk >damaged.ksk
	same damaged.ksk 0
done
for part in 3 22 47 61 88; do
	cp whole.ksk damaged.ksk
	printf 'XXXX' | dd of=damaged.ksk bs=1 seek=$((size * part / 100)) conv=notrunc 2>/dev/null
	same damaged.ksk 100
	n=$((${#ends[@]} * part / 100))
	{
		head -c "${ends[n]}" whole.ksk
		tail -c +$((ends[n + 1] + 1)) whole.ksk
	} >damaged.ksk
	same damaged.ksk 100
	head -c -1 damaged.ksk >cut.ksk # its totals remain
	same cut.ksk 100
	head -c "${ends[-1]}" whole.ksk >blocks.ksk
	{
		head -c "${ends[n]}" blocks.ksk
		tail -c +$((ends[n - 1] + 1)) blocks.ksk
	} >damaged.ksk
	same damaged.ksk 100
	{
		head -c $((size * part / 100)) whole.ksk
		tail -c +$((size * part / 100 + 700)) whole.ksk
	} >damaged.ksk
	same damaged.ksk 100
done

# Boot charts: what a recorder makes, records that none makes, and damage.
same_boot()
{
	"$BOOT_MAKE" --dump "$1" >program.txt || fail "the program does not read $1"
	python3 "$SRC/tests/tools/ksk_decode.py" --boot "$1" >decoder.txt || fail "ksk_decode.py: $1"
	cmp program.txt decoder.txt || fail "$1 is read differently"
	[ "$(wc -l <program.txt)" -ge "$2" ] || fail "$1 has $(wc -l <program.txt) records, not $2"
}
python3 "$SRC/tests/tools/boot_decode.py" "$SRC/tests/vectors/boot.txt" || fail "the vector of boot.md"
"$BOOT_MAKE" "$SRC/tests/data/boot/small.boot" boot.ksk || fail "boot_make"
same_boot boot.ksk 1000
"$BOOT_MAKE" --random 1 4000 boot.ksk || fail "boot_make"
same_boot boot.ksk 4000
size=$(stat -c %s boot.ksk)
for part in 5 37 83; do
	head -c $((size * part / 100)) boot.ksk >damaged.ksk
	same_boot damaged.ksk 100
	cp boot.ksk damaged.ksk
	printf 'XXXX' | dd of=damaged.ksk bs=1 seek=$((size * part / 100)) conv=notrunc 2>/dev/null
	same_boot damaged.ksk 3000
	grep -q "^loss 3 " program.txt || fail "damage costs nothing"
done
exit $failed
