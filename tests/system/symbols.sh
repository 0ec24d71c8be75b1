#!/bin/bash
# SPDX-License-Identifier: MIT
# Names and lines of real programs beside what nm and eu-addr2line say of them: this very kiseki, the
# C library, a stripped copy with its debug file apart, and the running kernel.
set -eu
for tool in nm readelf objcopy strip eu-addr2line python3; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
unset LD_PRELOAD

fail() { echo "FAILED: $*"; exit 1; }

# nm's functions as "address name", versions cut off; of one address all names.
functions() { nm "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[tTwWi]$/ { sub(/@.*/, "", $3); print $1, $3 }' |
	grep -vE ' (\$[adtx]|\.L)' | sort -u; }

# Each address of "address name" lines in $1 has one of its names in the answers of $2; how many had none.
cat >compare.py <<'END'
import collections, sys

names = collections.defaultdict(set)
for line in open(sys.argv[1]):
    address, name = line.split()
    names[int(address, 16)].add(name)
asked = [int(a, 16) for a in open(sys.argv[2])]
missing = wrong = 0
for address, line in zip(asked, open(sys.argv[3]), strict=True):
    if line.startswith("?? "):
        missing += 1
    elif line.split("+0x0 ")[0] not in names[address]:
        wrong += 1
        print(f"{address:x}: {line.strip()}, not one of {sorted(names[address])}")
print(f"{len(asked)} asked, {wrong} wrong, {missing} missing")
sys.exit(1 if wrong or missing > int(sys.argv[4]) or len(asked) < int(sys.argv[5]) else 0)
END

# check MISSING AT-LEAST OPTION... OBJECT: the functions in the file `truth`, at their first bytes.
check()
{
	local missing=$1 least=$2
	shift 2
	cut -d' ' -f1 truth | sort -u >asked
	"$SYMBOLISE" -m "$@" <asked >answers 2>problems || fail "symbolise $*"
	python3 compare.py truth asked answers "$missing" "$least" || fail "$* has other names than nm"
}

# The program as it was built: every function, and nothing to complain about. Labels inside of
# functions, which nm lists as well, are the function's.
functions -n "$KISEKI" >all
readelf -sW "$KISEKI" | awk '$4 == "FUNC" && $7 != "UND" { print $2 }' | sort -u >typed
awk 'NR == FNR { typed[$1] = 1; next } $1 in typed' typed all >truth
check 0 500 -a "$KISEKI"
[ ! -s problems ] || fail "$(cat problems)"

# Inside of functions, with lines: names and lines as elfutils has them, which does not find what gcc adds to each file
# for ASan (_sub_I_…, _sub_D_…).
python3 -c '
for n, line in enumerate(open("truth")):
    if n % 7 == 0 and " _sub_" not in line: print(f"{int(line.split()[0], 16) + 4 * (n % 5):x}")' >asked
"$SYMBOLISE" -m -a -l "$KISEKI" <asked >answers
# Elfutils does not understand all that clang writes; binutils does, and takes much longer.
# A program with sanitizers in it has much that was compiled without lines.
truth='eu-addr2line -S' share=2
if readelf -p .comment "$KISEKI" | grep -q clang; then truth='addr2line -f' share=4; fi
$truth -e "$KISEKI" <asked >theirs
python3 - $share <<'END' || fail "lines of kiseki are not those of $truth"
import os, re, sys

ours = open("answers").read().splitlines()
theirs = open("theirs").read().splitlines()
assert len(ours) > 100 and len(theirs) == 2 * len(ours)
bad = known = 0
for n, line in enumerate(ours):
    name = theirs[2 * n].split("@")[0]
    place = re.sub(r"(:\d+)(:\d+| \(discriminator \d+\))$", r"\1", theirs[2 * n + 1])
    if place.startswith("??") or place.endswith(":?"):
        place = "??:0"
    if os.path.normpath(line.rsplit(" ", 1)[1]) != os.path.normpath(place):
        bad += 1
        print(line, "|", name, place)
    known += place != "??:0"
print(f"{len(ours)} lines, {known} known, {bad} differ")
sys.exit(bad > 0 or known * int(sys.argv[1]) < len(ours))
END

# Stripped, it has no names but what it exports; with its debug file in any place it has all again.
cp "$KISEKI" whole
objcopy --only-keep-debug whole kept
cp whole stripped
strip stripped
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
[ -n "$id" ] || fail "kiseki has no build-id"
check 1000000 500 -a "$PWD/stripped"
grep -q 'stripped is stripped, and no debug file was found' problems || fail "no reason: $(cat problems)"
[ "$(wc -l <problems)" = 1 ] || fail "more than one reason: $(cat problems)"
mkdir -p "tree/.build-id/${id:0:2}"
cp kept "tree/.build-id/${id:0:2}/${id:2}.debug"
check 0 500 -f tree -a "$PWD/stripped"
[ ! -s problems ] || fail "$(cat problems)"
mkdir -p "root$PWD/.debug"
mv stripped "root$PWD/stripped"
objcopy --add-gnu-debuglink=kept "root$PWD/stripped"
cp kept "root$PWD/.debug/kept"
check 0 500 -r "$PWD/root" -a "$PWD/stripped"
[ ! -s problems ] || fail "$(cat problems)"

# Another build-id than the device's: not one name.
check 1000000 500 -b 00112233445566778899aabbccddeeff00112233 -a "$PWD/whole"
[ "$(grep -vc '^?? ' answers)" = 0 ] || fail "names of a file that is not the device's"
grep -q "has build-id $id, the device's is 0011" problems || fail "no reason: $(cat problems)"

# The C library: all that it exports. Its debug file is used if it is installed.
libc=$(readelf -d "$KISEKI" >/dev/null && ldd "$KISEKI" | awk '$1 ~ /^libc\.so/ { print $3 }')
libc=$(readlink -f "${libc:-/nonexistent}")
if [ -f "$libc" ]; then
	readelf --dyn-syms -W "$libc" | awk '($4 == "FUNC" || $4 == "IFUNC") && $7 != "UND" {
		sub(/@.*/, "", $8); print $2, $8 }' >exported
	"$SYMBOLISE" -m -a "$libc" < <(cut -d' ' -f1 exported | sort -u) >answers 2>problems
	if grep -q '^?? ' answers; then fail "functions of $libc have no names"; fi
	# Names that only the debug file has may be shorter; without it they are from this list.
	if [ -s problems ]; then
		cp exported truth
		check 0 1000 -a "$libc"
	fi
fi

# The kernel that runs.
if [ "$(awk '$1 !~ /^0*$/' /proc/kallsyms 2>/dev/null | head -n 1)" ]; then
	cp /proc/kallsyms kallsyms
	awk '$2 ~ /^[tTwW]$/ && $1 !~ /^0*$/ && $3 !~ /^\$/ { print $1, $3 }' kallsyms >truth
	check 0 1000 -k kallsyms
	[ ! -s problems ] || fail "$(cat problems)"
fi
printf '0000000000000000 T _text\n0000000000000000 T schedule\n' >zeros
echo ffffffc008000000 | "$SYMBOLISE" -k zeros >answers 2>problems
grep -qx '?? \[kernel\]+0xffffffc008000000' answers || fail "$(cat answers)"
grep -q 'hides all addresses (kernel.kptr_restrict)' problems || fail "no reason: $(cat problems)"
