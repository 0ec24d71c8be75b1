#!/bin/bash
# SPDX-License-Identifier: MIT
# func kernel: what it hands to the agent and what it makes of the agent's recording. The recording is one of a real
# kernel (tests/data/graph), put there by a stand-in, because the kernel of a build machine often has no
# function_graph; tests/boards/func_kernel.py has the real agent. Then the real one, for what it says where it
# cannot record.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
failed=0

fail()
{
	echo "FAILED: $*"
	failed=1
}

cat >"$work/agent" <<'STANDIN'
#!/bin/bash
printf '%s\n' "$@" >"$WORDS"
[ -z "${NOTHING-}" ] && cp "$RECORDING" "$3"
exit 3
STANDIN
chmod +x "$work/agent"
export WORDS=$work/words RECORDING=$SRC/tests/data/graph/sched.dat

run()
{
	KISEKI_AGENT=$work/agent "$KISEKI" func kernel "$@" >"$work/out" 2>"$work/err"
	status=$?
}

# Options go on as they are; those of the report stay here; the status is the command's.
run --tree vfs_read --sched -d 3 --min-time 10us --limit 5 -- ls -l --all
[ $status = 3 ] || fail "status $status instead of the command's 3"
sed -n '4,$p' "$work/words" >"$work/passed"
diff "$work/passed" - <<'WANTED' || fail "the agent's words"
--tree=vfs_read
--depth=3
--min-time=10us
--sched
--
ls
-l
--all
WANTED
grep -q '^ls: 226 calls of 59 functions' "$work/out" || fail "no report: $(head -n 3 "$work/out")"
grep -q 'preempt.*blocked' "$work/out" || fail "no split of local time"
grep -q 'do_page_fault' "$work/out" || fail "no names"
[ -z "$(ls "$TMPDIR")" ] || fail "left in $TMPDIR: $(ls "$TMPDIR")"

# --output keeps the file, and the report of that file is the same.
run -o "$work/kept.dat" --json -- true
cmp -s "$work/kept.dat" "$RECORDING" || fail "the recording was not kept"
"$KISEKI" func report --json "$work/kept.dat" >"$work/again" || fail "func report"
cmp -s "$work/out" "$work/again" || fail "func report says something else of the same file"

# To a .ksk it is packed, and says the same again.
run -o "$work/kept.ksk" --json -- true
"$KISEKI" check "$work/kept.ksk" >/dev/null || fail "no .ksk"
cmp -s "$work/out" "$work/again" || fail "a .ksk reports something else"
[ -z "$(ls "$TMPDIR")" ] || fail "left in $TMPDIR: $(ls "$TMPDIR")"

# As .ksk it takes a part of the room and says the same; so does text of the kernel's.
for name in sched.dat thresh.dat graph-v7.dat rich.txt; do
	"$KISEKI" convert "$SRC/tests/data/graph/$name" -o "$work/trace.ksk" || fail "convert $name"
	"$KISEKI" func report --json "$SRC/tests/data/graph/$name" >"$work/one" || fail "report $name"
	"$KISEKI" func report --json "$work/trace.ksk" >"$work/two" || fail "report $name as .ksk"
	cmp "$work/one" "$work/two" || fail "$name as .ksk says something else"
	[ "$(stat -c %s "$work/trace.ksk")" -lt "$(stat -c %s "$SRC/tests/data/graph/$name")" ] ||
		fail "$name is no smaller as .ksk"
done

# An agent that fails has said why.
NOTHING=1 run -- true
{ [ $status = 3 ] && [ ! -s "$work/out" ]; } || fail "status $status and $(cat "$work/out") without a recording"
run --depth
[ $status = 2 ] || fail "status $status for an option without its value"

# The real agent, where there is no function_graph.
if ! grep -qs function_graph /sys/kernel/tracing/available_tracers; then
	KISEKI_AGENT=$AGENT "$KISEKI" func kernel -- touch "$work/ran" >"$work/out" 2>"$work/err"
	[ $? = 1 ] || fail "the agent did not fail"
	[ -e "$work/ran" ] && fail "the command ran without being recorded"
	[ "$(wc -l <"$work/err")" = 1 ] || fail "not one line: $(cat "$work/err")"
fi
exit $failed
