#!/bin/bash
# SPDX-License-Identifier: MIT
# web.sh SCENARIO: the page of a real collector in Chromium; tests/browser/web_SCENARIO.mjs has what is checked.
#
# The store has recordings that are in the tree: a scheduler's with a clock, one with losses and a hostile name,
# calls of a program, calls of a kernel with the scheduler beside them, two boots; profiles, of a host of virtual machines, and of two devices of which one gets slower, too. For scenarios that need a device
# there is a real agent that traces this machine, and a program that stops, starts, freezes and thaws it.
# Screenshots are kept in SHOTS. The script gets as JSON what it has to know: the numbers of the runs, and a
# program that stops and starts the collector.
set -u
scenario=$1
modules=$SRC/build/browser
export CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser)}
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
if [ -z "$CHROMIUM" ] || ! command -v node >/dev/null || [ ! -d "$modules/node_modules/playwright-core" ]; then
	echo "skipped: no Chromium, node or playwright-core; tools/setup test installs them"
	exit 77
fi
work=$(mktemp -d) || exit 1
stop_agent() {
	[ -s "$work/agent.pid" ] || return
	kill -CONT "$(cat "$work/agent.pid")" 2>/dev/null
	"$work/device" stop
}
stop_collector() { [ ! -s "$work/pid" ] || { kill "$(cat "$work/pid")" 2>/dev/null; rm -f "$work/pid"; }; }
trap 'stop_agent; stop_collector; rm -rf "$work"' EXIT
cd "$work" || exit 1
export TMPDIR=$work TZ=UTC
fail() { echo "web: $*"; exit 1; }

# --- the store ---
fill() { "$FILL_STORE" data "$@" || fail "cannot fill the store with $1"; }
"$KISEKI" convert "$SRC/tests/data/ftrace_6.18.txt" -o board.ksk || exit 1
"$KISEKI" convert "$SRC/tests/data/ftrace_4.19.txt" -o old.ksk || exit 1
"$KSK_RANDOM" lossy.ksk 4000 4096 || exit 1
# Ten thousand events with gaps: the same moments over and over.
awk '/^#/ { print; next } { line[n++] = $0 }
	END {
		for (k = 0; k < 60; k++) {
			if (k % 10 == 9)
				print "CPU:1 [LOST 120 EVENTS]"
			for (i = 0; i < n; i++) {
				match(line[i], /[0-9]+\.[0-9]+: /)
				at = substr(line[i], RSTART, RLENGTH - 2) + k * 0.05
				printf "%s%.6f%s\n", substr(line[i], 1, RSTART - 1), at, substr(line[i], RSTART + RLENGTH - 2)
			}
		}
	}' "$SRC/tests/data/ftrace_6.18.txt" >long.txt
"$KISEKI" convert long.txt -o long.ksk || exit 1
end=$(($(date +%s) - 30))
hostile=$'<img src=x onerror=alert(1)>\u202e\u0007"😀'
board=$(fill board-7 board.ksk $end) || exit 1
old=$(fill "$hostile" old.ksk) || exit 1
lossy=$(fill lossy lossy.ksk) || exit 1
long=$(fill board-8 long.ksk $end) || exit 1
func=$(fill board-7 "$SRC/tests/data/func/sample.ksk" $end) || exit 1
"$KISEKI" convert "$SRC/tests/data/graph/sched.dat" -o kernel.ksk || exit 1
kernel=$(fill board-7 kernel.ksk $end) || exit 1
"$BOOT_MAKE" "$SRC/tests/data/boot/small.boot" small.ksk || exit 1
boot=$(fill board-7 "$SRC/docs/examples/boot.ksk") || exit 1
boot_small=$(fill board-7 small.ksk) || exit 1
# Profiles are only there where they are looked at. One is of this machine, where it can be recorded.
before=0 after=0 machines=0 native=0
case $scenario in
profile | vm)
	"$SAMPLE_MAKE" "$SRC/tests/golden/profile/before.profile" before.ksk || exit 1
	"$SAMPLE_MAKE" "$SRC/tests/golden/profile/after.profile" after.ksk || exit 1
	python3 "$SRC/tests/tools/vm_host.py" 10 >machines.sample && "$SAMPLE_MAKE" machines.sample machines.ksk || exit 1
	"$SAMPLE_MAKE" machines.sample growing.ksk 2048 8192 || exit 1
	before=$(fill box before.ksk) || exit 1
	after=$(fill box after.ksk) || exit 1
	machines=$(fill host-2 machines.ksk $end) || exit 1
	if "$AGENT" profile -o native.ksk -e cpu-clock -- gzip -9 -c "$KISEKI" >native.gz 2>native.err && [ -s native.ksk ]; then
		native=$(fill board-7 native.ksk $end) || exit 1
	else
		echo "no profile of this machine: $(tail -n 1 native.err)"
	fi
	;;
fleet)
	# Half an hour of two devices, until just now, for a device that is silent has no open alerts; on the first one a function gets slower in it.
	end=$((($(date +%s) / 60 - 2) * 60 - 1)) # the last event, before a minute begins of which there is nothing else
	# The third is sampled by cycles, for a few minutes.
	for n in 1 2 3; do
		python3 "$SRC/tests/tools/profile_story.py" box-$n $((n == 3 ? 4 : 26)) $((n == 1 ? 20 : 99)) $n $((n == 3)) >box-$n.sample || exit 1
		"$SAMPLE_MAKE" box-$n.sample box-$n.ksk 2000 8000 || exit 1
		fill box-$n box-$n.ksk $end >/dev/null || exit 1
	done
	;;
esac

# Who may look, and what else; the page is asked for over HTTPS then.
scheme=http
if [ "$scenario" = login ]; then
	scheme=https
	"$KISEKI" keys init --dir data/keys >/dev/null || exit 1
	for role in view control admin; do
		echo "correct horse" | "$KISEKI" keys user add $role-user --role $role --dir data/keys >/dev/null || exit 1
	done
fi

# --- a collector that can be stopped and started again, on the same ports ---
cat >control <<END
#!/bin/bash
cd "$work" || exit 1
case \$1 in
stop) kill "\$(cat pid)" && while kill -0 "\$(cat pid)" 2>/dev/null; do sleep 0.05; done; rm -f pid ;;
start)
	: >serve.out
	"$KISEKI" serve --listen "127.0.0.1:\$(cat listen)" --http "127.0.0.1:\$(cat http)" --data data --config /dev/null \\
		>serve.out 2>>serve.err </dev/null &
	echo \$! >pid
	for _ in \$(seq 1200); do
		grep -q '^ready' serve.out && break
		kill -0 "\$(cat pid)" || exit 1
		sleep 0.1
	done
	sed -n 's|^web .*:\\([0-9]*\\)/\$|\\1|p' serve.out >http
	sed -n 's|^devices .*:\\([0-9]*\\)\$|\\1|p' serve.out >listen
	;;
esac
END
chmod +x control
echo 0 >listen
echo 0 >http
./control start || fail "the collector does not start: $(cat serve.err)"
url=$scheme://127.0.0.1:$(cat http)/

# --- a device that is there; the kernel's trace has an instance of its name, so it is nobody else's ---
device=this-machine-$$
case $scenario in
devices | follow | instructions | live)
	if [ "$(id -u)" -ne 0 ] || [ ! -d /sys/kernel/tracing/instances ]; then
		echo "skipped: a real device needs root and tracefs"
		exit 77
	fi
	cat >device <<END
#!/bin/bash
cd "$work" || exit 1
case \$1 in
start)
	"$AGENT" --config /dev/null --collector "127.0.0.1:\$(cat listen)" --name $device --source tracefs \\
		--state-dir "$work/agent" --spool-file "$work/agent.spool" \$2 >agent.out 2>>agent.err </dev/null &
	echo \$! >agent.pid
	;;
stop) kill "\$(cat agent.pid)" && while kill -0 "\$(cat agent.pid)" 2>/dev/null; do sleep 0.05; done; rm -f agent.pid ;;
crash) kill -KILL "\$(cat agent.pid)" && while kill -0 "\$(cat agent.pid)" 2>/dev/null; do sleep 0.05; done; rm -f agent.pid ;;
freeze) kill -STOP "\$(cat agent.pid)" ;;
thaw) kill -CONT "\$(cat agent.pid)" ;;
esac
END
	chmod +x device
	./device start --start
	;;
esac

mkdir -p "$SHOTS"
data=$(printf '{"control":"%s","agent":"%s","kiseki":"%s","work":"%s","device":"%s","runs":{"board":%d,"hostile":%d,"lossy":%d,"long":%d,"func":%d,"kernel":%d,"boot":%d,"boot_small":%d,"before":%d,"after":%d,"machines":%d,"native":%d}}' \
	"$work/control" "$work/device" "$KISEKI" "$work" "$device" "$board" "$old" "$lossy" "$long" "$func" "$kernel" "$boot" "$boot_small" \
	"$before" "$after" "$machines" "$native")
timeout 400 node "$SRC/tests/browser/web_$scenario.mjs" "$modules" "$url" "$SHOTS" "$data" || {
	tail -n 20 serve.err
	exit 1
}
