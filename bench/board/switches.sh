#!/bin/busybox sh
# SPDX-License-Identifier: MIT
#
# switches.sh: on the board, the same switches again and again, with one tracer.
#
#	switches.sh TRACER TRIPS ROUNDS
#
# TRACER is off, ftrace, sched or bsf; only sched_switch is traced, and nobody reads: ftrace overwrites
# its oldest pages, the driver, as a flight recorder without a collector, drops its oldest segments.
# Prints what load_switches prints.
tracer=$1 trips=$2 rounds=$3
tracing=/sys/kernel/tracing
switch=$tracing/events/sched/sched_switch/enable

case $tracer in
ftrace)
	echo 1 >$switch
	echo 1 >$tracing/tracing_on
	;;
sched | bsf)
	insmod /lib/kiseki.ko codec="$tracer" events=switch policy=flight-recorder start=1 || exit 1
	;;
esac
load_switches "$trips" "$rounds"
case $tracer in
ftrace)
	echo 0 >$switch
	;;
sched | bsf)
	cat /sys/kernel/kiseki/statistics >&2
	rmmod kiseki || exit 1
	;;
esac
