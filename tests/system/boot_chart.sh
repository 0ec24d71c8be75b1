#!/bin/bash
# SPDX-License-Identifier: MIT
# Boot charts in Chromium: of boots that nobody recorded, of a script, and, where this machine can be recorded,
# of what it starts now. CHART_FAKE is tests/tools/chart_fake.c; screenshots are kept in SHOTS.
set -u
modules=$SRC/build/browser
export CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser)}
# Leaks are looked for by the unit tests of the charts; here it would cost seconds for each of many programs.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "boot_chart: $*"; failed=1; }

# --- the pictures, without a browser ---
fake() { "$CHART_FAKE" "$work/$1" "${@:2}" || fail "cannot make $1"; }
fake plain.html
fake plain.svg
fake path.html path
fake exact.html exact path
fake hostile.html hostile cut kernel
fake hostile.svg hostile cut kernel path min=8
fake two.html pair
fake two.svg pair
fake large.html more=2000 spans=60
for svg in "$work"/*.svg; do
	xmllint --nonet --noout "$svg" || fail "$svg is not XML"
done

"$BOOT_MAKE" "$SRC/tests/data/boot/small.boot" "$work/small.ksk" || exit 1
chart() { "$KISEKI" boot chart "$@" 2>"$work/said" || fail "boot chart $*: $(cat "$work/said")"; }
chart "$work/small.ksk" -o "$work/script.html" --path
chart "$work/small.ksk" -o "$work/script.svg" --path=getty --min 1ms
chart "$work/small.ksk" -o "$work/script.json"
python3 "$SRC/tests/tools/boot_json_check.py" "$SRC/docs/format/boot.schema.json" "$work/script.json" ||
	fail "the JSON is not as docs/format/boot.schema.json has it"
chart "$work/small.ksk" -o "$work/script.svg"
"$KISEKI" boot chart "$work/small.ksk" -o - --path | cmp -s - "$work/script.html" || fail "standard output has another page"
for bad in "-o $work/x.png" "" "-o $work/x.svg --width 0" "-o $work/x.svg --from 99999" "-o $work/x.svg --path=nobody" \
	"-o - --open" "-o $work/x.svg --min x"; do
	# shellcheck disable=SC2086
	"$KISEKI" boot chart "$work/small.ksk" $bad >"$work/said" 2>&1 && fail "boot chart $bad is taken"
	[ "$(wc -l <"$work/said")" = 1 ] || fail "boot chart $bad says more than a line"
	[ ! -e "$work/x.svg" ] || fail "boot chart $bad leaves a file"
done

# A real board's boot, with the scheduler's events.
chart "$SRC/docs/examples/boot.ksk" -o "$work/board.html" --path
chart "$SRC/docs/examples/boot.ksk" -o "$work/board.svg" --path

# The types of the page's script.
if [ -x "$modules/node_modules/.bin/tsc" ]; then
	"$modules/node_modules/.bin/tsc" -p "$SRC/src/chart/page" || fail "the types of the page's script do not fit"
else
	echo "boot_chart: no TypeScript here: types are not checked"
fi

# What this machine starts now.
if [ "$(id -u)" = 0 ] && [ -n "${RECORDER:-}" ]; then
	if KISEKI_BOOT=$RECORDER timeout 300 "$KISEKI" boot record -o "$work/now.ksk" -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; sleep 0.2' >"$work/said" 2>&1; then
		chart "$work/now.ksk" -o "$work/recorded.html" --path
		chart "$work/now.ksk" -o "$work/recorded.svg"
		[ "$(grep -o '"comm":"true"' "$work/recorded.html" | wc -l)" -ge 10 ] ||
			fail "some of ten short processes are not in the chart"
	else
		echo "boot_chart: this machine cannot be recorded: $(tail -n 1 "$work/said")"
	fi
fi

# --- and with one ---
[ $failed = 0 ] || exit 1
if [ -z "$CHROMIUM" ] || ! command -v node >/dev/null || [ ! -d "$modules/node_modules/playwright-core" ]; then
	echo "skipped: no Chromium, node or playwright-core; tools/setup test installs them"
	exit 77
fi
mkdir -p "$SHOTS"
timeout 300 node "$SRC/tests/browser/chart.mjs" "$modules" "$work" "$SHOTS" || exit 1
