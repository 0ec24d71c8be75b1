/* SPDX-License-Identifier: MIT */
/*
 * bpf_load: see bpf_load.h.
 *
 * Loading needs the kernel's type descriptions, some five megabytes, and libbpf's memory beside
 * them; recording needs neither. So a child process loads and pins, and its memory ends with it.
 * The child says through a pipe why it failed; what libbpf would print is kept for that.
 *
 * What differs between kernels is asked of the types: tracepoints that are not there are left out,
 * arguments that came later are used where they are.
 */
#include "device/agent/bpf_load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched_object.h> /* made from src/device/bpf/sched.bpf.c */
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device/agent/bpf_kernel.h"
#include "device/agent/filter.h"
#include "device/bpf/sched_record.h"

#define BPF_MAGIC 0xcafe4a11
#define PRESENT_MAX 4096 /* CPUs */

static const char *const programs[SCHED_KINDS] = {
	[SCHED_SWITCH] = "sched_switch",      [SCHED_WAKING] = "sched_waking",
	[SCHED_WAKEUP] = "sched_wakeup",      [SCHED_WAKEUP_NEW] = "sched_wakeup_new",
	[SCHED_FORK] = "sched_process_fork",  [SCHED_EXEC] = "sched_process_exec",
	[SCHED_EXIT] = "sched_process_exit",  [SCHED_RENAME] = "task_rename",
	[SCHED_SETPRIO] = "sched_pi_setprio",
};

struct loading {
	const struct bpf_order *order;
	struct bpf_object *object;
	struct btf *types; /* of the kernel */
	struct record_setup setup;
	struct record_cpu first;
	struct error *e;
};

const char *bpf_get_program(uint32_t kind)
{
	return programs[kind];
}

static int fail(struct loading *l, int r, const char *what)
{
	return bpf_kernel_fail(l->e, r, what);
}

/* Whether a struct has a member, itself or in a nameless part of it. */
static bool has_member(const struct btf *types, int id, const char *name)
{
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(types, (uint32_t)id), *part;
	const struct btf_member *m;
	uint32_t i;

	if (!t || !btf_is_composite(t))
		return false;
	for (i = 0, m = btf_members(t); i < btf_vlen(t); i++, m++) {
		part = m->name_off ? NULL : btf__type_by_id(types, m->type);
		if (m->name_off ? !strcmp(btf__name_by_offset(types, m->name_off), name)
				: part && btf_is_composite(part) &&
					  has_member(types, (int)m->type, name))
			return true;
	}
	return false;
}

/* Whether a program can read this CPU's preempt count: it does so with the task that runs. */
static bool has_context(const struct btf *types)
{
	int task = btf__find_by_name_kind(types, "task_struct", BTF_KIND_STRUCT);
	int info = btf__find_by_name_kind(types, "thread_info", BTF_KIND_STRUCT);

	return has_member(types, task, "thread_info") && has_member(types, info, "preempt_count");
}

static void mask_name(uint64_t name[2], uint64_t mask[2], const char pattern[SCHED_COMM_LEN])
{
	size_t len = strnlen(pattern, SCHED_COMM_LEN);
	bool any_rest = len && pattern[len - 1] == '*';
	/* The kernel's name ends with its NUL; what is behind that may be anything. */
	size_t compared = any_rest ? len - 1 : len + 1;

	memcpy(name, pattern, SCHED_COMM_LEN);
	memset(mask, 0, SCHED_COMM_LEN);
	memset(mask, 0xff, compared < SCHED_COMM_LEN ? compared : SCHED_COMM_LEN);
}

static void set_filter(struct record_setup *s, const struct message_config *c)
{
	if (!c)
		return;
	s->filtered = c->n_pids || c->n_comms || c->n_cgroups;
	s->follows_forks = c->n_cgroups != 0;
	for (; s->n_comms < c->n_comms && s->n_comms < RECORD_COMMS_MAX; s->n_comms++)
		mask_name(s->comms[s->n_comms], s->masks[s->n_comms], c->comms[s->n_comms]);
}

/* Decides which programs are wanted and what they are told. */
static int prepare(struct loading *l)
{
	uint32_t kind, wanted = l->order->kinds;
	struct bpf_program *p;
	int n;

	set_filter(&l->setup, l->order->config);
	if (l->setup.follows_forks)
		wanted |= 1U << SCHED_FORK;
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		n = bpf_kernel_count_arguments(l->types, programs[kind]);
		p = bpf_object__find_program_by_name(l->object, programs[kind]);
		if (!p)
			return error_set(l->e, EINVAL, "cannot load BPF programs: %s is missing",
					 programs[kind]);
		if (n < 0 || !(wanted & 1U << kind)) {
			bpf_program__set_autoload(p, false);
			continue;
		}
		l->setup.kinds |= l->order->kinds & 1U << kind;
		l->setup.has_prev_state |= kind == SCHED_SWITCH && n >= 4;
		l->setup.has_group_dead |= kind == SCHED_EXIT && n >= 2;
	}
	if (!l->setup.kinds)
		return error_set(
			l->e, ENOENT,
			"cannot load BPF programs: this kernel has none of the tracepoints");
	l->first.version = RECORD_VERSION;
	l->first.kinds = l->setup.kinds;
	l->first.has_group_dead = l->setup.has_group_dead;
	l->setup.has_context = l->first.has_context = has_context(l->types);
	l->first.long_size = (uint32_t)btf__pointer_size(l->types);
	return 0;
}

static int size_map(struct loading *l, const char *name, uint32_t entries)
{
	struct bpf_map *m = bpf_object__find_map_by_name(l->object, name);

	return m ? bpf_map__set_max_entries(m, entries) : -ENOENT;
}

/* The size of a ring is not part of the type that the map of rings asks for. */
static int size_maps(struct loading *l)
{
	struct bpf_map *m;
	int r = size_map(l, "rings", l->order->cpus);

	if (!r)
		r = size_map(l, "cpus", l->order->cpus);
	if (!r && l->setup.filtered)
		r = size_map(l, "pids", FILTER_MEMBERS_MAX + CONFIG_PIDS_MAX);
	bpf_object__for_each_map(m, l->object)
	{
		if (!r && strstr(bpf_map__name(m), ".rodata"))
			r = bpf_map__set_initial_value(m, &l->setup, sizeof(l->setup));
	}
	return r;
}

/* "0-3,8" as a set; if it cannot be read, all are there. */
static void get_present(uint8_t present[PRESENT_MAX])
{
	FILE *f = fopen("/sys/devices/system/cpu/present", "re");
	unsigned int from, to, n = 0;
	int c = ',';

	memset(present, 0, PRESENT_MAX);
	while (f && c == ',' && fscanf(f, "%u", &from) == 1) {
		to = from;
		c = fgetc(f);
		if (c == '-' && fscanf(f, "%u", &to) == 1)
			c = fgetc(f);
		for (; from <= to && from < PRESENT_MAX; from++, n++)
			present[from] = 1;
	}
	if (f)
		fclose(f);
	if (!n)
		memset(present, 1, PRESENT_MAX);
}

static int pin(const char *dir, const char *name, int fd)
{
	char path[BPF_DIR_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

static int make_ring(struct loading *l, int rings_fd, uint32_t cpu)
{
	_cleanup_close_ int fd = -EBADF;
	char name[32];

	snprintf(name, sizeof(name), "ring%u", cpu);
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, name, 0, 0, l->order->ring_bytes, NULL);
	if (fd < 0)
		return -errno;
	if (bpf_map_update_elem(rings_fd, &cpu, &fd, BPF_ANY))
		return -errno;
	return pin(l->order->dir, name, fd);
}

static int make_rings(struct loading *l)
{
	static uint8_t present[PRESENT_MAX];
	int fd = bpf_object__find_map_fd_by_name(l->object, "rings"), r = 0;
	uint32_t cpu;

	get_present(present);
	for (cpu = 0; !r && cpu < l->order->cpus && cpu < PRESENT_MAX; cpu++)
		if (present[cpu])
			r = make_ring(l, fd, cpu);
	return r;
}

/* Puts the listed pids and the first CPU's facts into their maps, and pins both. */
static int fill_maps(struct loading *l)
{
	int cpus = bpf_object__find_map_fd_by_name(l->object, "cpus");
	int pids = bpf_object__find_map_fd_by_name(l->object, "pids");
	const struct message_config *c = l->order->config;
	uint32_t zero = 0, listed = RECORD_LISTED, i;
	int r;

	if (bpf_map_update_elem(cpus, &zero, &l->first, BPF_ANY))
		return -errno;
	for (i = 0; c && i < c->n_pids; i++)
		if (bpf_map_update_elem(pids, &c->pids[i], &listed, BPF_ANY))
			return -errno;
	r = pin(l->order->dir, "cpus", cpus);
	return r ? r : pin(l->order->dir, "pids", pids);
}

static int pin_programs(struct loading *l)
{
	struct bpf_program *p;
	uint32_t kind;
	int r = 0;

	for (kind = 0; !r && kind < SCHED_KINDS; kind++) {
		p = bpf_object__find_program_by_name(l->object, programs[kind]);
		if (bpf_program__fd(p) >= 0)
			r = pin(l->order->dir, programs[kind], bpf_program__fd(p));
	}
	return r;
}

static int load(const struct bpf_order *o, struct error *e)
{
	static const struct bpf_object_open_opts opts = { .sz = sizeof(opts),
							  .object_name = "kiseki" };
	struct loading l = { .order = o, .e = e };
	int r;

	l.types = bpf_kernel_load_types(e);
	if (!l.types)
		return -errno;
	l.object = bpf_object__open_mem(sched_object, sizeof(sched_object), &opts);
	if (!l.object)
		return fail(&l, -errno, "read the BPF programs");
	r = prepare(&l);
	if (r)
		return r;
	r = size_maps(&l);
	if (r)
		return fail(&l, r, "make the BPF maps");
	r = bpf_object__load(l.object);
	if (r || !o->dir)
		return r ? fail(&l, r, "load the BPF programs") : 0;
	r = make_rings(&l);
	if (!r)
		r = fill_maps(&l);
	if (!r)
		r = pin_programs(&l);
	return r ? fail(&l, r, "make and pin the BPF maps") : 0;
}

/* What the child has to say: its text, or nothing if all is well. */
static int wait_for(pid_t child, int fd, struct error *e)
{
	struct error text = ERROR_INIT;
	size_t len = 0;
	int status;
	ssize_t n;

	while (len < sizeof(text.text) - 1 &&
	       ((n = read(fd, text.text + len, sizeof(text.text) - 1 - len)) > 0 ||
		(n < 0 && errno == EINTR)))
		len += n > 0 ? (size_t)n : 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(e, errno, "cannot wait for the loader of BPF programs: %s",
					 strerror(errno));
	if (!WIFEXITED(status))
		return error_set(e, EIO, "cannot load the BPF programs: the loader was killed");
	if (WEXITSTATUS(status) && !len)
		return error_set(e, EIO,
				 "cannot load the BPF programs: the loader ends with status %d",
				 WEXITSTATUS(status));
	if (WEXITSTATUS(status))
		return error_set(e, WEXITSTATUS(status), "%s", text.text);
	return 0;
}

int bpf_load(const struct bpf_order *o, struct error *e)
{
	_cleanup_close_ int from = -EBADF, to = -EBADF;
	struct error text = ERROR_INIT;
	int fds[2], r;
	pid_t child;

	if (o->dir && mkdir(o->dir, 0700) < 0)
		return error_set(e, errno, "cannot make %s: %s", o->dir, strerror(errno));
	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	from = fds[0];
	to = fds[1];
	child = fork();
	if (child < 0)
		return error_set(e, errno, "cannot start the loader of BPF programs: %s",
				 strerror(errno));
	if (child == 0) {
		r = load(o, &text);
		if (r && write(to, text.text, strlen(text.text)) < 0)
			r = -EIO;
		_exit(r < -255 ? EIO : -r);
	}
	close(take_fd(&to));
	r = wait_for(child, from, e);
	if (r && o->dir)
		bpf_unpin(o->dir);
	return r;
}

int bpf_mount(struct error *e)
{
	struct statfs fs;

	if (!statfs(BPF_ROOT, &fs) && (uint32_t)fs.f_type == BPF_MAGIC)
		return 0;
	if (mount("bpf", BPF_ROOT, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return error_set(e, errno, "cannot mount bpffs at %s: %s", BPF_ROOT,
				 strerror(errno));
	return 0;
}

void bpf_unpin(const char *dir)
{
	struct dirent *d;
	DIR *folder = opendir(dir);

	while (folder && (d = readdir(folder)))
		if (d->d_name[0] != '.')
			unlinkat(dirfd(folder), d->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(dir);
}
