#!/bin/bash
# SPDX-License-Identifier: MIT
# The commands with a real collector and a real agent on this machine, as a person uses them: make
# run's tool, devices, start, stop, configure, runs, ledger, export, tail, top; and record, which
# needs no collector.
set -u
if [ "$(id -u)" -ne 0 ] || [ ! -d /sys/kernel/tracing/instances ]; then
	echo "skipped: needs root and tracefs"
	exit 77
fi
work=$(mktemp -d) || exit 1
running=
trap '[ -z "$running" ] || { kill "$running"; wait "$running"; }; rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir bin
ln -s "$KISEKI" bin/kiseki
ln -s "$AGENT" bin/kiseki-agent
export PATH=$work/bin:$PATH KISEKI_AGENT=$AGENT
failed=0

bad()
{
	echo "$*"
	failed=1
}

# run COMMAND...: must succeed; out and err have what it said.
run()
{
	"$@" >out 2>err </dev/null || bad "$*: exit $?: $(cat err)"
}

# until_true COMMAND...: within two minutes.
until_true()
{
	local left=1200
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.1
	done
}

# A recording of a command: its events, its status, nothing left behind.
kiseki record -q -o r.ksk -- sh -c 'for i in 1 2 3 4 5; do /bin/true; done; exit 7'
[ $? -eq 7 ] || bad "record: the status of the command is not passed on"
run kiseki check r.ksk
run kiseki convert r.ksk -o r.ndjson
[ "$(jq -s '[.[] | select(.kind == "exec" and .filename == "/bin/true")] | length' r.ndjson)" -eq 5 ] ||
	bad "record: not the five programs that were run: $(grep -c exec r.ndjson)"
[ "$(jq -r 'select(.kind == "trace").device' r.ndjson)" = "$(uname -n)" ] || bad "record: device"
agent=$(kiseki info r.ksk --json | jq .agent)
kiseki report sched --json --limit 0 r.ksk | jq -e ".tasks | any(.tgid == $agent)" >/dev/null ||
	bad "record: the agent is not in its own trace"
kiseki report sched --json --limit 0 --no-agent r.ksk |
	jq -e ".tasks | any(.tgid == $agent or .pid == $agent) | not" >/dev/null || bad "--no-agent"
run kiseki record -o t.ksk -d 300ms --source tracefs --events switch
grep -q ' events in .* none lost$' err || bad "record: summary: $(cat err)"
run kiseki info t.ksk --json
jq -e '.origin == "tracefs" and .events > 0 and .kinds.switch == .events' out >/dev/null ||
	bad "record --events: $(cat out)"
run kiseki record -q -o only.ksk --only -- sh -c '/bin/true & wait'
run kiseki convert only.ksk -o only.ndjson
jq -es 'any(.filename == "/bin/true")' only.ndjson >/dev/null || bad "record --only lacks the command"
# Its tasks are those of its events, and their processes: not this shell, nor all of the machine's.
jq -es "[.[] | .common_pid?, .pid?, .prev_pid?, .next_pid?, .parent_pid?, .child_pid?, .old_pid? | numbers] as \$seen |
	[.[] | select(.kind == \"task\")] as \$tasks |
	[\$tasks[] | select(.pid as \$p | \$seen | index(\$p)) | .tgid] as \$groups |
	(\$tasks | length > 0) and (\$tasks | all(.pid as \$p | \$seen + \$groups | index(\$p))) and
	(\$tasks | all(.pid != $$))" only.ndjson >/dev/null ||
	bad "record --only names tasks that are not in it: $(grep '"task"' only.ndjson)"
# Ctrl-C, once: a second one would be taken for impatience. Until it takes signals by a descriptor, and holds them back for that,
# it ignores it, as everything in the background does. When it has begun it does not say, only that it had not.
listens()
{
	(( 0x$(sed -n 's/^SigBlk:\s*//p' "/proc/$pid/status") & 2 ))
}
for pause in 1 5 20 60; do
	kiseki record -q -o int.ksk 2>int.err &
	pid=$!
	until_true listens || bad "record does not listen to Ctrl-C: $(cat int.err)"
	sleep $pause
	kill -INT $pid
	wait $pid && status=0 || status=$?
	grep -q 'interrupted before it began' int.err || break
done
[ $status -eq 0 ] || bad "record: exit $status after Ctrl-C: $(cat int.err)"
run kiseki check int.ksk
kiseki record -o none.ksk --source driver -- touch started 2>err && bad "record without its source"
[ ! -e none.ksk ] && [ ! -e started ] || bad "record: the command ran without a recording"
ls -d /run/kiseki-record-* /sys/fs/cgroup/kiseki-record-* /sys/fs/cgroup/*/kiseki-record-* \
	/sys/kernel/tracing/instances/kiseki-record-* 2>/dev/null && bad "record leaves something behind"

# The tool of make run: collector and agent, until it is told to stop.
BIN=$work/bin DATA=$work/data LISTEN=127.0.0.1:0 HTTP=127.0.0.1:0 DISPLAY='' WAYLAND_DISPLAY='' \
	"$SRC/tools/run" >run.out 2>run.err </dev/null &
running=$!
until_true grep -q '^Ctrl-C' run.out || bad "tools/run does not start: $(cat run.out run.err)"
KISEKI_SERVER=$(head -1 run.out)
export KISEKI_SERVER
has_events()
{
	kiseki runs --json | jq -e '.runs | any(.events > 100)'
}
until_true has_events || bad "no events come: $(kiseki devices; cat run.err)"
name=$(kiseki devices --json | jq -r '.devices[0].name')
run kiseki devices
grep -Eq "^$name +tracing +(bpf|tracefs) " out || bad "devices: $(cat out)"
run kiseki tail -n 50
[ "$(grep -c ' sched_\| task_rename' out)" -ge 50 ] || bad "tail: $(cat out)"
run kiseki tail "$name" -n 20 --json
jq -es 'map(select(.kind != "lost")) | length == 20' out >/dev/null || bad "tail --json: $(cat out)"
run kiseki top --once -i 500ms --json
jq -e '(.tasks | length > 0) and .to_ns > .from_ns and
	(.cpus | all(.busy_ns + .idle_ns <= 2000000000))' out >/dev/null || bad "top: $(cat out)"
run kiseki export "$name" --from -1h -o all.ksk
run kiseki check all.ksk
run kiseki export "$name" --from -1h -o all.txt
run kiseki report sched all.txt
run kiseki ledger "$name"
grep -Eq '^run 1, open: [0-9]+ events stored, ' out || bad "ledger: $(cat out)"
run kiseki configure "$name" --events switch --source tracefs
grep -qx "$name: configured" out || bad "configure: $(cat out)"
is_other_run()
{
	kiseki runs "$name" --json | jq -e '.runs | length == 2 and any(.events > 0 and .run == 2)'
}
until_true is_other_run || bad "configure does not begin a run: $(kiseki runs)"
run kiseki stop "$name"
run kiseki devices --json
jq -e '.devices[0].state == "idle"' out >/dev/null || bad "stop: $(cat out)"
is_ended()
{
	kiseki runs --json | jq -e '.runs | all(.ended)'
}
until_true is_ended || bad "runs that were stopped have no end: $(kiseki runs)"
run kiseki export --run 2 -o two.ndjson
# A busy machine may lose some of them, which has a row, too.
kinds=$(jq -r 'select(.ns and .kind != "lost") | .kind' two.ndjson | sort | uniq -c)
[ "${kinds##* }" = switch ] && [ "$(wc -l <<<"$kinds")" = 1 ] ||
	bad "configured events: $kinds; $(kiseki runs; head -c 1000 two.ndjson)"
stored=$(kiseki runs --json | jq '.runs[] | select(.run == 2).events')
[ "$(jq -s 'map(select(.kind == "switch")) | length' two.ndjson)" -eq "$stored" ] ||
	bad "an export has other events than the store counts"
run kiseki start "$name"
kiseki start nobody 2>err && bad "a device that is not there"
# Not SIGINT: whatever a shell starts in the background ignores it, and a shell cannot undo that.
kill -TERM $running
wait $running
[ $? -eq 143 ] || bad "tools/run: its exit when it is stopped"
running=
kiseki devices 2>err && bad "the collector outlives tools/run"
! ls -d /sys/kernel/tracing/instances/kiseki-"$name" 2>/dev/null || bad "the agent's instance stays"
exit $failed
