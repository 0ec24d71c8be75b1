#!/bin/bash
# SPDX-License-Identifier: MIT
# systemd understands every line of the units.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for script in hooks scripts/init-top; do
	sh -n "$SRC/packaging/initramfs-tools/$script/kiseki-boot"
done
command -v systemd-analyze >/dev/null || {
	echo "skipped: systemd-analyze is not installed"
	exit 77
}
# The programs and their manual pages are not installed here.
for unit in kiseki-agent kiseki-profile kiseki-boot kiseki-guest kiseki-collector; do
	sed 's|@sysconfdir@|/etc|; s|^ExecStart=.*|ExecStart=/bin/true|; /^Documentation=/d' \
		"$SRC/packaging/$unit.service.in" >"$work/$unit.service"
	SYSTEMD_LOG_LEVEL=info systemd-analyze verify "$work/$unit.service" 2>&1 | tee "$work/said"
	if grep -q "$unit" "$work/said"; then exit 1; fi
done
