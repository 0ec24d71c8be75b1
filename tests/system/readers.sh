#!/bin/bash
# SPDX-License-Identifier: MIT
# The readers that exports are for: pprof reads our files of calls, of profiles and of virtual machines, speedscope loads them in a
# real browser, and the Firefox Profiler by its own program; what they show is what is in the files, which other tests hold against
# the reports.
set -u
modules=$SRC/build/browser
export CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser)}
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail()
{
	echo "FAILED: $*"
	failed=1
}

cd "$work" || exit 1
"$SAMPLE_MAKE" "$SRC/tests/golden/vm/two.sample" vm.ksk || exit 1
"$SAMPLE_MAKE" "$SRC/tests/golden/profile/before.profile" profile.ksk || exit 1
for ending in pb.gz speedscope.json; do
	"$KISEKI" vm export vm.ksk -o "vm.$ending" || fail "vm export as $ending"
	"$KISEKI" profile export profile.ksk -o "profile.$ending" 2>err || fail "profile export as $ending: $(cat err)"
	"$KISEKI_SCRIPT" func export "$SRC/tests/golden/func/small/trace.script" -o "func.$ending" || fail "func export as $ending"
done

# A Go that is installed has it; PPROF names another.
if [ -n "${PPROF-}" ] || command -v go >/dev/null; then
	for name in vm profile func; do
		# shellcheck disable=SC2086 # a command and its arguments
		python3 "$SRC/tests/tools/pprof_check.py" "$name.pb.gz" ${PPROF:-go tool pprof} || fail "pprof of $name"
	done
else
	echo "skipped: pprof is not installed, its files were decoded by others alone"
fi

for name in vm profile; do
	if ! command -v node >/dev/null || [ ! -d "$modules/node_modules/@firefox-devtools/profiler-cli" ]; then
		echo "skipped: the program of the Firefox Profiler is not installed, it was not asked"
		break
	fi
	"$KISEKI" "$name" export $name.ksk -o $name.firefox.json 2>err || fail "$name export for Firefox: $(cat err)"
	python3 "$SRC/tests/tools/firefox_check.py" "$modules" $name.firefox.json || fail "the Firefox Profiler of $name"
done

if [ -z "$CHROMIUM" ] || ! command -v node >/dev/null || [ ! -d "$modules/node_modules/speedscope" ]; then
	echo "skipped: the browser or speedscope is not installed, speedscope was not asked"
	exit $failed
fi
if timeout 300 node "$SRC/tests/browser/speedscope.mjs" "$modules" "$work" {vm,profile,func}.speedscope.json >shown; then
	python3 "$SRC/tests/tools/speedscope_check.py" shown {vm,profile,func}.speedscope.json || fail "what speedscope shows"
else
	fail "speedscope"
fi
exit $failed
