#!/bin/bash
# SPDX-License-Identifier: MIT
# Every reader of somebody else's file is in a sandbox: where the sandbox cannot be entered, nothing is read. strace lets the
# kernel refuse the filter; that is one line that names the file, and no output.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*"; exit 1; }
if grep -qaE '__(asan|tsan)_init' "$KISEKI"; then
	echo "skipped: programs with a sanitizer have no filter"
	exit 77
fi
command -v cc >/dev/null && strace -f -o /dev/null true 2>/dev/null || { echo "skipped: no compiler or no strace"; exit 77; }
unset LD_PRELOAD

# reads NAME WORDS COMMAND...: it works; and not where there is no sandbox, which it says with these words.
reads() {
	local name=$1 words=$2
	shift 2
	rm -rf out tables
	"$@" >shown 2>err || fail "$name: $(cat err)"
	rm -rf out tables
	if strace -f -o calls -e trace=seccomp -e inject=seccomp:error=EPERM "$@" >shown 2>err; then
		fail "$name: it was read without a sandbox: $(cat shown)"
	fi
	grep -q INJECTED calls || fail "$name: no process wanted a filter"
	grep -q "$words" err || fail "$name: it says: $(cat err)"
	[ ! -e out ] || fail "$name: an output was left"
}
data=$SRC/tests/data

for file in small-v6.dat ftrace_6.18.txt graph/default.txt graph/graph.dat; do
	reads "$file" "cannot .*${file##*/}: cannot filter" "$KISEKI" convert "$data/$file" -o out -f ksk
done
"$KISEKI" convert "$data/small-v6.dat" -f ctf -o ctf 2>err || fail "a folder of CTF: $(cat err)"
reads 'CTF' 'cannot read ctf: cannot filter' "$KISEKI" convert ctf -o out -f ksk
for file in graph/default.txt graph/graph.dat; do
	reads "calls of $file" "cannot read .*${file##*/}: cannot filter" "$KISEKI" func report "$data/$file"
done
for file in busybox.tgz small.tar; do
	reads "$file" "cannot filter" "$KISEKI" convert "$SRC/tests/corpus/bootchart/$file" -o out -f ksk
	reads "boot of $file" "cannot filter" "$KISEKI" boot report "$SRC/tests/corpus/bootchart/$file"
done
mkdir folder && tar -xf "$SRC/tests/corpus/bootchart/small.tar" -C folder
reads 'a folder of a bootchart' "cannot filter" "$KISEKI" boot report folder

# Files of code, and a kernel's names.
export KISEKI_SYMBOL_CACHE=$PWD/tables
echo 'int main(void) { return 0; }' >app.c
cc -Wl,--build-id -o app app.c
printf 'ffffffc008010000 T first\nffffffc008010040 t second\n' >kallsyms
reads 'a file of code' 'app: its reader did not come back' "$KISEKI" symbols build app
reads 'kallsyms' 'kallsyms cannot be read: its reader ended' "$KISEKI" symbols build kallsyms

# And the doctor says whether it is so.
export KISEKI_AGENT=$AGENT
"$KISEKI" doctor >shown 2>err || true
grep -q '^\(ok\|note\)  *sandbox ' shown || fail "the doctor: $(cat shown err)"
"$KISEKI" doctor --json >shown 2>err || true
python3 -c 'import json
assert [f["verdict"] in ("ok", "note") for f in json.load(open("shown"))["findings"] if f["name"] == "sandbox"] == [True]' ||
	fail "the doctor: $(cat shown err)"
strace -f -o calls -e trace=seccomp -e inject=seccomp:error=EPERM "$KISEKI" doctor >shown 2>err || true
grep -q '^BAD  *sandbox .*no foreign file is read' shown || fail "the doctor without a sandbox: $(cat shown err)"
echo "nothing is read outside"
