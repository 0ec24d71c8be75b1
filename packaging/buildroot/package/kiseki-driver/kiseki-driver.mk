################################################################################
#
# kiseki-driver
#
################################################################################

# The tree that this file is in; KISEKI_DRIVER_OVERRIDE_SRCDIR in local.mk names another.
KISEKI_DRIVER_VERSION = 0.1.0
KISEKI_DRIVER_SITE = $(BR2_EXTERNAL_KISEKI_PATH)/../..
KISEKI_DRIVER_SITE_METHOD = local
KISEKI_DRIVER_LICENSE = GPL-2.0-only
KISEKI_DRIVER_LICENSE_FILES = LICENSES/GPL-2.0-only.txt
KISEKI_DRIVER_MODULE_SUBDIRS = build/driver

define KISEKI_DRIVER_LINUX_CONFIG_FIXUPS
	$(call KCONFIG_ENABLE_OPT,CONFIG_FTRACE)
	$(call KCONFIG_ENABLE_OPT,CONFIG_ENABLE_DEFAULT_TRACERS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_INET)
endef

# Kbuild wants the sources in a folder of their own.
define KISEKI_DRIVER_PUT_TOGETHER
	$(@D)/tools/driver-source $(@D)/build/driver
endef
KISEKI_DRIVER_POST_CONFIGURE_HOOKS += KISEKI_DRIVER_PUT_TOGETHER

$(eval $(kernel-module))
$(eval $(generic-package))
