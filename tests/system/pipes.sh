#!/bin/bash
# SPDX-License-Identifier: MIT
# "-" at both ends: chains of conversions give what the direct way gives, in any format that can be
# piped, and a reader who goes away ends the program without noise.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }
# Notes tell what a format cannot hold; here they are expected.
kiseki() { "$KISEKI" "$@" 2>>notes; }

# Text is converted while it comes, so nobody knows how many CPUs will appear in it.
without_cpus() { sed 's/#P:[0-9]*$//'; }

piped() {
	local in=$1 name=$2
	# shellcheck disable=SC2002 # a pipe is what is tested
	cat "$in" | kiseki convert - -o - --format ksk | kiseki convert - -o - --format ftrace |
		without_cpus >chain
	kiseki convert "$in" -o direct.ksk
	kiseki convert direct.ksk -o - --format ftrace | without_cpus >direct
	cmp chain direct || fail "$name: a chain of pipes differs from the direct way"
	for format in json ndjson xml csv chrome perfetto; do
		# shellcheck disable=SC2002
		cat direct.ksk | kiseki convert - -o - --format $format | cat >chain
		kiseki convert direct.ksk -o direct.$format --format $format
		cmp chain direct.$format || fail "$name: $format differs through a pipe"
	done
}

for version in 6 7; do
	piped "$SRC/tests/data/small-v$version.dat" "trace.dat v$version"
done
piped "$SRC/tests/data/ftrace_6.18.txt" "ftrace text"
piped "$SRC/tests/data/ftrace_4.19.txt" "ftrace text of 4.19"
grep -v '^kiseki: note: ' notes && fail "something else than notes on standard error"

# A fifo by name, one writer that is slow, and one that stops in the middle of a line.
mkfifo fifo
cat "$SRC/tests/data/small-v6.dat" >fifo &
"$KISEKI" convert fifo -o fifo.ksk
wait $!
"$KISEKI" convert "$SRC/tests/data/small-v6.dat" -o direct.ksk
cmp fifo.ksk direct.ksk || fail "a fifo differs from a file"
(head -c 20 "$SRC/tests/data/ftrace_6.18.txt"; sleep 0.1; tail -c +21 "$SRC/tests/data/ftrace_6.18.txt") |
	"$KISEKI" convert - -o - --format csv >slow
"$KISEKI" convert "$SRC/tests/data/ftrace_6.18.txt" -o - --format csv | cmp - slow ||
	fail "a slow writer changes what is read"

# A big trace, so that the writer meets the closed pipe for certain: pipes hold 64 KiB.
{
	grep '^#' "$SRC/tests/data/ftrace_6.18.txt"
	for i in $(seq 200); do grep -v '^#' "$SRC/tests/data/ftrace_6.18.txt"; done
} >big.txt
for format in ksk ftrace json ndjson xml csv chrome perfetto; do
	status=0
	{ "$KISEKI" convert big.txt -o - --format $format 2>message || echo $? >status; } |
		head -c 1 >first
	[ "$(wc -c <first)" = 1 ] || fail "$format: nothing came"
	status=$(cat status 2>/dev/null || echo 0)
	rm -f status
	case $status in
	0 | 141) ;;
	*) fail "$format: exit $status after the reader left: $(cat message)" ;;
	esac
	grep -v '^kiseki: note: ' message && fail "$format: noise after the reader left"
done
for report in "report sched" "report latency" "info" "check"; do
	# shellcheck disable=SC2086 # the words of a command
	{ "$KISEKI" $report big.txt 2>message || echo $? >status; } | true
	status=$(cat status 2>/dev/null || echo 0)
	rm -f status
	[ "$status" = 0 ] || [ "$status" = 141 ] || fail "$report: exit $status"
	[ ! -s message ] || fail "$report: $(cat message)"
done

# What needs a file says so.
for format in ctf trace.dat; do
	status=0
	"$KISEKI" convert big.txt -o - --format $format >out 2>message || status=$?
	[ $status = 1 ] || fail "$format to a pipe: exit $status"
	[ ! -s out ] || fail "$format to a pipe: something was written"
	[ "$(wc -l <message)" = 1 ] || fail "$format to a pipe: $(cat message)"
done
