#!/bin/bash
# SPDX-License-Identifier: MIT
# Bootcharts with pybootchartgui as the judge: it draws what was exported, and has left out as many processes as it does of
# the archive that this was made from. Debian no longer has a package of it; any that is in PATH will do.
set -eu
command -v pybootchartgui >/dev/null || { echo "skipped: pybootchartgui is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }

for name in android busybox bootchart2; do
	"$KISEKI" boot export "$SRC/tests/corpus/bootchart/$name.tgz" -o $name.ksk
	"$KISEKI" boot export $name.ksk -o $name.tgz
	pybootchartgui -f svg -o $name.svg $name.tgz >out 2>&1 || fail "$name: $(cat out)"
	grep -q '<svg' $name.svg || fail "nothing is drawn of $name"
done
# Both without what says who forked whom: its Python 3 cannot read kernel_pacct, which the original has.
for form in before after; do
	mkdir $form
done
tar -xzf "$SRC/tests/corpus/bootchart/busybox.tgz" -C before --exclude kernel_pacct
tar -xzf busybox.tgz -C after --exclude paternity.log
for form in before after; do
	pybootchartgui -f svg -o $form.svg $form >out 2>&1 || fail "$form: $(cat out)"
	grep pruned out >$form.pruned || fail "$form: it does not say what it left out"
done
diff before.pruned after.pruned || fail "it sees other processes than before"
