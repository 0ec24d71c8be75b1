#!/bin/busybox sh
# SPDX-License-Identifier: MIT
#
# measure.sh: on the board, one tracer while one load runs.
#
#	measure.sh METHOD SECONDS SEED PORT
#
# A method is two functions, start_METHOD and stop_METHOD, which say what the owner of a board would
# type. Between them runs the load. The counters of the kernel are read before the load and SETTLE_S
# after it, when the tracer has been stopped and is done, so that what it does late counts as well;
# the time between the two is the same for all methods, and `none` goes through the same steps. PORT is
# the one of the other machine that the method sends to. What was counted is in /out.
#
# What is recorded is what the tracer sched_switch of the paper's kernel recorded: switches and wakeups.
method=$1 seconds=$2 seed=$3 port=$4
tracing=/sys/kernel/tracing
driver=/sys/kernel/kiseki
host=10.0.2.2
events="sched_switch sched_wakeup sched_wakeup_new"
SETTLE_S=4

die()
{
	echo "measure: $*" >&2
	exit 1
}

# --- ftrace, as text through trace_pipe ---

set_events()
{
	for event in $events; do
		echo "$1" >"$tracing/events/sched/$event/enable" || die "no event $event"
	done
}

start_ftrace()
{
	echo 0 >$tracing/tracing_on
	echo >$tracing/trace
	set_events 1
	echo 1 >$tracing/tracing_on
}

# The reader gets the end of its file when tracing is off and the ring is empty; a kernel that does not
# wake it for this is helped.
stop_ftrace()
{
	count_lost
	echo 0 >$tracing/tracing_on
	usleep 500000
	kill "$(cat /out/cat.pid)" 2>/dev/null
	wait
	set_events 0
}

count_lost()
{
	cat $tracing/per_cpu/cpu*/stats >/out/ring
}

start_none() { :; }
stop_none() { :; }

start_text()
{
	start_ftrace
	spend /out/cat cat $tracing/trace_pipe >/tmp/trace &
}
stop_text() { stop_ftrace; }

start_text_net()
{
	start_ftrace
	spend /out/cat cat $tracing/trace_pipe | spend /out/nc nc $host "$port" &
}
stop_text_net() { stop_ftrace; }

start_gzip()
{
	start_ftrace
	spend /out/cat cat $tracing/trace_pipe | spend /out/gzip gzip -c >/tmp/trace &
}
stop_gzip() { stop_ftrace; }

start_gzip_net()
{
	start_ftrace
	spend /out/cat cat $tracing/trace_pipe | spend /out/gzip gzip -c |
		spend /out/nc nc $host "$port" &
}
stop_gzip_net() { stop_ftrace; }

# --- trace-cmd, by TCP ---

start_trace_cmd()
{
	local options=
	for event in $events; do
		options="$options -e sched:$event"
	done
	# shellcheck disable=SC2086 # they are words
	spend /out/trace-cmd trace-cmd record -t -N $host:"$port" $options >/tmp/trace-cmd.log 2>&1 &
	for _ in $(seq 100); do
		[ "$(cat $tracing/events/sched/sched_switch/enable $tracing/tracing_on | tr -d '\n')" = 11 ] &&
			return
		usleep 100000
	done
	die "trace-cmd does not start: $(tail -n 3 /tmp/trace-cmd.log)"
}

stop_trace_cmd()
{
	count_lost
	kill -INT "$(cat /out/trace-cmd.pid)"
	wait
}

# --- the driver ---

start_kiseki()
{
	insmod /lib/kiseki.ko collector=$host:"$port" name=bench codec="$1" profile=1 \
		events=switch,wakeup,wakeup_new start=1 || die "kiseki.ko cannot be loaded"
	for _ in $(seq 100); do
		grep -q up $driver/link && break
		usleep 100000
	done
	grep -q up $driver/link || die "the driver has no connection: $(cat $driver/link)"
	cat $driver/statistics >/out/statistics.before
}

stop_kiseki()
{
	echo stop >$driver/state
	for _ in $(seq 100); do
		is_acknowledged && break
		usleep 100000
	done
	cat $driver/statistics >/out/statistics
}

is_acknowledged()
{
	eval "$(tr ' ' '\n' <$driver/statistics | grep frames_)"
	# shellcheck disable=SC2154 # the file has them
	[ "$frames_sent" = "$frames_acked" ]
}

start_bsf() { start_kiseki bsf; }
stop_bsf() { stop_kiseki; }
start_sched() { start_kiseki sched; }
stop_sched() { stop_kiseki; }

# --- the kernel's counters ---

# counters NAME: only programs that take the same time however long the board has been running.
counters()
{
	cat /proc/uptime >"/out/uptime.$1"
	cat /proc/stat >"/out/stat.$1"
	cat /proc/interrupts >"/out/interrupts.$1"
	cat /proc/net/dev >"/out/net.$1"
	grep -H . /proc/[0-9]*/comm /proc/[0-9]*/schedstat 2>/dev/null >"/out/tasks.$1"
	grep -H ctxt_switches /proc/[0-9]*/status 2>/dev/null >>"/out/tasks.$1"
}

uptime_ms() { tr -d . </proc/uptime | sed 's/ .*/0/'; }

# Sleeps until so many milliseconds since the board was switched on.
sleep_until()
{
	local left=$(($1 - $(uptime_ms)))
	[ $left -le 0 ] || usleep $((left * 1000))
}

# What a local file holds; the same text, if it was compressed.
measure_file()
{
	[ -f /tmp/trace ] || return
	wc -c </tmp/trace >/out/file.bytes
	case $method in
	gzip*) zcat </tmp/trace | wc -lc >/out/file.text ;;
	*) wc -lc </tmp/trace >/out/file.text ;;
	esac
	rm /tmp/trace
}

rm -rf /out/* /tmp/trace
"start_$method"
sleep 1
counters before
start=$(uptime_ms)
load_frames "$seconds" "$seed" >/out/load || die "the load failed"
counters load
"stop_$method"
uptime_ms >/out/stopped.ms
sleep_until $((start + (seconds + SETTLE_S) * 1000))
counters after
measure_file
[ ! -d $driver ] || rmmod kiseki || die "kiseki.ko cannot be unloaded"
