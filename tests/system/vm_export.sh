#!/bin/bash
# SPDX-License-Identifier: MIT
# Exports and flame graphs of virtual machines: of a small recording that was worked out by hand (tests/golden/vm) all formats say the
# same and what the reports say, to the nanosecond, of all of it and of a part; the stacks are the golden ones, word for word.
# UPDATE=1 writes what is printed now into tests/golden.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
failed=0
golden=$SRC/tests/golden/vm

fail()
{
	echo "FAILED: $*"
	failed=1
}

"$SAMPLE_MAKE" "$golden/two.sample" "$work/two.ksk" || exit 1
cd "$work" || exit 1

# exports OPTION...: all formats, compared with each other and the reports.
exports()
{
	local format
	for format in folded pb.gz speedscope.json firefox.json json; do
		"$KISEKI" vm export two.ksk -o "out.$format" "$@" || fail "vm export $* as $format"
	done
	"$KISEKI" vm export two.ksk --vcpus -o vcpus.folded "$@" || fail "vm export --vcpus $*"
	for format in html svg; do
		"$KISEKI" vm flame two.ksk -o "out.$format" "$@" || fail "vm flame $* as $format"
	done
	"$KISEKI" vm report two.ksk --json "$@" >report.json || fail "vm report $*"
	"$KISEKI" vm steal two.ksk --json "$@" >steal.json || fail "vm steal $*"
	python3 "$SRC/tests/tools/vm_check.py" . || fail "exports with $*"
}
exports --from +200us --to +700us
exports --from +950us
exports
[ -z "${UPDATE-}" ] || cp out.folded "$golden/folded.txt"
diff -u "$golden/folded.txt" out.folded || fail "the stacks are others"

if command -v protoc >/dev/null; then
	gzip -dc out.pb.gz | protoc -I "$SRC/tests/data" --decode=perftools.profiles.Profile pprof_subset.proto >pprof ||
		fail "protoc cannot decode pprof"
	grep -qE '^ *[0-9]+: ' pprof && fail "pprof has fields that the format has not"
else
	echo "skipped: protoc is not installed, pprof was decoded by our own reader alone"
fi

"$KISEKI" vm export two.ksk --threads -f folded -o - | grep -q '^host1;VM 400 qemu-one;pid 101;pid 101;guest;user;' || fail "--threads"
printf 'ffffa00008002000 T do_idle\nffffa00008003000 T _etext\n' >guest.map
"$KISEKI" vm export two.ksk --guest-kallsyms 400=guest.map -f folded -o - | grep -q ';guest;kernel;\[kernel\];do_idle 100000$' ||
	fail "a function of a guest's kernel has no name"

# wrong CODE TEXT COMMAND...: it fails with that code, and says that.
wrong()
{
	local code=$1 text=$2
	shift 2
	"$KISEKI" "$@" >out 2>err
	[ $? -eq "$code" ] || fail "kiseki $*: not exit $code"
	grep -qF -- "$text" err || { cat err; fail "kiseki $*: does not say: $text"; }
}
wrong 2 "names no format" vm export two.ksk -o x.y
wrong 2 "unknown format 'x'; see kiseki vm export --help" vm export two.ksk -f x -o x
wrong 2 "no output given" vm export two.ksk -f folded
wrong 2 "a flame graph is .html or .svg" vm flame two.ksk -o x.png
wrong 1 "no time is selected" vm flame two.ksk -o x.html --from +2s
[ -e x.html ] && fail "a file was left behind"
exit $failed
