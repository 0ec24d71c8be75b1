#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record.sh: makes the traces that the benchmarks use when none are given.
#
#	record.sh [LOAD…]	all of: build message web idle
#
# Each load runs for some seconds under `record`, which writes build/bench/traces/LOAD.dat. The
# programs are those that meson made in $BUILD (default: build beside this folder). All that a load
# starts is ended with it, and its files live in a temporary folder. Needs root, for tracefs.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
src=$(dirname "$here")
build=${BUILD:-$src/build}

say() { echo "record.sh: $*" >&2; }

# A parallel compile of our own sources, again and again.
load_build() {
	local objects=$1
	cd "$src"
	# shellcheck disable=SC2016 # the inner shell expands it
	while true; do
		find src bench -name '*.c' -print0 | xargs -0 -P 4 -I{} sh -c \
			'${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -Isrc -c "$1" -o "$2/$$.o" 2>/dev/null
			rm -f "$2/$$.o"' compile {} "$objects"
	done
}

load_message() {
	exec "$build/bench/load_message" 4
}

# nginx keeps everything it would put under / in the folder; 127.0.0.1 only.
write_nginx_conf() {
	local dir=$1 port=$2
	cat >"$dir/nginx.conf" <<-END
	user root;
	daemon off;
	worker_processes 2;
	pid $dir/nginx.pid;
	error_log $dir/error.log;
	events { worker_connections 512; }
	http {
		access_log $dir/access.log;
		client_body_temp_path $dir/body;
		proxy_temp_path $dir/proxy;
		fastcgi_temp_path $dir/fastcgi;
		uwsgi_temp_path $dir/uwsgi;
		scgi_temp_path $dir/scgi;
		server {
			listen 127.0.0.1:$port;
			location / { root $dir/www; }
		}
	}
	END
}

# Starts nginx on a free port of 127.0.0.1; sets $port.
start_nginx() {
	local dir=$1 nginx_pid
	for _ in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 20000))
		write_nginx_conf "$dir" "$port"
		nginx -p "$dir" -c "$dir/nginx.conf" 2>"$dir/nginx.err" &
		nginx_pid=$!
		sleep 0.2
		kill -0 "$nginx_pid" 2>/dev/null && return
	done
	say "nginx does not start: $(head -1 "$dir/nginx.err")"
	return 1
}

# Short processes without end, four at a time.
short_processes() {
	while true; do
		for _ in 1 2 3 4; do
			sh -c 'grep -c cpu /proc/stat; cat /proc/self/stat | wc -c; sleep 0.01' \
				>"$1/short.out" &
		done
		wait
	done
}

# A web server under load, beside a stream of short processes.
load_web() {
	local dir=$1 port
	mkdir -p "$dir/www"
	head -c 6000 /dev/urandom | base64 >"$dir/www/index.html"
	start_nginx "$dir"
	short_processes "$dir" &
	exec wrk -t 2 -c 40 -d 600 "http://127.0.0.1:$port/index.html" >"$dir/wrk.out"
}

load_idle() {
	exec sleep 10
}

record_load() {
	local load=$1 seconds=5 temp status=0
	[ "$load" = idle ] && seconds=10
	temp=$(mktemp -d)
	say "$load, $seconds s"
	"$build/bench/record" -t "$seconds" "$traces/$load.dat" bash "$0" --load "$load" "$temp" ||
		status=$?
	rm -rf "$temp"
	return $status
}

if [ "${1:-}" = --load ]; then
	"load_$2" "$3"
	exit
fi
loads=("$@")
[ $# -gt 0 ] || loads=(build message web idle)
for load in "${loads[@]}"; do
	case $load in
	build | message | idle) ;;
	web) command -v nginx wrk >/dev/null || { say "web needs nginx and wrk"; exit 1; } ;;
	*) say "no load '$load': build message web idle"; exit 2 ;;
	esac
done
if [ ! -x "$build/bench/record" ]; then
	say "no $build/bench/record: build first"
	exit 1
fi
traces=${TRACES_DIR:-$build/bench/traces}
mkdir -p "$traces"
for load in "${loads[@]}"; do
	record_load "$load"
done
