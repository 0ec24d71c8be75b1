#!/bin/bash
# SPDX-License-Identifier: MIT
# The process that reads a foreign trace: what it has, and what happens when it dies. A pipe keeps it waiting
# meanwhile.
set -eu
work=$(mktemp -d)
reader=
trap 'exec 9>&- || true; rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*"; exit 1; }
if grep -qaE '__(asan|tsan)_init' "$KISEKI"; then
	echo "skipped: programs with a sanitizer have no filter"
	exit 77
fi

# begin: `kiseki convert` reads a pipe that stays open; its reader is $reader.
begin() {
	rm -f pipe out.ksk
	mkfifo pipe
	# A secret of the caller's that the reader must not have, on a descriptor of its own.
	"$KISEKI" convert - -o out.ksk <pipe 2>err 8<"$SRC/README.md" &
	program=$!
	exec 9>pipe
	cat "$SRC/tests/data/ftrace_6.18.txt" >&9
	for _ in $(seq 600); do
		reader=$(cat /proc/$program/task/*/children 2>/dev/null | tr -d ' ' || true)
		[ -n "$reader" ] && grep -q '^Seccomp:.*2' /proc/$reader/status && return
		sleep 0.05
	done
	fail "no process reads: $(cat err)"
}
# ends WORDS: the program says so in one line, and leaves no file.
ends() {
	local status=0
	wait $program || status=$?
	exec 9>&-
	[ $status = 1 ] || fail "exit status $status"
	[ "$(cat err)" = "kiseki: cannot read -: $1" ] || fail "it says: $(cat err)"
	[ ! -e out.ksk ] || fail "half a file was left"
}

begin
has() { grep -q "^$1" /proc/$reader/$2 || fail "$2: $(grep "^${1%%:*}" /proc/$reader/$2)"; }
has 'NoNewPrivs:.*1' status
has 'Max core file size *0 ' limits
has 'Max file size *65536 ' limits
has 'Max data size *1073741824 ' limits
[ "$(ls /proc/$reader/fd | wc -l)" = 5 ] || fail "it has descriptors: $(ls -l /proc/$reader/fd)"
! ls -l /proc/$reader/fd | grep -q README || fail "it has a file of the caller's"
kill -SEGV $reader
ends 'its reader crashed (Segmentation fault)'

begin
kill -VTALRM $reader
ends 'its reader took too much time and was ended'

begin
kill -SYS $reader
ends 'its reader tried to do more than read, and was ended'

# And nothing happens: the pipe ends.
begin
exec 9>&-
wait $program || fail "it does not end: $(cat err)"
"$KISEKI" info out.ksk | grep -q '^events *172' || fail "not all events came"
echo "the reader is alone; its end is one line"
