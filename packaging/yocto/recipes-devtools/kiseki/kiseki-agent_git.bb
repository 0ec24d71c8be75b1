SUMMARY = "Kiseki: records what a device does and sends it to a collector"
DESCRIPTION = "kiseki-agent traces the scheduler, kiseki-boot how the machine starts; kiseki-guest is for virtual machines whose host samples them."
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://LICENSES/MIT.txt;md5=2cafda9466537ba61ef02910ce36ed2c"

require recipes-devtools/kiseki/kiseki-source.inc

inherit meson pkgconfig systemd

PACKAGECONFIG ??= ""
# Recording through BPF; clang and bpftool have to be on the machine that builds.
PACKAGECONFIG[bpf] = "-Dbpf=enabled,-Dbpf=disabled,libbpf clang-native bpftool-native"
# Keys and TLS; the library is loaded when it is needed.
PACKAGECONFIG[tls] = "-Dtls=enabled,-Dtls=disabled,gnutls,gnutls"
EXTRA_OEMESON += "-Dcollector=false -Dtests=false -Dwerror=false"

PACKAGES =+ "kiseki-boot kiseki-guest libkiseki-func"
SYSTEMD_PACKAGES = "${PN} kiseki-boot kiseki-guest"
SYSTEMD_SERVICE:${PN} = "kiseki-agent.service kiseki-profile.service"
SYSTEMD_SERVICE:kiseki-boot = "kiseki-boot.service"
SYSTEMD_SERVICE:kiseki-guest = "kiseki-guest.service"
# They record by themselves: an image that wants that says so.
SYSTEMD_AUTO_ENABLE:kiseki-boot = "disable"

do_install:append() {
    # An image is no Debian.
    rm -rf ${D}${datadir}/initramfs-tools
}

FILES:kiseki-boot = "${bindir}/kiseki-boot ${sysconfdir}/kiseki/boot.conf"
FILES:kiseki-guest = "${bindir}/kiseki-guest"
FILES:libkiseki-func = "${libdir}/libkiseki-func.so.*"
CONFFILES:${PN} = "${sysconfdir}/kiseki/agent.conf ${sysconfdir}/kiseki/profile.conf"
CONFFILES:kiseki-boot = "${sysconfdir}/kiseki/boot.conf"
