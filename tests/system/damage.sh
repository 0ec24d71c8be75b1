#!/bin/bash
# SPDX-License-Identifier: MIT
# Garbage in every importer, and outputs that cannot be written: exit 1 (2 for wrong usage), one line
# on standard error that starts with "kiseki: ", no output file and no temporary one left, no crash.
#
# Cut files are a matter of their format. Text just ends, and a .ksk is read up to the damage and
# behind it, so those may succeed, but never crash; check must tell a cut .ksk from a whole one.
set -u
work=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1
data=$SRC/tests/data
failed=0

bad()
{
	echo "FAILED: $*"
	failed=1
}

# run CODES COMMAND...: exits with one of the codes, "0 1" for example.
run()
{
	local codes=$1 status
	shift
	timeout 300 "$KISEKI" "$@" >out 2>err </dev/null
	status=$?
	case " $codes " in
	*" $status "*) ;;
	*) bad "kiseki $*: exit $status, not $codes: $(head -c 2000 err)" ;;
	esac
	if [ $status != 0 ] && [ "${1-}" != check ]; then
		[ "$(wc -l <err)" = 1 ] && grep -q '^kiseki: ' err ||
			bad "kiseki $*: not one line: $(head -c 2000 err)"
	fi
}

# refuse INPUT: no command takes it, and nothing is left.
refuse()
{
	local format
	for format in ksk ftrace trace.dat ctf ndjson perfetto; do
		run 1 convert "$1" -o outputs/x --format $format
	done
	run 1 convert "$1" -o - --format ksk
	[ ! -s out ] || bad "convert $1: wrote $(wc -c <out) bytes to standard output"
	run 1 check "$1"
	run 1 info "$1"
	run 1 report sched "$1"
	run 1 report latency "$1"
	nothing_left "$1"
}

nothing_left()
{
	[ -z "$(ls -A outputs)" ] || bad "$1: left $(ls -A outputs)"
	rm -rf outputs
	mkdir outputs
}
mkdir outputs inputs

# What is no trace at all.
: >inputs/empty
printf 'x' >inputs/one
printf '\0' >inputs/zero
head -c 5000 /dev/zero >inputs/zeros
# Random bytes, the same in every run.
awk 'BEGIN { srand(1); for (i = 0; i < 20000; i++) printf "%c", 1 + int(rand() * 254) }' >noise
LC_ALL=C tr 'a' '\0' <noise >inputs/noise
printf '# tracer: nop\nhello\nworld\n' >inputs/words
printf '<!DOCTYPE html>\n<html><body>no trace</body></html>\n' >inputs/page
for name in ksk dat; do # the right start, then noise
	[ $name = dat ] && head -c 30 "$data/small-v6.dat" >inputs/$name-noise
	[ $name = ksk ] && printf 'KISEKI\r\n\003' >inputs/$name-noise
	cat noise >>inputs/$name-noise
done
mkdir inputs/folder inputs/ctf-empty inputs/ctf-noise inputs/ctf-garbled
: >inputs/ctf-empty/metadata
cp noise inputs/ctf-noise/metadata
cp "$data"/lttng/* inputs/ctf-garbled/
cp noise inputs/ctf-garbled/channel0_0
gzip -c noise >inputs/compressed
gzip -c "$data/ftrace_6.18.txt" | head -c 1000 >inputs/compressed-cut
for input in inputs/*; do
	refuse "$input"
done
refuse inputs/missing
refuse /proc/self/mem # root may open everything, but not read this at its start
if [ "$(id -u)" != 0 ]; then
	cp "$data/small-v6.dat" inputs/unreadable
	chmod 0 inputs/unreadable
	refuse inputs/unreadable
fi
cp -r "$data/lttng" inputs/ctf-cut
truncate -s -1 inputs/ctf-cut/channel0_1
refuse inputs/ctf-cut

# Recordings that are cut: trace.dat is refused, unless all events were before the cut.
"$KISEKI" convert "$data/small-v6.dat" -o whole.ksk || bad "cannot make a .ksk"
size=$(stat -c %s whole.ksk)
for cut in 0 1 7 8 9 20 100 $((size / 2)) $((size - 100)) $((size - 30)) $((size - 1)); do
	head -c $cut whole.ksk >cut.ksk
	run 1 check cut.ksk
	run "0 1" convert cut.ksk -o outputs/x.ndjson
	rm -f outputs/x.ndjson
	nothing_left "a .ksk cut at $cut"
done
for version in 6 7; do
	size=$(stat -c %s "$data/small-v$version.dat")
	for cut in 1 9 10 11 20 60 1000 $((size / 4)) $((size / 2)) $((size - 5000)) $((size - 1)); do
		head -c $cut "$data/small-v$version.dat" >cut.dat
		run "0 1" convert cut.dat -o outputs/x.ndjson
		if [ -e outputs/x.ndjson ]; then # only names of sections were cut off
			"$KISEKI" convert "$data/small-v$version.dat" -o - --format ndjson |
				cmp - outputs/x.ndjson || bad "v$version cut at $cut: events are missing"
			rm outputs/x.ndjson
		fi
		nothing_left "a trace.dat v$version cut at $cut"
	done
done
for cut in 1 10 500 1000 1501 5000; do
	head -c $cut "$data/ftrace_6.18.txt" >cut.txt
	run "0 1" convert cut.txt -o outputs/x.ksk
	rm -f outputs/x.ksk
	nothing_left "text cut at $cut"
done

# Flipped bytes: whatever they do, they do no harm.
for offset in 12 40 333 1201 2500; do
	for file in whole.ksk "$data/small-v6.dat" "$data/small-v7.dat" "$data/ftrace_6.18.txt"; do
		cp "$file" flipped
		chmod u+w flipped
		printf '\xa5\x5a\xff' | dd of=flipped bs=1 seek=$offset conv=notrunc status=none
		run "0 1" convert flipped -o outputs/x.ndjson
		rm -f outputs/x.ndjson
		run "0 1" check flipped
		run "0 1" report latency flipped
		nothing_left "$file with other bytes at $offset"
	done
done

# A writer that stops early.
mkfifo fifo
for bytes in 0 1 8 3000; do
	head -c $bytes "$data/small-v6.dat" >fifo &
	run 1 convert fifo -o outputs/x.ksk
	wait $!
	nothing_left "a fifo with $bytes bytes"
done

# Outputs that cannot be written.
formats="ksk ftrace json ndjson xml trace.dat perfetto chrome csv ctf"
for format in $formats; do
	run 1 convert whole.ksk -o missing/x --format $format
	[ ! -e missing ] || bad "$format: made a folder"
	[ $format = trace.dat ] || [ $format = ctf ] || {
		"$KISEKI" convert whole.ksk -o - --format $format 2>err >/dev/full
		status=$?
		grep -v '^kiseki: note: ' err >message
		[ $status = 1 ] && [ "$(wc -l <message)" = 1 ] && grep -q '^kiseki: ' message ||
			bad "$format to a full device: exit $status, $(cat err)"
	}
	run 1 convert whole.ksk -o /dev/full --format $format
	[ -c /dev/full ] || bad "$format: replaced /dev/full"
	mkdir outputs/taken && echo mine >outputs/taken/file
	run 1 convert whole.ksk -o outputs/taken --format $format
	[ "$(cat outputs/taken/file)" = mine ] && [ "$(ls -A outputs)" = taken ] ||
		bad "$format: touched a folder that is somebody's: $(ls -AR outputs)"
	rm -rf outputs/taken
	# What was there before stays when the input turns out to be garbage.
	echo old >outputs/old
	run 1 convert inputs/noise -o outputs/old --format $format
	[ "$(cat outputs/old)" = old ] || bad "$format: touched the old output"
	rm -f outputs/old
	nothing_left "$format"
done
for command in info check "report sched" "report latency" --help "help convert"; do
	# shellcheck disable=SC2086 # the words of a command
	case $command in
	-* | help*) "$KISEKI" $command ;;
	*) "$KISEKI" $command whole.ksk ;;
	esac 2>err >/dev/full
	status=$?
	[ $status = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q '^kiseki: ' err ||
		bad "$command to a full device: exit $status, $(cat err)"
done

# Wrong usage.
for words in "convert" "convert whole.ksk" "convert whole.ksk -o" "convert whole.ksk -o x.xyz" \
	"convert whole.ksk -o x.ksk --format nothing" "convert whole.ksk -o x.ksk --codec nothing" \
	"convert whole.ksk whole.ksk -o x.ksk" "convert whole.ksk -o x.ksk --nothing" \
	"convert whole.ksk -o x.ksk --from yesterday" "convert whole.ksk -o x.ksk --cpu -3" \
	"convert whole.ksk -o x.ksk --event nothing" "report nothing whole.ksk" "report sched" \
	"check" "info" "nothing"; do
	# shellcheck disable=SC2086 # the words of a command
	run 2 $words
	[ ! -e x.ksk ] || bad "kiseki $words: wrote something"
done
exit $failed
