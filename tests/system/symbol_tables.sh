#!/bin/bash
# SPDX-License-Identifier: MIT
# Tables of symbols from the command line: made once, listed, checked, made again when damaged, and as good as
# the object itself when that is gone.
set -eu
command -v cc >/dev/null || { echo "skipped: no compiler"; exit 77; }
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
unset LD_PRELOAD
export KISEKI_SYMBOL_CACHE=$PWD/tables

fail() { echo "FAILED: $*"; exit 1; }

echo 'int work(int n) { int s = 0; while (n--) s += n * n; return s; } int main(void) { return work(9) == 0; }' >app.c
mkdir root
cc -O1 -Wl,--build-id -o root/app app.c
cp root/app root/stripped && strip root/stripped
cc -O1 -Wl,--build-id=none -o nameless app.c

"$KISEKI" symbols build root >out 2>err || fail "build: $(cat err)"
[ "$(wc -l <out)" -eq 2 ] || fail "not two objects: $(cat out)"
id=$(awk '/root\/app$/ { print $1 }' out)
[ -f "tables/$id.ksym" ] || fail "no table: $(ls tables)"

# The same work is not done twice: the file stays the same one.
before=$(stat -c '%i' "tables/$id.ksym")
"$KISEKI" symbols build root/app >out
[ "$(stat -c '%i' "tables/$id.ksym")" = "$before" ] || fail "made again"

"$KISEKI" symbols list --check --json >list
python3 - "$id" <<'END' || fail "list: $(cat list)"
import json, sys
t = json.load(open("list"))
row = next(r for r in t["tables"] if r["id"] == sys.argv[1])
sys.exit(not (row["kind"] == "object" and row["state"] == "whole" and row["symbols"] > 2 and t["bytes"] >= row["bytes"]))
END

# A byte of a name: the head is right, so only a look at all of it tells.
printf '\1' | dd of="tables/$id.ksym" bs=1 seek=$(($(stat -c %s "tables/$id.ksym") - 3)) conv=notrunc status=none
"$KISEKI" symbols list | grep -q whole || fail "list without --check reads too much"
"$KISEKI" symbols list --check | grep -q damaged || fail "damage is not seen"
# A head that is wrong is a table that is not there.
printf '\377' | dd of="tables/$id.ksym" bs=1 seek=20 conv=notrunc status=none
"$KISEKI" symbols list | grep -q unsound || fail "a wrong head is not seen"
"$KISEKI" symbols build root/app >out
"$KISEKI" symbols list --check | grep -q damaged && fail "it was not made again"
"$KISEKI" symbols list --check | grep -q unsound && fail "it was not made again"

# What cannot be kept is said, and is no success.
if "$KISEKI" symbols build nameless >out 2>err; then fail "without a build-id"; fi
grep -q 'has no build-id' err || fail "why: $(cat err)"
if "$KISEKI" symbols build app.c >out 2>err; then fail "a source as a kernel"; fi
grep -q 'app.c has no symbols of a kernel' err || fail "why: $(cat err)"
if "$KISEKI" symbols build missing >out 2>err; then fail "a file that is not there"; fi
if KISEKI_SYMBOL_CACHE='' "$KISEKI" symbols list >out 2>err; then fail "no folder"; fi

# A list of the kernel's names.
printf 'ffffffc008010000 T first\nffffffc008010040 t second\nffffffc008010080 D data\n' >kallsyms
"$KISEKI" symbols build kallsyms | grep -q ' 2 ' || fail "a kernel"
[ "$(ls tables/*.kernel.ksym tables/*.modules.ksym | wc -l)" -eq 2 ] || fail "its two tables"

# The object is gone: its names are not. Without the tables they are.
nm root/app | awk '$3 == "work" { print $1 }' >at
"$SYMBOLISE" -a -c tables "$PWD/root/app" <at >names
grep -q '^work+0x0 app' names || fail "by the object: $(cat names)"
python3 - root/app "$(cat at)" >place <<'END'
import re, subprocess, sys
at = int(sys.argv[2], 16)
for line in subprocess.run(["readelf", "-lW", sys.argv[1]], capture_output=True, text=True).stdout.splitlines():
    m = re.match(r"\s+LOAD\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)", line)
    if m:
        offset, address, size = (int(g, 16) for g in m.groups())
        if address <= at < address + size:
            print(f"{at - address + offset:x}")
END
rm root/app root/stripped
"$SYMBOLISE" -c tables -b "$id" "$PWD/root/app" <place >names
grep -q '^work+0x0 app' names || fail "by the table: $(cat names)"
"$SYMBOLISE" -b "$id" "$PWD/root/app" <place 2>err | grep -q '^work' && fail "by nothing"
grep -q 'no file was found' err || fail "why: $(cat err)"

# same OPTION... [OBJECT]: the addresses of the file `asked` have the same names without tables, with one that is
# being made, and with one that is there.
same()
{
	rm -rf fresh
	"$SYMBOLISE" "$@" <asked >without 2>err
	"$SYMBOLISE" -c fresh "$@" <asked >first 2>>err
	[ -n "$(ls fresh)" ] || fail "$*: no table was made"
	"$SYMBOLISE" -c fresh "$@" <asked >then 2>>err
	cmp without first && cmp without then || fail "$*: names differ"
	awk '/^[^?]/ { n++ } END { exit n < 100 }' then || fail "$*: few names"
}
asked() { nm "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[tTwWi]$/ { print $1 }' | sort -u >asked; }
asked "$KISEKI"
same -a "$KISEKI"
same -a -m "$KISEKI"
libc=$(ldd "$KISEKI" | awk '/libc\.so/ { print $3 }')
asked -D "$libc"
same -a "$libc"
cxx=$(c++ -print-file-name=libstdc++.so.6 2>/dev/null) && [ -f "$cxx" ] && asked -D "$cxx" && same -a "$(realpath "$cxx")" && same -a -m "$(realpath "$cxx")"
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "%x T f%d\n", 0xc0000000 + i * 48, i; for (i = 0; i < 500; i++) printf "%x t m%d\t[mod%d]\n", 0xbf000000 + i * 64, i, i / 100 }' >kallsyms
awk 'BEGIN { for (i = 0; i < 6000; i++) printf "%x\n", 0xc0000000 + i * 40; for (i = 0; i < 600; i++) printf "%x\n", 0xbf000000 + i * 60 }' >asked
same -k kallsyms
echo "tables are made, checked, mended and used"
