#!/bin/bash
# SPDX-License-Identifier: MIT
# The commands that ask a collector, against one that also answers as no real one does: cut off,
# no JSON, failures, names that would move the cursor. What is asked, and what is made of it.
set -u
command -v python3 >/dev/null || {
	echo "skipped: no python3"
	exit 77
}
work=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

bad()
{
	echo "$*"
	failed=1
}

# gives CODE COMMAND...: exits so; a failure is one line on stderr that starts with "kiseki: cannot".
gives()
{
	local want=$1 got
	shift
	"$KISEKI" "$@" >out 2>err </dev/null
	got=$?
	[ $got -eq "$want" ] || bad "kiseki $*: exit $got, not $want: $(cat err)"
	case " $* " in *" --json "*) return ;; esac
	[ "$want" -eq 0 ] || grep -q '^kiseki: ' err || bad "kiseki $*: says $(cat err)"
	! grep -q "$(printf '[\033\302\233]')" out err || bad "kiseki $*: control characters"
}

says()
{
	grep -qF -- "$2" "$1" || bad "$1 lacks '$2': $(cat "$1")"
}

# until_there COMMAND...: two minutes, until it succeeds.
until_there()
{
	for _ in $(seq 1200); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

python3 "$SRC/tests/tools/fake_api.py" log >port &
server=$!
until_there test -s port
KISEKI_SERVER=http://127.0.0.1:$(cat port)/
export KISEKI_SERVER

gives 0 devices
says out 'board-1'
grep -Eq '^board-1 +tracing +bpf +123 +2\.50 +7 +12\.5% +.1\.50 us +now$' out || bad "devices: $(cat out)"
grep -Eq '^away +offline +bpf +' out || bad "devices: $(cat out)"
grep -qx 'away: a filter is set: pid 3,40; comm gen\*?' out || bad "devices do not tell a filter: $(cat out)"
[ "$(wc -l <out)" -eq 6 ] || bad "a name with a line end: $(cat out)"
gives 0 devices 'boa*'
[ "$(wc -l <out)" -eq 2 ] || bad "devices of a pattern: $(cat out)"
gives 0 devices --json
jq -e '.devices | length == 3' out >/dev/null || bad "devices --json"

# Instructions: patterns, ids, those that are away, those that fail.
gives 0 start board-1 --source bpf --events switch,waking --comm 'a\,b' --flush 2s
says out 'board-1: started'
grep -qF 'POST /api/v1/devices/'"$(printf 'aa%.0s' $(seq 16))"'/start {"source":"bpf","events":["switch","waking"],"flush":2000,"comm":["a,b"]}' log ||
	bad "start sends: $(grep POST log)"
gives 1 stop --all
says out 'away: is away; it will be stopped when it comes back'
says err 'cannot stop evil'
says err 'no tracefs'
gives 1 stop board-1 nobody
says out 'board-1: stopped'
says err 'cannot stop nobody: there is no such device, it has never connected; on it: kiseki-agent --collector HOST:7077'
[ "$(wc -l <err)" -eq 1 ] || bad "a device that never came: $(cat err)"
gives 1 stop 'no*'
says err 'cannot stop no*: no device has such a name'
gives 0 configure cccccc --pid ''
says out 'away: is away'
grep -qF '{"pid":[]}' log || bad "configure sends: $(grep configure log)"
gives 1 start --all --json
jq -e '.results | map(.ok) == [true, false, true]' out >/dev/null || bad "start --json: $(cat out)"
gives 2 start
gives 2 start board-1 --source magic
gives 2 configure board-1

gives 0 runs
grep -Eq '^ +7 +board-1 .* 1000 +2\.50 KB +2\.50 +3\+\? +open$' out || bad "runs: $(cat out)"
says out 'and 2 more'
gives 1 runs garbage
says err 'is it a kiseki collector?'
gives 1 runs broken
says err 'status 500'
gives 1 runs nobody
says err 'there is no device nobody'
gives 0 ledger board-1
says out 'run 7: 997 events stored, 3 lost (0.3%), and 1 gap of unknown size'
grep -Eq '^ *all +spool +unknown +the start +-$' out || bad "ledger: $(cat out)"
grep -q '^spool: .*what helps: a larger spool' out || bad "ledger says not what helps: $(cat out)"
grep -q '^damage:' out && bad "ledger: advice about what is not there"
gives 0 ledger 7
grep -qx 'GET /api/v1/runs/7/ledger' log || bad "ledger of a run"

# Calls: what is no file is asked of the collector.
gives 1 func report nobody
says err 'cannot read nobody: there is no such file, and of the collector: there is no device nobody'
gives 1 func report garbage
says err 'is it a kiseki collector?'
gives 1 func tree ./nobody.ksk
says err 'No such file'
gives 1 func on nobody
says err 'cannot switch nobody: there is no such device'
gives 1 func report nobody --run 7
says err "is not the folder of a store"

# Exports: whole or not at all; times are this machine's.
TZ=IST-5:30 gives 0 export board-1 --from '2026-11-15 10:30:00' --to '2026-11-15T06:00:00Z' -o x.txt
cmp -s x.txt <(echo exported) || bad "export: $(cat x.txt)"
grep -qx 'GET /api/v1/devices/board-1/export?format=ftrace&from=2026-11-15T05%3A00%3A00Z&to=2026-11-15T06%3A00%3A00Z' log ||
	bad "export asks: $(grep export log)"
says err 'note: it cannot hold all'
gives 0 export board-1 -f csv --from +5s --comm 'a*' -o -
says out exported
grep -qx 'GET /api/v1/devices/board-1/export?format=csv&from=%2B5s&comm=a%2A' log || bad "$(grep csv log)"
# A run, and a device beside it that it must be of.
gives 0 export --run 7 -f csv -o -
says out run
gives 0 export board-1 --run 7 -f csv -o -
says out run
gives 1 export away --run 7 -f csv -o wrong.csv
says err 'cannot export: run 7 is of device board-1, not of away'
[ ! -e wrong.csv ] || bad "an export of another device's run"
gives 1 export cut -o half.txt
says err 'the connection ended before it did'
gives 1 export nobody -o none.txt
gives 1 export board-1 -o missing/x.txt
gives 2 export board-1 -o x.unknown
gives 2 export board-1
gives 2 export board-1 -o x.txt --from yesterday
gives 2 export board-1 -o folder.ctf
[ "$(ls ./*.txt*)" = ./x.txt ] || bad "left behind: $(ls)"

# Live.
gives 0 tail board-1 -n 3
says out 'sched_switch: prev_comm=t10 prev_pid=10'
says out 'CPU:1 [LOST 9 EVENTS]'
says err '3 events, 1 gaps'
gives 0 tail board-1 -n 3 --json
[ "$(jq -r .kind out | tr '\n' ' ')" = 'switch switch lost switch ' ] || bad "tail --json: $(cat out)"
gives 1 tail away -n 9
says err 'closed the connection'
gives 1 tail nobody
gives 1 top away --count 9 -i 1s
says err 'closed the connection'
# The only one that traces needs no name.
: >out
"$KISEKI" tail >out 2>err &
tail=$!
until_there test -s out
# Until it listens to signals it ignores this one, as everything in the background does.
while kill -INT $tail 2>/dev/null; do
	sleep 0.2
done
wait $tail || bad "tail: exit $? after Ctrl-C: $(cat err)"
says err '3 events, 1 gaps, 5 not shown'
gives 0 top board-1 --once -i 100ms
grep -Eq '^ +10 +t10 +100\.0 ' out || bad "top: $(cat out)"
says out '9 lost in 1 gaps'
gives 0 top board-1 -n 2 -i 100ms --json
[ "$(wc -l <out)" -eq 2 ] || bad "top -n 2: $(cat out)"
head -1 out | jq -e '.tasks[0].pid == 10 and .tasks[0].cpu_ns == 1000 and .left_out == 5 and
	.cpus[0].busy_ns == 1000 and .lost == 9' >/dev/null || bad "top --json: $(cat out)"
gives 2 top board-1 -i 1ms

# On a terminal: the other screen, keys, and the terminal as it was, however it ends. The keyboard
# stays until all is over: a `script` whose input ends does not wait for the last of the output.
# Ctrl-C reaches the shell around it as well; some shells would end then, without a code.
if command -v script >/dev/null; then
	for how in q s INT; do
		: >screen
		rm -f before after code
		{
			until_there grep -qF "$(printf '\033[?1049h')" screen
			# Again, until it has listened: what is typed before the keyboard is its own is thrown away. Not while it ends.
			for _ in $(seq 240); do
				sleep 0.5
				[ ! -s code ] || break
				! grep -qF "$(printf '\033[?1049l')" screen || continue
				if [ $how = INT ]; then printf '\003'; else printf '%sq' $how; fi
			done
		} | script -qfec "trap : INT; stty -a >before; $KISEKI top board-1 -i 200ms; r=\$?; stty -a >after; echo \$r >code" \
			typescript >screen
		cmp -s before after || bad "top leaves the terminal changed after $how"
		[ "$(cat code)" = 0 ] || bad "top on a terminal: $(cat code): $(tail -c 300 screen)"
		grep -qF "$(printf '\033[?1049h')" screen && grep -qF "$(printf '\033[?1049l')" screen ||
			bad "top: no screen of its own"
	done
else
	echo "skipped: script is not installed, nobody typed"
fi

# The collector is started anew: those without an end of their own go on, with what comes then.
port=$(cat port)
stop_server()
{
	kill "$server"
	wait "$server" 2>/dev/null
	server=
}

: >out >err # the shell that empties them for a command behind `&` may be late
"$KISEKI" tail board-1 >out 2>err &
tail=$!
"$KISEKI" tail board-1 --json >out.json 2>err.json &
json=$!
"$KISEKI" top board-1 -i 100ms >top.out 2>top.err </dev/null &
top=$!
until_there test -s out
until_there test -s out.json
until_there test -s top.out
stop_server
for file in err err.json top.err; do
	until_there grep -q 'connection lost, trying again' $file
done
python3 "$SRC/tests/tools/fake_api.py" log "$port" >again &
server=$!
for file in err err.json top.err; do
	until_there grep -q 'connected again' $file || bad "$file: $(cat $file)"
done
until_there eval '[ $(grep -c sched_switch out) -ge 6 ]'
until_there eval '[ $(wc -l <out.json) -ge 8 ]'
for pid in $tail $json $top; do
	while kill -INT "$pid" 2>/dev/null; do
		sleep 0.2
	done
	wait "$pid" || bad "exit $? after Ctrl-C: $(cat err err.json top.err)"
done
says err '6 events, 2 gaps, 10 not shown'
says err.json '6 events, 2 gaps, 10 not shown'
[ "$(grep -c 'connection lost' err)" -eq 1 ] || bad "tail says it more than once: $(cat err)"

# Ctrl-C while nobody is there ends it, too.
: >out >err
"$KISEKI" tail board-1 >out 2>err &
tail=$!
until_there test -s out
stop_server
until_there grep -q 'connection lost' err
while kill -INT $tail 2>/dev/null; do
	sleep 0.2
done
wait $tail || bad "tail: exit $? after Ctrl-C without a collector: $(cat err)"

# Nobody there.
gives 1 devices
says err "cannot reach http://127.0.0.1:$port: Connection refused; is \`kiseki serve\` running?"
gives 1 devices --server http://127.0.0.1:1
gives 2 devices --server ftp://x
says err 'write it as http://127.0.0.1:8080'
exit $failed
