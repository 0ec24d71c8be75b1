SUMMARY = "Kiseki: compressed scheduler traces over the network, from the kernel"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://LICENSES/GPL-2.0-only.txt;md5=b234ee4d69f5fce4486a80fdaf4a4263"

require recipes-devtools/kiseki/kiseki-source.inc

inherit module

B = "${WORKDIR}/driver"

# The one step beside a module's usual ones: Kbuild wants the sources in a folder of their own.
do_configure() {
    ${S}/tools/driver-source ${B}
}

EXTRA_OEMAKE += "KDIR=${STAGING_KERNEL_DIR}"
MODULES_MODULE_SYMVERS_LOCATION = "."
RPROVIDES:${PN} += "kernel-module-kiseki"
