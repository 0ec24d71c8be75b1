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

for name in kiseki record serve devices start stop configure keys keys-init keys-enroll keys-list keys-revoke keys-rotate keys-repair keys-token keys-token-add keys-token-list keys-token-revoke keys-user keys-user-add keys-user-list keys-user-passwd keys-user-remove label runs ledger export tail top convert \
	info check report report-sched report-latency func func-run func-kernel func-report func-tree func-graph \
	func-diff func-export func-on func-off func-split boot boot-record boot-chart boot-report boot-diff boot-export \
	profile profile-record profile-report profile-flame profile-diff profile-export profile-top profile-trend vm vm-record vm-report vm-steal vm-correct \
	vm-flame vm-export vm-top \
	doctor help completion; do
	words=${name//-/ }
	# shellcheck disable=SC2086 # the words of a command
	same "help/$name.txt" help ${words#kiseki}
	awk -v name="$name" 'length($0) > 80 { print name ": more than 80 columns: " $0; bad = 1 }
		END { exit bad }' "$SRC/tests/golden/help/$name.txt" || failed=1
done
exit $failed
