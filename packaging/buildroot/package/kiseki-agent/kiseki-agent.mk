################################################################################
#
# kiseki-agent
#
################################################################################

# The tree that this file is in; KISEKI_AGENT_OVERRIDE_SRCDIR in local.mk names another.
KISEKI_AGENT_VERSION = 0.1.0
KISEKI_AGENT_SITE = $(BR2_EXTERNAL_KISEKI_PATH)/../..
KISEKI_AGENT_SITE_METHOD = local
KISEKI_AGENT_LICENSE = MIT
KISEKI_AGENT_LICENSE_FILES = LICENSES/MIT.txt
KISEKI_AGENT_CONF_OPTS = -Dcollector=false -Dtests=false -Dbpf=disabled -Dwerror=false
KISEKI_AGENT_MESON_EXTRA_BINARIES = objcopy='$(TARGET_OBJCOPY)'

# Keys and TLS, where the image has GnuTLS; it is loaded when it is needed.
ifeq ($(BR2_PACKAGE_GNUTLS),y)
KISEKI_AGENT_CONF_OPTS += -Dtls=enabled
KISEKI_AGENT_DEPENDENCIES += gnutls
else
KISEKI_AGENT_CONF_OPTS += -Dtls=disabled
endif

# All programs of a device are built together; those that nobody asked for go again.
define KISEKI_AGENT_DROP_BOOT
	$(RM) $(TARGET_DIR)/usr/bin/kiseki-boot
	$(RM) $(TARGET_DIR)/usr/lib/systemd/system/kiseki-boot.service
	$(RM) $(TARGET_DIR)/etc/kiseki/boot.conf
endef
define KISEKI_AGENT_DROP_GUEST
	$(RM) $(TARGET_DIR)/usr/bin/kiseki-guest
	$(RM) $(TARGET_DIR)/usr/lib/systemd/system/kiseki-guest.service
endef
define KISEKI_AGENT_DROP_FUNC
	$(RM) $(TARGET_DIR)/usr/lib/libkiseki-func.*
endef
# An image is no Debian.
define KISEKI_AGENT_DROP_INITRAMFS
	$(RM) -r $(TARGET_DIR)/usr/share/initramfs-tools
endef
KISEKI_AGENT_POST_INSTALL_TARGET_HOOKS += \
	$(if $(BR2_PACKAGE_KISEKI_AGENT_BOOT),,KISEKI_AGENT_DROP_BOOT) \
	$(if $(BR2_PACKAGE_KISEKI_AGENT_GUEST),,KISEKI_AGENT_DROP_GUEST) \
	$(if $(BR2_PACKAGE_KISEKI_AGENT_FUNC),,KISEKI_AGENT_DROP_FUNC) \
	KISEKI_AGENT_DROP_INITRAMFS

define KISEKI_AGENT_INSTALL_INIT_SYSV
	$(INSTALL) -D -m 0755 $(KISEKI_AGENT_PKGDIR)/S90kiseki-agent $(TARGET_DIR)/etc/init.d/S90kiseki-agent
endef

$(eval $(meson-package))
