#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples of libkiseki compile as a user would compile them, as C and as C++, and say what `kiseki` says; the library has
# the listed names and no others, and looks to programs as src/library/libkiseki.abi has it. UPDATE=1 writes that file.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
examples=$SRC/docs/examples
failed=0

bad()
{
	echo "$*"
	failed=1
}

mkdir -p usr/include usr/lib
cp -r "$SRC/include/kiseki" usr/include/
cp "$LIBRARY" usr/lib/libkiseki.so.1
ln -s libkiseki.so.1 usr/lib/libkiseki.so
export LD_LIBRARY_PATH=$work/usr/lib
flags=$(PKG_CONFIG_PATH=$BUILD/meson-private pkg-config --define-variable=prefix="$work/usr" \
	--define-variable=libdir="$work/usr/lib" --cflags --libs kiseki)
for name in switches one_cpu; do
	# shellcheck disable=SC2086 # they are words
	cc -Wall -Wextra -Werror "$examples/$name.c" -o "$name" $flags
	# shellcheck disable=SC2086
	c++ -Wall -Wextra -Werror -x c++ "$examples/$name.c" -o "$name++" $flags
	[[ $(ldd "./$name") == *libkiseki.so.1* ]] || bad "$name does not use the library"
done

# The same by another way: the export for scripts.
"$KISEKI" convert "$examples/busy.ksk" -o busy.ndjson
jq -rs '[.[] | select(.kind == "switch")] | group_by(.next_pid) | map([length, .[0].next_pid]) | sort_by([-.[0], .[1]])[] | @tsv' \
	busy.ndjson >want
./switches "$examples/busy.ksk" >got
tail -n +2 got | sed -E 's/^ *([0-9]+)  .*-([0-9]+)$/\1\t\2/' | cmp - want || bad "switches"
"./switches++" "$examples/busy.ksk" | cmp - got || bad "switches in C++"
events=$(jq -r 'select(.ns and .kind != "lost") | .kind' busy.ndjson | wc -l)
grep -q ": $events events, " got || bad "switches: not $events events: $(head -n 1 got)"
if ./switches /nonexistent 2>said; then bad "a file that is not there"; fi
grep -q "^switches: .*nonexistent" said || bad "why it cannot be read: $(cat said)"

./one_cpu "$examples/busy.ksk" 1 cpu1.ksk
"$KISEKI" check cpu1.ksk >/dev/null || bad "what one_cpu wrote"
"$KISEKI" convert "$examples/busy.ksk" --cpu 1 -o want.ndjson
"$KISEKI" convert cpu1.ksk -o got.ndjson
cmp <(jq -c 'select(.ns)' want.ndjson) <(jq -c 'select(.ns)' got.ndjson) || bad "one_cpu"

KISEKI_LIBRARY=$LIBRARY PYTHONPATH=$SRC/src/library/python python3 "$examples/switches.py" "$examples/busy.ksk" | cmp - got ||
	bad "switches in Python"

# No name beside the list.
nm -D --defined-only "$LIBRARY" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort >names
sed -n 's/^\t\(ks_.*\);$/\1/p' "$SRC/src/library/libkiseki.map" | sort | cmp - names || bad "names of the library"

if ! command -v abidw >/dev/null; then
	echo "skipped: how the library looks to programs (abigail-tools is not installed)"
	exit $failed
fi
abi=$SRC/src/library/libkiseki.abi
if [ -n "${UPDATE-}" ]; then
	abidw --exported-interfaces-only --headers-dir "$SRC/include/kiseki" --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs \
		--type-id-style hash "$LIBRARY" >"$abi"
fi
abidiff --exported-interfaces-only --no-architecture --headers-dir2 "$SRC/include/kiseki" --drop-private-types "$abi" "$LIBRARY" ||
	bad "the library looks different to programs; if that is meant, UPDATE=1 and, if it breaks them, a new number"
exit $failed
