/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main: loading and unloading kiseki.ko.
 *
 * All parameters are texts that core/settings.h understands, so each has one parser and one kind of
 * message, wherever it is written. What is wrong is said in one line, the load fails, and nothing stays
 * behind. Built into a kernel, the same words stand on its command line: kiseki.collector=… .
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "device/driver/control_files.h"
#include "device/driver/exporter.h"

struct driver {
	struct counter counter;
	struct compressor *compressor;
	struct settings settings;
	struct exporter exporter;
};

static struct driver *driver;
static char *values[SETTINGS];

#define PARAMETER(name, key, text)                                                                 \
	module_param_named(name, values[key], charp, 0400);                                        \
	MODULE_PARM_DESC(name, text)

PARAMETER(collector, SETTING_COLLECTOR, "ADDRESS:PORT to connect to; none: wait for a socket");
PARAMETER(name, SETTING_NAME, "of this device; else the host's");
PARAMETER(id, SETTING_ID, "of this device, 32 hex digits; else made of name and Ethernet address");
PARAMETER(boot, SETTING_BOOT,
	  "which boot this is, as /proc/sys/kernel/random/boot_id; else random");
PARAMETER(start, SETTING_START, "1: trace at once");
PARAMETER(mem, SETTING_MEM, "KiB for each CPU, 256");
PARAMETER(events, SETTING_EVENTS, "all, or a list as switch,waking");
PARAMETER(policy, SETTING_POLICY, "of a full buffer: keep-oldest or flight-recorder");
PARAMETER(codec, SETTING_CODEC, "sched or bsf");
PARAMETER(flush_ms, SETTING_FLUSH, "the longest that an event waits, 100");
PARAMETER(block, SETTING_BLOCK, "bytes at which a block ends, 4096");
PARAMETER(pids, SETTING_PIDS, "only events of these tasks");
PARAMETER(comms, SETTING_COMMS, "only of tasks with these names; * at the end is any rest");
PARAMETER(cgroups, SETTING_CGROUPS, "only of tasks in these cgroups");
PARAMETER(profile, SETTING_PROFILE, "1: measure the time that the probes take");

static int take_parameters(struct settings *s)
{
	char why[SETTINGS_WHY_LEN];
	u32 i;

	settings_init(s);
	for (i = 0; i < SETTINGS; i++) {
		if (!values[i] || settings_set(s, settings_key(i), values[i], why))
			continue;
		pr_err("cannot load: %s\n", why);
		return -EINVAL;
	}
	return 0;
}

static void wake_exporter(void *context)
{
	exporter_signal(context, SIGNAL_HALF);
}

static int make_compressor(struct driver *d)
{
	struct compressor_options o = { .memory = d->settings.mem_kib * 1024,
					.wake = wake_exporter,
					.context = &d->exporter,
					.counter = &d->counter };
	int r;

	r = counter_init(&d->counter);
	if (r < 0) {
		pr_err("cannot load: this machine has no clock to trace by: %pe\n", ERR_PTR(r));
		return r;
	}
	/* Asked for first: what is too much should not cost other programs their lives. */
	if ((u64)d->settings.mem_kib * num_possible_cpus() > (u64)si_mem_available()
								     << (PAGE_SHIFT - 10))
		r = -ENOMEM;
	else
		r = compressor_new(&d->compressor, &o);
	if (r == -EINVAL)
		pr_err("cannot load: mem=%u KiB is too little for a CPU\n", d->settings.mem_kib);
	else if (r == -ENOENT)
		pr_err("cannot load: this kernel has no tracepoint sched_switch\n");
	else if (r < 0)
		pr_err("cannot load: no memory for %u KiB for each of %u CPUs: %pe\n",
		       d->settings.mem_kib, num_possible_cpus(), ERR_PTR(r));
	return r;
}

static void free_driver(struct driver *d)
{
	exporter_stop(&d->exporter);
	control_files_done();
	compressor_free(d->compressor);
	exporter_done(&d->exporter);
	kvfree(d);
}

static int make_exporter(struct driver *d)
{
	int r = exporter_init(&d->exporter, d->compressor, &d->counter, &d->settings);

	if (r == -EINVAL)
		pr_err("cannot load: collector is ADDRESS:PORT, as 10.0.2.2:7077 or "
		       "[fe80::1%%eth0]:7077, not '%s'\n",
		       d->settings.collector);
	else if (r < 0)
		pr_err("cannot load: no memory or no thread for the exporter: %pe\n", ERR_PTR(r));
	if (r < 0)
		return r;
	r = control_files_init(&d->exporter);
	if (r < 0)
		pr_err("cannot load: /sys/kernel/kiseki cannot be made: %pe\n", ERR_PTR(r));
	return r;
}

static int __init kiseki_init(void)
{
	struct driver *d = kvzalloc(sizeof(*d), GFP_KERNEL);
	int r;

	if (!d) {
		pr_err("cannot load: no memory\n");
		return -ENOMEM;
	}
	r = take_parameters(&d->settings);
	if (r >= 0)
		r = make_compressor(d);
	if (r >= 0)
		r = make_exporter(d);
	if (r < 0) {
		free_driver(d);
		return r;
	}
	driver = d;
	exporter_start(&d->exporter, d->settings.start);
	return 0;
}

static void __exit kiseki_exit(void)
{
	free_driver(driver);
}

module_init(kiseki_init);
module_exit(kiseki_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The Kiseki authors");
MODULE_DESCRIPTION("records scheduler events, compresses and sends them");
MODULE_VERSION(KISEKI_VERSION);
