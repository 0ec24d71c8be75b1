/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main: loading and unloading kiseki_vm.ko. Loaded it does nothing: it waits for somebody to open its device, and
 * cannot be unloaded while that is open.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "device/vm/module/control.h"

static int __init kiseki_vm_init(void)
{
	int error = control_init();

	if (error < 0)
		pr_err("cannot load: /dev/kiseki_vm cannot be made: %pe\n", ERR_PTR(error));
	return error;
}

static void __exit kiseki_vm_exit(void)
{
	control_done();
}

module_init(kiseki_vm_init);
module_exit(kiseki_vm_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Kiseki authors");
MODULE_DESCRIPTION("samples virtual machines from outside");
MODULE_VERSION(KISEKI_VERSION);
