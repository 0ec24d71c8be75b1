#!/bin/bash
# SPDX-License-Identifier: MIT
# What the program prints, word for word: its help, and the reports of small traces whose numbers
# were worked out by hand. UPDATE=1 writes what it prints now into tests/golden.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# same GOLDEN COMMAND...: the command must succeed and print the golden file.
same()
{
	local golden=$SRC/tests/golden/$1
	shift
	if ! "$KISEKI" "$@" >"$work/out" 2>"$work/err" || [ -s "$work/err" ]; then
		echo "kiseki $*: failed"
		cat "$work/err"
		failed=1
	fi
	if [ -n "${UPDATE-}" ]; then
		cp "$work/out" "$golden"
	elif ! diff -u "$golden" "$work/out"; then
		echo "kiseki $*: not what $golden says"
		failed=1
	fi
}

cd "$SRC/tests/golden/report" || exit 1
for case in *; do
	cd "$SRC/tests/golden/report/$case" || exit 1
	same "report/$case/sched.txt" report sched trace.txt
	same "report/$case/sched.json" report sched trace.txt --json
	same "report/$case/latency.txt" report latency trace.txt
	same "report/$case/latency.json" report latency trace.txt --json
	same "report/$case/info.txt" info trace.txt
	same "report/$case/check.txt" check trace.txt
	# A trace says the same in any format.
	"$KISEKI" convert trace.txt -o "$work/trace.ksk" || failed=1
	"$KISEKI" report sched --json "$work/trace.ksk" | diff sched.json - || failed=1
	"$KISEKI" report latency --json "$work/trace.ksk" | diff latency.json - || failed=1
done

# Every command that the program has, by its own word.
"$KISEKI" completion bash | sed -n "s/^\t\t'\(kiseki[a-z -]*\)')\$/\1/p" >"$work/commands"
[ "$(wc -l <"$work/commands")" -gt 50 ] || { echo "the program names $(wc -l <"$work/commands") commands"; failed=1; }
while read -r words; do
	name=${words#kiseki }
	name=${name// /-}
	echo "$name.txt" >>"$work/names"
	# shellcheck disable=SC2086 # the words of a command
	same "help/$name.txt" help ${words#kiseki}
	awk -v name="$name" 'length($0) > 80 { print name ": more than 80 columns: " $0; bad = 1 }
		END { exit bad }' "$SRC/tests/golden/help/$name.txt" || failed=1
done <"$work/commands"
if ! diff <(sort "$work/names") <(ls "$SRC/tests/golden/help"); then
	echo "tests/golden/help has other files than the program has commands"
	failed=1
fi
exit $failed
