#!/bin/bash
# SPDX-License-Identifier: MIT
# What `boot report` and `boot diff` print, word for word, of two small boots that were worked out by hand
# (tests/golden/boot); what their JSON says, at a collector and in its store, too; and a real recording of this
# machine. UPDATE=1 writes what they print now into tests/golden.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
failed=0
golden=$SRC/tests/golden/boot

fail()
{
	echo "FAILED: $*"
	failed=1
}

for name in before after; do
	"$BOOT_MAKE" "$golden/$name.boot" "$work/$name.ksk" || exit 1
done
cd "$work" || exit 1

# same GOLDEN COMMAND...: the command must succeed, say nothing else, and print the golden file.
same()
{
	local file=$golden/$1
	shift
	if ! "$KISEKI" boot "$@" >out 2>err || [ -s err ]; then
		cat err
		fail "kiseki boot $*"
	fi
	if [ -n "${UPDATE-}" ]; then
		cp out "$file"
	elif ! diff -u "$file" out; then
		fail "kiseki boot $*: not what $file says"
	fi
}

# wrong CODE TEXT COMMAND...: it fails with that code, and says that.
wrong()
{
	local code=$1 text=$2
	shift 2
	"$KISEKI" boot "$@" >out 2>err
	[ $? -eq "$code" ] || fail "kiseki boot $*: not exit $code"
	[ ! -s out ] || fail "kiseki boot $*: it printed something"
	grep -qF -- "$text" err || { cat err; fail "kiseki boot $*: does not say: $text"; }
}

same report.txt report before.ksk --path
same report_to.txt report before.ksk --to fsck --min 1ms --kernel --limit 2
same diff.txt diff before.ksk after.ksk
same diff_some.txt diff before.ksk after.ksk --min 500ms --limit 1
"$KISEKI" boot report - <before.ksk >piped || fail "a boot that comes down a pipe"
tail -n +2 piped >rest
"$KISEKI" boot report before.ksk | tail -n +2 | diff - rest || fail "a pipe says something else"

wrong 1 'no process and no mark' report before.ksk --to nobody
wrong 2 'cannot take --min' report before.ksk --min often
wrong 1 'No such file' report ./missing.ksk
wrong 2 'neither in .svg nor in .html' diff before.ksk after.ksk -o both.png
wrong 1 'not the folder of a store' report before.ksk --run 3
wrong 1 'empty' report /dev/null

for name in both.html both.svg; do
	"$KISEKI" boot diff before.ksk after.ksk -o "$name" || fail "diff -o $name"
	grep -q telemetry "$name" || fail "$name: what is new is not in it"
	grep -q syslogd "$name" || fail "$name: what is gone is not in it"
done

if ! command -v python3 >/dev/null; then
	echo "skipped: python3 is not installed"
	[ $failed -eq 0 ] && exit 77
	exit 1
fi
for scenario in json collector recorded; do
	python3 "$SRC/tests/tools/boot_report.py" "$KISEKI" $scenario "$work" || failed=1
done
exit $failed
