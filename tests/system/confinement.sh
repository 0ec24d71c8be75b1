#!/bin/bash
# SPDX-License-Identifier: MIT
# The sandbox of a collector that runs: every thread has the filter, also those that come later; work goes on in it;
# what is refused fails, is named once in the log, and the collector lives on; without it there is a warning.
set -eu
work=$(mktemp -d)
server=
stop() { [ -z "$server" ] || kill "$server" 2>/dev/null; [ -z "$server" ] || wait "$server" || true; server=; }
trap 'stop; rm -rf "$work"' EXIT
cd "$work"
for tool in curl gdb; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
fail() { echo "FAILED: $*"; exit 1; }
serve() {
	: >serve.out
	"$KISEKI" serve --listen 127.0.0.1:0 --http 127.0.0.1:0 --data data --config /dev/null "$@" >serve.out 2>serve.err &
	server=$!
	for _ in $(seq 1200); do
		grep -q '^ready' serve.out && break
		kill -0 $server 2>/dev/null || { cat serve.err; fail "kiseki serve ended"; }
		sleep 0.1
	done
	url=$(sed -n 's|^web *||p' serve.out)
}
# states: how many threads are in which state of seccomp.
states() { sed -n 's/^Seccomp:[[:space:]]*//p' /proc/$server/task/*/status | sort | uniq -c | sed 's/^ *//'; }

serve --no-sandbox
[ "$(states | sed 's/.* //')" = 0 ] || fail "--no-sandbox has a filter: $(states)"
grep -q 'warning: no-sandbox' serve.err || fail "no warning: $(cat serve.err)"
stop

serve
if grep -qaE '__(asan|tsan)_init' "$KISEKI"; then
	echo "skipped: programs with a sanitizer have no filter"
	exit 77
fi
curl -sf "${url}api/v1/devices" >/dev/null # its thread is a new one
[ "$(states | sed 's/.* //')" = 2 ] || fail "not every thread has the filter: $(states)"
grep -q '^NoNewPrivs:[[:space:]]*1' /proc/$server/status || fail "it could get new powers"
! grep -q refused serve.err || fail "it needs more than it has: $(cat serve.err)"

# Somebody got in: gdb plays him. It must let SIGSYS through, which is how the process learns of a refusal.
inside() { gdb -p $server -batch -ex 'handle SIGSYS nostop noprint pass' -ex "print $1" 2>/dev/null | sed -n 's/^\$1 = //p'; }
[ "$(inside '(int)execl("/bin/true", "true", 0)')" != 0 ] || fail "it could start a program"
[ "$(inside '(int)ptrace(0, 0, 0, 0)')" != 0 ] || fail "it could be traced"
kill -0 $server || fail "it died of a refusal"
[ "$(inside '(int)fork()')" = -1 ] || fail "it could make a process"
[ "$(inside '(int)socket(17, 3, 0)')" = -1 ] || fail "it could listen to the network's raw packets"
[ "$(inside '(long)mmap(0, 4096, 6, 34, -1, 0)')" = -1 ] || fail "it could make code"
curl -sf "${url}api/v1/devices" >/dev/null || fail "it does not answer any more"
for call in execve ptrace socket mmap; do
	[ "$(grep -c "refused the system call $call\$" serve.err)" = 1 ] || fail "$call is not told once: $(cat serve.err)"
done
kill $server
wait $server || fail "it did not end well: $?"
server=
echo "all threads confined; refusals told"
