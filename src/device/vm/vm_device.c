/* SPDX-License-Identifier: MIT */
/* vm_device: the module's device as a source (vm_source.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device/vm/vm_source.h"
#include "wire/sample_meta.h"

static int order(struct vm_source *s, const char *line, size_t len, const char *what,
		 struct error *e)
{
	if (write(s->fd, line, len) == (ssize_t)len)
		return 0;
	return error_set(e, errno, "cannot %s sampling virtual machines: %s", what,
			 strerror(errno));
}

static int device_start(struct vm_source *s, const struct vm_settings *settings, struct error *e)
{
	char line[VM_SETTINGS_MAX];

	int r = order(s, line, vm_settings_format(settings, line), "start", e);

	if (settings->cycles && (r == -ENOENT || r == -ENODEV || r == -EOPNOTSUPP))
		r = error_set(e, -r,
			      "cannot sample by --cycles: this machine has no counter for it; "
			      "--period does without");
	return r;
}

static int device_stop(struct vm_source *s, struct error *e)
{
	return order(s, "stop", 4, "stop", e);
}

static ssize_t device_read(struct vm_source *s, uint8_t *to, size_t room)
{
	ssize_t n = read(s->fd, to, room);

	return n < 0 ? -errno : n;
}

static void device_free(struct vm_source *s)
{
	close(s->fd);
	free(s);
}

static const struct vm_source_ops ops = {
	.name = "module",
	.collector = SAMPLE_BY_MODULE,
	.method = SAMPLE_TIMER,
	.start = device_start,
	.stop = device_stop,
	.read = device_read,
	.free = device_free,
	.is_counted_anew = true,
};

static int say_refused(int why, struct error *e)
{
	if (why == ENOENT)
		return error_set(e, why,
				 "cannot open " VM_DEVICE
				 ": the module kiseki_vm is not loaded on this machine");
	if (why == EBUSY)
		return error_set(e, why,
				 "cannot open " VM_DEVICE ": another program records already");
	return error_set(e, why, "cannot open " VM_DEVICE ": %s", strerror(why));
}

int vm_device_open(struct vm_source **ret, struct error *e)
{
	_cleanup_close_ int fd = open(VM_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct vm_source *s;

	if (fd < 0)
		return say_refused(errno, e);
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	s->ops = &ops;
	s->fd = take_fd(&fd);
	*ret = s;
	return 0;
}
