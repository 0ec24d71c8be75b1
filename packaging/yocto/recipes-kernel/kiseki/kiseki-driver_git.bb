SUMMARY = "Kiseki: compressed scheduler traces over the network, from the kernel"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://LICENSES/GPL-2.0-only.txt;md5=b234ee4d69f5fce4486a80fdaf4a4263"

# Where the source is: a git address with its protocol and branch, set in local.conf, such as
#   KISEKI_SOURCE = "git:///home/me/kiseki;protocol=file;branch=main"
KISEKI_SOURCE ?= ""
KISEKI_REVISION ?= "${AUTOREV}"

inherit module

PV = "0.1.0+git${SRCPV}"
SRC_URI = "${KISEKI_SOURCE};destsuffix=kiseki"
SRCREV = "${KISEKI_REVISION}"
# Releases before styhead unpack into WORKDIR, and the latest ones accept nothing below it.
S = "${@d.getVar('UNPACKDIR') or d.getVar('WORKDIR')}/kiseki"
B = "${WORKDIR}/driver"

python () {
    if not d.getVar("KISEKI_SOURCE"):
        raise bb.parse.SkipRecipe("KISEKI_SOURCE does not say where the source is")
}

# The one step beside a module's usual ones: Kbuild wants the sources in a folder of their own.
do_configure() {
    ${S}/tools/driver-source ${B}
}

EXTRA_OEMAKE += "KDIR=${STAGING_KERNEL_DIR}"
MODULES_MODULE_SYMVERS_LOCATION = "."
RPROVIDES:${PN} += "kernel-module-kiseki"
