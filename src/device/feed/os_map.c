/* SPDX-License-Identifier: MIT */
/* os_map: see os_map.h. */
#include "device/feed/os_map.h"

#include <errno.h>

static const struct {
	const char *system, *name;
} events[] = {
	{ "sched", "sched_switch" },
	{ "sched", "sched_waking" },
	{ "raw_syscalls", "sys_enter" },
	{ "raw_syscalls", "sys_exit" },
};

bool os_map_get_event(uint32_t n, const char **ret_system, const char **ret_name)
{
	if (n >= sizeof(events) / sizeof(events[0]))
		return false;
	*ret_system = events[n].system;
	*ret_name = events[n].name;
	return true;
}

void os_map_init(struct os_map *m, bool big_endian)
{
	memset(m, 0, sizeof(*m));
	sched_map_init(&m->sched, big_endian);
	syscall_map_init(&m->calls, big_endian);
}

int os_map_add(struct os_map *m, const char *system, const char *text, size_t len, struct error *e)
{
	if (!strcmp(system, "raw_syscalls"))
		return syscall_map_add(&m->calls, text, len, e);
	return sched_map_add(&m->sched, system, text, len, e);
}

int os_map_settle(struct os_map *m, const char *release, uint32_t long_size, struct error *e)
{
	struct sched_dialect dialect;

	if (!(m->sched.kinds & 1U << SCHED_SWITCH))
		return error_set(e, ENOENT, "cannot watch threads: this kernel has no switches");
	sched_map_get_dialect(&m->sched, release, long_size, &dialect);
	m->state_mask = dialect.state_mask;
	return 0;
}

static int decode_sched(const struct os_map *m, const struct sched_event *ev, struct os_record *ret)
{
	if (ev->kind != SCHED_SWITCH && ev->kind != SCHED_WAKING)
		return 0;
	ret->tid = ev->task.pid;
	if (ev->kind == SCHED_WAKING) {
		ret->kind = OS_WAKING;
		ret->other = ev->pid;
		return 1;
	}
	ret->kind = OS_SWITCH;
	ret->other = ev->other.pid;
	ret->value = ev->state & m->state_mask ? ev->state : 0;
	return 1;
}

int os_map_decode(const struct os_map *m, const uint8_t *record, size_t len, struct os_record *ret)
{
	struct syscall_event call;
	struct sched_event ev;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = syscall_map_decode(&m->calls, record, len, &call);
	if (r > 0) {
		ret->kind = call.kind == SYSCALL_ENTER ? OS_SYSCALL : OS_RETURN;
		ret->tid = call.pid;
		ret->value = (uint64_t)call.number;
	}
	if (r)
		return r;
	r = sched_map_decode(&m->sched, record, len, &ev);
	return r > 0 ? decode_sched(m, &ev, ret) : r;
}
