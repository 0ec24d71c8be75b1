/* SPDX-License-Identifier: GPL-2.0-only */
/* control: see control.h. */
#include "device/vm/module/control.h"

#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "device/vm/module/arch/arch.h"
#include "device/vm/module/recorder.h"
#include "device/vm/module/sampler.h"

#define WAIT_MS 100

static struct recorder recorder;
static DEFINE_MUTEX(lock); /* of the recorder, and of the rings' reading side */
static unsigned long is_open;
static unsigned int turn; /* the CPU that is read first */

static int control_open(struct inode *inode, struct file *file)
{
	if (!perfmon_capable())
		return -EPERM;
	if (test_and_set_bit(0, &is_open))
		return -EBUSY;
	return stream_open(inode, file);
}

static int control_release(struct inode *inode, struct file *file)
{
	mutex_lock(&lock);
	recorder_done(&recorder);
	mutex_unlock(&lock);
	clear_bit(0, &is_open);
	return 0;
}

static ssize_t control_write(struct file *file, const char __user *from, size_t len, loff_t *at)
{
	char text[VM_SETTINGS_MAX + 1];
	struct vm_settings s;
	enum vm_order order;
	int error = 0;

	if (!len || len > sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	order = vm_settings_parse(&s, text, (u32)len);
	if (order == VM_ORDER_NONE)
		return -EINVAL;
	if (mutex_lock_interruptible(&lock))
		return -ERESTARTSYS;
	if (order == VM_ORDER_START)
		error = recorder_start(&recorder, &s);
	else
		recorder_stop(&recorder);
	mutex_unlock(&lock);
	return error < 0 ? error : (ssize_t)len;
}

/* One CPU's chunk; 0: it has nothing, or there is no room for any of it. */
static ssize_t read_cpu(struct recorder_cpu *cpu, unsigned int number, char __user *to, size_t room)
{
	struct vm_chunk head = { .magic = VM_RECORD_MAGIC,
				 .version = VM_RECORD_VERSION,
				 .exits = (u16)arch_exits(),
				 .cpu = number };
	struct vm_ring_parts parts;

	if (room <= sizeof(head))
		return 0;
	head.length = vm_ring_get(&cpu->ring, (u32)min_t(size_t, room - sizeof(head), U32_MAX / 2),
				  &parts);
	head.lost = READ_ONCE(cpu->ring.lost);
	head.used_ns = READ_ONCE(cpu->used_ns);
	if (!head.length)
		return 0;
	if (copy_to_user(to, &head, sizeof(head)) ||
	    copy_to_user(to + sizeof(head), parts.data[0], parts.len[0]) ||
	    copy_to_user(to + sizeof(head) + parts.len[0], parts.data[1], parts.len[1]))
		return -EFAULT;
	vm_ring_pop(&cpu->ring, head.length);
	return (ssize_t)sizeof(head) + head.length;
}

/* Another CPU is first each time: a buffer that is too small should not be one CPU's alone. */
static ssize_t read_all(struct recorder *r, char __user *to, size_t room)
{
	unsigned int i, number;
	ssize_t done = 0, n;
	bool due = false;

	for (i = 0; r->cpus && i < nr_cpu_ids; i++) {
		number = (turn + i) % nr_cpu_ids;
		if (!r->cpus[number])
			continue;
		n = read_cpu(r->cpus[number], number, to + done, room - (size_t)done);
		if (n < 0)
			return done ? done : n;
		done += n;
		due |= vm_ring_used(&r->cpus[number]->ring) >= r->cpus[number]->ring.size / 2;
	}
	WRITE_ONCE(r->is_due, due);
	turn = (turn + 1) % nr_cpu_ids;
	return done;
}

static bool is_due(const struct recorder *r)
{
	return READ_ONCE(r->is_due) || !READ_ONCE(r->is_on);
}

static ssize_t control_read(struct file *file, char __user *to, size_t room, loff_t *at)
{
	struct recorder *r = &recorder;
	ssize_t n;
	bool on;

	/* No record is longer, so what does not fit is never waited for in vain. */
	if (room < VM_RECORD_CHUNK)
		return -EINVAL;
	for (;;) {
		if (mutex_lock_interruptible(&lock))
			return -ERESTARTSYS;
		on = r->is_on;
		sampler_look(r);
		n = read_all(r, to, room);
		mutex_unlock(&lock);
		if (n || !on)
			return n;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible_timeout(r->wait, is_due(r),
						     msecs_to_jiffies(WAIT_MS)) < 0)
			return -ERESTARTSYS;
	}
}

static __poll_t control_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &recorder.wait, table);
	return EPOLLOUT | EPOLLWRNORM | (is_due(&recorder) ? EPOLLIN | EPOLLRDNORM : 0);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = control_open,
	.release = control_release,
	.read = control_read,
	.write = control_write,
	.poll = control_poll,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kiseki_vm",
	.fops = &operations,
	.mode = 0600,
};

int control_init(void)
{
	recorder_init(&recorder);
	return misc_register(&device);
}

void control_done(void)
{
	misc_deregister(&device);
}
