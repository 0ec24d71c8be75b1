#!/bin/bash
# SPDX-License-Identifier: MIT
# What `profile report`, `diff`, `flame` and `export` make of two small profiles that were worked out by hand
# (tests/golden/profile), word for word; that all formats say the same; and names out of a real program's symbols.
# UPDATE=1 writes what they print now into tests/golden.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
failed=0
golden=$SRC/tests/golden/profile

fail()
{
	echo "FAILED: $*"
	failed=1
}

for name in before after; do
	"$SAMPLE_MAKE" "$golden/$name.profile" "$work/$name.ksk" || exit 1
done
cd "$work" || exit 1

# same GOLDEN COMMAND...: the command must succeed and print the golden file; beside it only which objects have no names.
same()
{
	local file=$golden/$1
	shift
	if ! "$KISEKI" "$@" >out 2>err || grep -v "its functions have no names" err; then
		cat err
		fail "kiseki $*"
	fi
	# How many bytes a record takes is the codec's, and has tests of its own.
	case $1 in
	info | check)
		sed -Ei 's/[0-9.]+ bits per record/N bits per record/; s/(codec none), .* B$/\1/; s/^( +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+) +[0-9]+$/\1/' out
		;;
	esac
	if [ -n "${UPDATE-}" ]; then
		cp out "$file"
	elif ! diff -u "$file" out; then
		fail "kiseki $*: not what $file says"
	fi
}

# wrong CODE TEXT COMMAND...: it fails with that code, and says that.
wrong()
{
	local code=$1 text=$2
	shift 2
	"$KISEKI" "$@" >out 2>err
	[ $? -eq "$code" ] || fail "kiseki $*: not exit $code"
	grep -qF -- "$text" err || { cat err; fail "kiseki $*: does not say: $text"; }
	[ -s out ] && fail "kiseki $*: printed something"
}

same report.txt profile report before.ksk
same object.txt profile report before.ksk --by object
same process.txt profile report before.ksk --by process
same thread.txt profile report before.ksk --by thread --samples
same cpu.txt profile report before.ksk --by cpu
same callers.txt profile report before.ksk --mode kernel --callers
same selected.txt profile report before.ksk -p 42 --from +1ms --to 0.0035 --cpu 0-1
same idle.txt profile report before.ksk --mode idle
same limit.txt profile report before.ksk --limit 2 --percent 20 --sort total
same report.json profile report before.ksk --json
same diff.txt profile diff before.ksk after.ksk
same diff-process.txt profile diff before.ksk after.ksk --by process --sort total
same diff.json profile diff before.ksk after.ksk --json
same folded.txt profile export before.ksk -f folded -o -
same info.txt info before.ksk
same check.txt check before.ksk
"$SAMPLE_MAKE" "$SRC/tests/golden/profile/paced.profile" paced.ksk || exit 1
same paced.txt profile report paced.ksk --by cpu
same paced-part.txt profile report paced.ksk --by cpu --from 4.5 --to 7
same paced-info.txt info paced.ksk

wrong 1 "it holds a profile; see kiseki profile export" convert before.ksk -o x.json
wrong 2 "only functions have callers" profile report before.ksk --by cpu --callers
wrong 2 "is none of user, kernel, guest, idle" profile report before.ksk --mode users
wrong 2 "it is not from 0 to 100" profile report before.ksk --percent 101
wrong 2 "is not the folder of a store" profile report before.ksk --run 3
wrong 2 "names no format" profile export before.ksk -o x.y
wrong 2 "a flame graph is .html, .svg or .folded" profile flame before.ksk -o x.png
wrong 1 "no sample is selected" profile flame before.ksk -o x.html -p nobody
printf 'KISEKI\r\n\1\0\0\0\0\0\0\0' >empty.ksk
wrong 1 "it holds no profile" profile report empty.ksk
[ -e x.json ] || [ -e x.html ] && fail "a file was left behind"

# All formats say the same, of damaged files, too: what is lost is said, and the rest is right.
exports()
{
	local format
	for format in folded pb.gz speedscope.json firefox.json json; do
		"$KISEKI" profile export "$1" -o "out.$format" 2>err || { cat err; fail "export of $1 as $format"; }
	done
	for format in html svg; do
		"$KISEKI" profile flame "$1" -o "out.$format" --threads 2>err || { cat err; fail "flame of $1 as $format"; }
	done
	"$KISEKI" profile flame "$1" -o out.html 2>err || fail "flame of $1"
	python3 "$SRC/tests/tools/profile_check.py" out.folded out.pb.gz out.speedscope.json out.firefox.json out.json \
		out.html out.svg || fail "exports of $1"
}
exports before.ksk
exports after.ksk
if command -v protoc >/dev/null; then
	gzip -dc out.pb.gz | protoc -I "$SRC/tests/data" --decode=perftools.profiles.Profile pprof_subset.proto >pprof ||
		fail "protoc cannot decode pprof"
	grep -qE '^ *[0-9]+: ' pprof && fail "pprof has fields that the format has not"
else
	echo "skipped: protoc is not installed, pprof was decoded by our own reader alone"
fi
"$KISEKI" profile diff before.ksk after.ksk --flame diff.html >/dev/null 2>&1 && grep -q '"diff":true' diff.html || fail "flame graph of a diff"
"$KISEKI" profile diff before.ksk after.ksk --flame diff.svg >/dev/null 2>&1 && grep -q 'before 0.00%' diff.svg || fail "SVG of a diff"
head -c 600 before.ksk >cut.ksk
"$KISEKI" profile report cut.ksk >out 2>err || fail "a file that was cut off"
grep -q "its end is missing" out || fail "nothing says that the end is missing"

python3 "$SRC/tests/tools/profile_damage.py" "$KISEKI" "$SAMPLE_MAKE" "$work" || fail "damage"

# Out of a collector's store it says the same; the run is a profile there.
"$FILL_STORE" store box before.ksk >/dev/null || fail "fill_store"
"$KISEKI" info store --json >out || fail "info of a store"
grep -q '"kind": "profile"' out || { cat out; fail "the store does not call it a profile"; }
for run in "" "--run 1"; do
	# shellcheck disable=SC2086 # an option and its argument, or nothing
	"$KISEKI" profile report store $run 2>/dev/null | sed '/its end is missing/d' | tail -n +2 >out
	diff <(tail -n +2 "$golden/report.txt") out || fail "report of a store $run"
done
wrong 1 "there is no run 7" profile report store --run 7

# A reader that crashes on lines is told of, as one that crashes on names; those are kept, and stay.
crash_lines()
{
	local cache=$work/tables crash=(strace -f -o calls -e trace=seccomp -e inject=seccomp:signal=SEGV)

	if [ "$id" = - ] || grep -qaE '__(asan|tsan)_init' "$KISEKI" || ! strace -f -o /dev/null true 2>/dev/null; then
		echo "no build-id, no strace or no sandbox: no reader was made to crash"
		return
	fi
	KISEKI_SYMBOL_CACHE=$cache "$KISEKI" profile report named.ksk >out 2>err || fail "report, to keep names"
	KISEKI_SYMBOL_CACHE=$cache "${crash[@]}" "$KISEKI" profile export named.ksk --lines -o lines.pb.gz >out 2>err ||
		fail "export with a reader that crashes: $(cat err)"
	grep -q "note: prog: its reader crashed (.*); its source lines are not known" err || fail "nothing says why there are no lines: $(cat err)"
	gzip -dc lines.pb.gz | grep -qa deep || fail "with the lines the names are gone"
}

# Names and lines of a real program, by its build-id; and none at all if that is another one's.
cat >prog.c <<'C'
int deep(int n) { return n * 3; }
int main(int argc, char **argv) { (void)argv; return deep(argc); }
C
if ${CC:-cc} -g -O0 -o prog prog.c 2>err; then
	read -r address id < <(python3 - <<'P'
import re, subprocess
run = lambda *a: subprocess.run(a, capture_output=True, text=True, check=True).stdout
address = next(int(l.split()[0], 16) for l in run("nm", "prog").splitlines() if l.endswith(" deep"))
for l in run("readelf", "-lW", "prog").splitlines():
    part = l.split()
    if part and part[0] == "LOAD" and int(part[2], 16) <= address < int(part[2], 16) + int(part[5], 16):
        print(address - int(part[2], 16) + int(part[1], 16), (re.search(r"Build ID: (\w+)", run("readelf", "-n", "prog")) or [0, "-"])[1])
P
	)
	for which in "$id" 00112233445566778899aabbccddeeff00112233; do
		{
			echo "sampling 1000000 0 0 0 0 24"
			echo "mapping 7 0 0x400000 0x500000 0x0 $which $work/prog"
			echo "0 100 sample 7/7/-/prog user 1000000 u=$((0x400000 + address + 4))"
		} >named.txt
		"$SAMPLE_MAKE" named.txt named.ksk || fail "sample_make"
		"$KISEKI" profile report named.ksk >out 2>err || fail "report of a real program"
		if [ "$which" = "$id" ]; then
			grep -q "deep  \[prog\]" out || { cat out err; fail "a function of a real program has no name"; }
			"$KISEKI" profile export named.ksk --lines -o lines.pb.gz && gzip -dc lines.pb.gz | grep -qa prog.c ||
				fail "pprof has no source file"
			crash_lines
		elif [ "$id" != - ]; then
			grep -q "deep" out && fail "a name by the wrong build-id"
			grep -q "build-id" err || fail "nothing says why there are no names"
		fi
	done
else
	echo "no compiler: names of a real program were not looked at"
fi
exit $failed
