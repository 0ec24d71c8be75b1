#!/bin/bash
# SPDX-License-Identifier: MIT
# `kiseki-agent vm` on a machine that has nothing to record virtual machines with: one line that says why, of whichever source was
# asked for, and a file that was there stays as it is.
set -u
[ ! -e /dev/kiseki_vm ] || { echo "skipped: this machine has the module"; exit 77; }
[ ! -e /dev/kvm ] || { echo "skipped: this machine has KVM"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# refused STATUS WORDS OPTION...
refused()
{
	local status=$1 words=$2
	shift 2
	echo kept >vm.ksk
	"$AGENT" vm -t 1s "$@" >out 2>err
	local got=$?
	if [ $got -ne "$status" ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -q "$words" err || [ -s out ]; then
		echo "FAILED: kiseki-agent vm $*: status $got, says: $(cat out err)"
		failed=1
	fi
	[ "$(cat vm.ksk)" = kept ] || { echo "FAILED: kiseki-agent vm $* has changed the file"; failed=1; }
}

refused 1 'the module kiseki_vm is not loaded on this machine; cannot .* BPF\|; cannot read the kernel.s types'
refused 1 'cannot open /dev/kiseki_vm: the module kiseki_vm is not loaded on this machine' --source module
refused 1 'cannot record by BPF: \|cannot read the kernel.s types' --source bpf
refused 2 'cannot use --source perf: module or bpf is possible' --source perf
exit $failed
