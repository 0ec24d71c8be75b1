#!/bin/bash
# SPDX-License-Identifier: MIT
# The documentation site of this tree, with the manual pages of BUILD: it can be made, is whole, and works in a browser as files, without a
# script too; and its check finds what is wrong with one.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in cmark-gfm mandoc tidy; do
	command -v $program >/dev/null || {
		echo "skipped: $program is not installed (tools/setup site)"
		exit 77
	}
done
fail() { echo "site: $*"; exit 1; }

"$SRC/tools/site/build" --programs "$BUILD" --output "$work/site"
"$SRC/tools/site/check" "$work/site"
for page in index.html README.ja.html docs/tour.html docs/guide/first-board.html docs/guide/embedded-board.html docs/guide/latency.html docs/guide/boot-time.html \
	docs/guide/function-trace.html docs/guide/vm-host.html docs/guide/fleet.html docs/format/wire.html docs/api/reference.html docs/design/layers.html \
	docs/troubleshooting.html docs/man/kiseki.1.html docs/man/kiseki-agent.1.html; do
	[ -s "$work/site/$page" ] || fail "$page is not there"
done
grep -q 'id="get-apiv1devices"' "$work/site/docs/api/reference.html" || fail "the reference has no devices"

# Each of these is one fault, and each must be found.
breaks()
{
	cp -r "$work/site" "$work/broken"
	(cd "$work/broken" && bash -c "$2")
	if "$SRC/tools/site/check" "$work/broken" >"$work/said"; then fail "the check has not seen $1"; fi
	grep -q "$3" "$work/said" || fail "of $1 the check says: $(tail -n 3 "$work/said")"
	rm -rf "$work/broken"
}
breaks "a page that is gone" "rm docs/web.html" "docs/web.html: no such file"
breaks "an anchor that is gone" "sed -i 's/id=\"the-timeline\"/id=\"other\"/' docs/web.html" "web.html#the-timeline: no such anchor"
breaks "a picture from elsewhere" "sed -i 's|<main id=\"text\">|&<img alt=\"\" src=\"https://example.org/x.png\">|' docs/web.html" "fetches https"
breaks "HTML that is wrong" "sed -i 's|<main id=\"text\">|&<nosuch>x</nosuch></i>|' docs/web.html" "docs/web.html: line"

export CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser)}
modules=$SRC/build/browser
if [ -z "$CHROMIUM" ] || [ ! -d "$modules/node_modules/playwright-core" ]; then
	echo "skipped: no Chromium or playwright-core; the pages were not looked at in a browser"
	exit 0
fi
mkdir "$work/shots"
node "$SRC/tests/browser/site.mjs" "$modules" "file://$work/site/" "$work/shots"
