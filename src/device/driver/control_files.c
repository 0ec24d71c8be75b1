/* SPDX-License-Identifier: GPL-2.0-only */
/* control_files: see control_files.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "device/driver/control_files.h"

#include <linux/kobject.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "device/driver/exporter.h"

static struct exporter *shown;
static struct kobject *folder;

/* What was written, as text without the newline; NULL: it is too long. */
static char *get_line(char *room, size_t size, const char *buf, size_t count)
{
	if (count >= size)
		return NULL;
	memcpy(room, buf, count);
	room[count] = 0;
	return strim(room);
}

/* --- state --- */

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	static const char *const words[] = { "idle", "tracing", "failed" };
	ssize_t n;

	mutex_lock(&shown->lock);
	n = sysfs_emit(buf, "%s\n", words[controller_state(&shown->controller)]);
	mutex_unlock(&shown->lock);
	return n;
}

/* A write has only a number; the reason is in `failure`, or else in the log. */
static int instruct(u8 verb, struct controller *c)
{
	char why[SESSION_WHY_LEN] = "";
	int r;

	if (shown->is_ending)
		return -ECANCELED;
	r = controller_instruct(c, verb, div_u64(ktime_get_ns(), NSEC_PER_MSEC), why);
	if (r < 0 && controller_state(c) != DEVICE_FAILED)
		pr_notice_ratelimited("%s\n", why);
	return r;
}

static ssize_t state_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			   size_t count)
{
	char room[16], *word = get_line(room, sizeof(room), buf, count);
	struct controller *c = &shown->controller;
	u8 verb;
	int r;

	if (word && !strcmp(word, "start"))
		verb = INSTRUCTION_START;
	else if (word && !strcmp(word, "stop"))
		verb = INSTRUCTION_STOP;
	else
		return -EINVAL;
	mutex_lock(&shown->lock);
	memset(&c->wish, 0, sizeof(c->wish));
	r = instruct(verb, c);
	mutex_unlock(&shown->lock);
	exporter_signal(shown, SIGNAL_TOLD);
	return r < 0 ? r : (ssize_t)count;
}

static ssize_t failure_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct controller *c = &shown->controller;
	ssize_t n;

	mutex_lock(&shown->lock);
	n = sysfs_emit(buf, "%s\n", controller_state(c) == DEVICE_FAILED ? c->failure : "");
	mutex_unlock(&shown->lock);
	return n;
}

static ssize_t run_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct controller *c = &shown->controller;
	ssize_t n = 0;

	mutex_lock(&shown->lock);
	if (controller_state(c) == DEVICE_TRACING)
		n = sysfs_emit(buf, "%*phN\n", 16, c->runs[c->n_runs - 1].id.bytes);
	mutex_unlock(&shown->lock);
	return n ? n : sysfs_emit(buf, "\n");
}

/* --- settings --- */

static ssize_t settings_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	ssize_t n;

	mutex_lock(&shown->lock);
	n = settings_format(&shown->controller.settings, buf, PAGE_SIZE);
	mutex_unlock(&shown->lock);
	return n;
}

static ssize_t settings_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			      size_t count)
{
	struct controller *c = &shown->controller;
	char why[SETTINGS_WHY_LEN];
	char *line = kmemdup_nul(buf, count, GFP_KERNEL);
	int r = -EINVAL;

	if (!line)
		return -ENOMEM;
	mutex_lock(&shown->lock);
	memset(&c->wish, 0, sizeof(c->wish));
	if (settings_parse(&c->wish, line, why))
		r = instruct(INSTRUCTION_CONFIGURE, c);
	else
		pr_notice_ratelimited("cannot take the settings: %s\n", why);
	mutex_unlock(&shown->lock);
	kfree(line);
	exporter_signal(shown, SIGNAL_TOLD);
	return r < 0 ? r : (ssize_t)count;
}

/* --- who it is, and where to --- */

static ssize_t name_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	ssize_t n;

	mutex_lock(&shown->lock);
	identity_refresh(&shown->identity);
	n = sysfs_emit(buf, "%s\n", shown->identity.name);
	mutex_unlock(&shown->lock);
	return n;
}

static ssize_t name_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			  size_t count)
{
	char room[SETTINGS_TEXT_LEN + 1], *name = get_line(room, sizeof(room), buf, count);

	if (!name || (name[0] && !settings_is_name(name)))
		return -EINVAL;
	mutex_lock(&shown->lock);
	identity_set_name(&shown->identity, name);
	mutex_unlock(&shown->lock);
	return (ssize_t)count;
}

static ssize_t id_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct identity *i = &shown->identity;
	ssize_t n;

	mutex_lock(&shown->lock);
	n = i->is_device_known ? sysfs_emit(buf, "%*phN\n", 16, i->device.bytes)
			       : sysfs_emit(buf, "\n");
	mutex_unlock(&shown->lock);
	return n;
}

/* A collector that has parts of a run takes no others from another device; before the first one has
 * welcomed us, nobody has. */
static ssize_t id_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			size_t count)
{
	char room[40], *text = get_line(room, sizeof(room), buf, count);
	struct message_id id;
	int r = 0;

	if (!text || !settings_parse_id(&id, text))
		return -EINVAL;
	mutex_lock(&shown->lock);
	if ((shown->controller.n_runs && shown->counts.connections) ||
	    !link_is_closed(&shown->link)) {
		r = -EBUSY;
	} else {
		shown->identity.device = id;
		shown->identity.is_device_known = true;
	}
	mutex_unlock(&shown->lock);
	return r < 0 ? r : (ssize_t)count;
}

static ssize_t collector_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	ssize_t n;

	mutex_lock(&shown->lock);
	n = sysfs_emit(buf, "%s\n", shown->collector);
	mutex_unlock(&shown->lock);
	return n;
}

static ssize_t collector_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			       size_t count)
{
	char room[SETTINGS_TEXT_LEN + 1], *text = get_line(room, sizeof(room), buf, count);
	int r;

	if (!text || strlen(text) >= SETTINGS_TEXT_LEN)
		return -EINVAL;
	mutex_lock(&shown->lock);
	r = exporter_set_collector(shown, text);
	mutex_unlock(&shown->lock);
	exporter_signal(shown, SIGNAL_TOLD);
	return r < 0 ? r : (ssize_t)count;
}

static ssize_t socket_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	struct socket *sock;
	int descriptor, r = kstrtoint(buf, 10, &descriptor);

	if (r < 0)
		return r;
	r = link_get_handed(&sock, descriptor);
	if (r < 0)
		return r;
	mutex_lock(&shown->lock);
	if (shown->is_ending) {
		link_put_handed(sock);
		r = -ECANCELED;
	} else {
		exporter_hand(shown, sock);
	}
	mutex_unlock(&shown->lock);
	exporter_signal(shown, SIGNAL_TOLD);
	return r < 0 ? r : (ssize_t)count;
}

/* --- how it is --- */

static ssize_t link_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct exporter *e = shown;
	ssize_t n;

	mutex_lock(&shown->lock);
	if (e->handed || e->is_connecting)
		n = sysfs_emit(buf, "connecting\n");
	else if (link_is_closed(&e->link))
		n = sysfs_emit(buf, e->why[0] ? "down %s\n" : "down\n", e->why);
	else if (e->session.phase == SESSION_GREETING)
		n = sysfs_emit(buf, "greeting\n");
	else
		n = sysfs_emit(buf, "up %llu\n", (unsigned long long)e->session.number);
	mutex_unlock(&shown->lock);
	return n;
}

/* For whoever sees to the device's certificate: a device may have no clock that is right. */
static ssize_t collector_time_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct session *s = &shown->session;
	ssize_t n;

	mutex_lock(&shown->lock);
	n = s->phase == SESSION_WELCOME
		    ? sysfs_emit(buf, "%llu\n", (unsigned long long)s->realtime_ns)
		    : sysfs_emit(buf, "\n");
	mutex_unlock(&shown->lock);
	return n;
}

static ssize_t put_counts(char *buf, const struct message_status *m)
{
	const struct exporter *e = shown;
	struct compressor_profile p;

	compressor_get_profile(e->controller.compressor, &p);
	return sysfs_emit(
		buf,
		"events=%llu passed_over=%llu lost_ring=%llu lost_buffer=%llu lost_spool=%llu "
		"blocks=%llu bytes=%llu buffer_used=%llu buffer_size=%llu memory_kib=%llu "
		"frames_sent=%llu frames_acked=%llu bytes_sent=%llu connections=%llu wakeups=%llu "
		"cpu_probe_ns=%llu cpu_block_ns=%llu cpu_network_ns=%llu cpu_thread_ns=%llu "
		"longest_probe_ns=%llu\n",
		m->events, m->passed_over, m->lost[LOSS_RING], m->lost[LOSS_BUFFER],
		m->lost[LOSS_SPOOL], m->blocks, m->bytes, m->spool_used, m->spool_size,
		m->fixed_kib, e->counts.frames_sent, e->counts.frames_acked, e->counts.bytes_sent,
		e->counts.connections, e->counts.wakeups, p.probe_ns, p.block_ns, e->link.busy_ns,
		e->counts.thread_ns, p.longest_ns);
}

static ssize_t statistics_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct message_status m;
	ssize_t n;

	mutex_lock(&shown->lock);
	exporter_get_status(shown, &m);
	n = put_counts(buf, &m);
	mutex_unlock(&shown->lock);
	return n;
}

/* Root's alone. Reading takes the lock that the exporter holds for its turn: anybody else, with
 * the least priority, could hold up the exporter and so make it lose events. And filters and
 * addresses concern nobody else. */
#define READ_ONLY(name) __ATTR(name, 0400, name##_show, NULL)
#define READ_WRITE(name) __ATTR(name, 0600, name##_show, name##_store)

static struct kobj_attribute state_file = READ_WRITE(state);
static struct kobj_attribute failure_file = READ_ONLY(failure);
static struct kobj_attribute run_file = READ_ONLY(run);
static struct kobj_attribute settings_file = READ_WRITE(settings);
static struct kobj_attribute name_file = READ_WRITE(name);
static struct kobj_attribute id_file = READ_WRITE(id);
static struct kobj_attribute collector_file = READ_WRITE(collector);
static struct kobj_attribute collector_time_file = READ_ONLY(collector_time);
static struct kobj_attribute socket_file = __ATTR_WO(socket);
static struct kobj_attribute link_file = READ_ONLY(link);
static struct kobj_attribute statistics_file = READ_ONLY(statistics);

static struct attribute *files[] = {
	&state_file.attr,  &failure_file.attr, &run_file.attr,	      &settings_file.attr,
	&name_file.attr,   &id_file.attr,      &collector_file.attr,  &collector_time_file.attr,
	&socket_file.attr, &link_file.attr,    &statistics_file.attr, NULL,
};

static const struct attribute_group group = { .attrs = files };

static void notify(void *context, bool state, bool link)
{
	if (state)
		sysfs_notify(context, NULL, "state");
	if (link)
		sysfs_notify(context, NULL, "link");
}

int control_files_init(struct exporter *e)
{
	int r;

	shown = e;
	folder = kobject_create_and_add("kiseki", kernel_kobj);
	if (!folder)
		return -ENOMEM;
	r = sysfs_create_group(folder, &group);
	if (r < 0) {
		kobject_put(folder);
		folder = NULL;
		return r;
	}
	e->notify_context = folder;
	e->notify = notify;
	return 0;
}

void control_files_done(void)
{
	if (!folder)
		return;
	sysfs_remove_group(folder, &group);
	kobject_put(folder);
	folder = NULL;
}
