#!/bin/bash
# SPDX-License-Identifier: MIT
# What a device can trace with is looked at again with each connection: one whose tracefs came after
# the agent says so to the next collector. The agent has a mount namespace of its own, in which tracefs
# is hidden and then shown.
set -u
if [ "$(id -u)" -ne 0 ] || [ ! -d /sys/kernel/tracing/instances ] || ! unshare -m true; then
	echo "skipped: needs root, tracefs and mount namespaces"
	exit 77
fi
work=$(mktemp -d) || exit 1
agent=
collector=
stop()
{
	[ -z "$1" ] || { kill "$1" && wait "$1"; } 2>/dev/null
}
trap 'stop "$agent"; stop "$collector"; rm -rf "$work"' EXIT
cd "$work" || exit 1

fail()
{
	echo "$*"
	cat serve.err agent.err
	exit 1
}

until_true()
{
	local left=1200 # two minutes
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.1
	done
}

# serve DEVICES HTTP: on these ports; 0 is any, and then they are in $devices and $http.
serve()
{
	: >serve.out
	"$KISEKI" serve --config /dev/null --listen "127.0.0.1:$1" --http "127.0.0.1:$2" --data data \
		>serve.out 2>>serve.err &
	collector=$!
	until_true grep -qx ready serve.out || fail "the collector does not start"
	devices=$(sed -n 's/^devices .*://p' serve.out)
	http=$(sed -n 's|^web .*:\([0-9]*\)/$|\1|p' serve.out)
}

has_sources()
{
	"$KISEKI" devices --json --server "http://127.0.0.1:$http" |
		jq -e ".devices[0] | .online and (.sources | contains([\"tracefs\"])) == $1"
}

serve 0 0
# shellcheck disable=SC2016 # the words are the inner shell's
unshare -m --propagation private sh -c '
	mount -t tmpfs none /sys/kernel/tracing
	[ ! -d /sys/kernel/debug/tracing ] || mount -t tmpfs none /sys/kernel/debug
	exec "$@"' sh "$AGENT" --config /dev/null --func-socket none --collector "127.0.0.1:$devices" --name "origins-$$" \
	--state-dir "$work/state" --spool-file "$work/spool" --nice 0 2>agent.err &
agent=$!
until_true has_sources false || fail "an agent without tracefs: $("$KISEKI" devices --json \
	--server "http://127.0.0.1:$http" | jq -c '.devices[0].sources')"
nsenter -m -t $agent umount /sys/kernel/tracing || fail "cannot show tracefs again"
stop $collector
collector=
serve "$devices" "$http"
until_true has_sources true || fail "tracefs that came later is not told: $("$KISEKI" devices --json \
	--server "http://127.0.0.1:$http" | jq -c '.devices[0].sources')"
