/* SPDX-License-Identifier: GPL-2.0-only */
/* identity: see identity.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "device/driver/identity.h"

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <net/net_namespace.h>

/* What the hash is made of. */
struct maker {
	u8 address[ETH_ALEN];
	char name[SETTINGS_TEXT_LEN];
};

void identity_init(struct identity *i, const struct settings *s)
{
	if (s->given & 1U << SETTING_BOOT)
		i->boot = s->boot;
	else
		get_random_bytes(i->boot.bytes, sizeof(i->boot.bytes));
	i->is_device_known = s->given & 1U << SETTING_ID;
	i->device = s->id;
	identity_set_name(i, s->name);
}

void identity_set_name(struct identity *i, const char *name)
{
	i->is_name_given = name[0];
	if (i->is_name_given)
		strscpy(i->name, name, sizeof(i->name));
	identity_refresh(i);
}

void identity_refresh(struct identity *i)
{
	if (i->is_name_given)
		return;
	strscpy(i->name, init_utsname()->nodename, sizeof(i->name));
	i->name[strcspn(i->name, ".")] = 0;
	if (!settings_is_name(i->name)) /* it is "(none)" until somebody sets it */
		strscpy(i->name, "device", sizeof(i->name));
}

/* Some drivers learn the address only after the device is registered: then nobody has noted it as
 * permanent, but nobody has changed it either. */
static const u8 *address_of(const struct net_device *dev)
{
	if (dev->type != ARPHRD_ETHER || dev->addr_len != ETH_ALEN)
		return NULL;
	if (is_valid_ether_addr(dev->perm_addr))
		return dev->perm_addr;
	return dev->addr_assign_type == NET_ADDR_PERM && is_valid_ether_addr(dev->dev_addr)
		       ? dev->dev_addr
		       : NULL;
}

static bool find_address(u8 ret[ETH_ALEN])
{
	struct net_device *dev;
	const u8 *address;
	int first = 0;

	rcu_read_lock();
	for_each_netdev_rcu(&init_net, dev)
	{
		address = address_of(dev);
		if (!address || (first && first < dev->ifindex))
			continue;
		first = dev->ifindex;
		memcpy(ret, address, ETH_ALEN);
	}
	rcu_read_unlock();
	return first;
}

const struct message_id *identity_get_device(struct identity *i)
{
	static const siphash_key_t keys[2] = { { { 0x6b697365, 1 } }, { { 0x6b697365, 2 } } };
	struct maker m = { { 0 } };
	int k;

	if (i->is_device_known)
		return &i->device;
	i->is_device_known = true;
	if (!find_address(m.address)) {
		get_random_bytes(i->device.bytes, sizeof(i->device.bytes));
		pr_notice("no Ethernet device to tell this machine by: give id= to keep its "
			  "identity\n");
		return &i->device;
	}
	strscpy(m.name, i->name, sizeof(m.name));
	for (k = 0; k < 2; k++)
		put_le64(i->device.bytes + 8 * k, siphash(&m, sizeof(m), &keys[k]));
	return &i->device;
}
