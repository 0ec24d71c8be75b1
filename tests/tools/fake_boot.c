/* SPDX-License-Identifier: MIT */
/* fake_boot: see fake_boot.h. */
#include "tools/fake_boot.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define ROOM 4096U

struct fake {
	const struct fake_boot_options *o;
	struct boot *b;
	uint32_t seed;
	size_t room;
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static char *dup_text(const char *text)
{
	return must(strdup(text));
}

static uint32_t next_random(struct fake *f, uint32_t below)
{
	f->seed = f->seed * 1664525U + 1013904223U;
	return (f->seed >> 8) % below;
}

/* --- processes --- */

static struct boot_process *find(struct fake *f, int32_t pid)
{
	size_t i;

	for (i = f->b->n_processes; i-- > 0;)
		if (f->b->processes[i].pid == pid)
			return &f->b->processes[i];
	abort();
}

/* times: in ms since the kernel started; 0 as the end: it stays. */
static struct boot_process *add(struct fake *f, int32_t pid, int32_t parent,
				const uint32_t times[2], const char *args)
{
	struct boot_process *p;
	char comm[SCHED_COMM_LEN + 1];
	const char *word = *args == '/' ? memrchr(args, '/', strcspn(args, " ")) : NULL;

	if (f->b->n_processes == f->room)
		abort();
	p = &f->b->processes[f->b->n_processes++];
	snprintf(comm, sizeof(comm), "%.*s", (int)strcspn(word ? word + 1 : args, " "),
		 word ? word + 1 : args);
	p->pid = pid;
	p->parent_pid = parent;
	p->parent = BOOT_NONE;
	p->from_ns = times[0] * FAKE_MS;
	p->to_ns = times[1] ? times[1] * FAKE_MS : FAKE_TO_NS;
	p->is_alive = !times[1];
	p->exit_code = p->is_alive ? -1 : 0;
	p->threads = 1;
	p->names = must(calloc(1, sizeof(*p->names)));
	p->n_names = 1;
	memcpy(p->names[0].comm, comm, sizeof(comm));
	p->names[0].args = dup_text(args);
	p->names[0].from_ns = p->from_ns;
	return p;
}

static void add_span(struct boot_process *p, uint8_t state, uint64_t to_ns, uint16_t share)
{
	uint64_t from = p->n_spans ? p->spans[p->n_spans - 1].to_ns : p->from_ns;
	struct boot_span *s;

	if (to_ns > p->to_ns)
		to_ns = p->to_ns;
	if (to_ns <= from)
		return;
	if (p->n_spans % 64 == 0)
		p->spans = must(realloc(p->spans, (p->n_spans + 64) * sizeof(*p->spans)));
	s = &p->spans[p->n_spans++];
	*s = (struct boot_span){
		.from_ns = from, .to_ns = to_ns, .state = state, .share = share, .whom = BOOT_NONE
	};
}

/* What it does for a while: percentages of running and disk, the rest is sleep. */
static void play(struct fake *f, struct boot_process *p, uint64_t to_ns, uint32_t run,
		 uint32_t disk)
{
	uint64_t now = p->n_spans ? p->spans[p->n_spans - 1].to_ns : p->from_ns;
	uint32_t dice;

	while (now < to_ns && now < p->to_ns) {
		now += (20 + 20 * next_random(f, 4)) * FAKE_MS;
		dice = next_random(f, 100);
		if (dice < run && f->o->exact && dice % 4 == 0)
			add_span(p, BOOT_RUNNABLE, now - 12 * FAKE_MS, 0);
		if (dice < run)
			add_span(p, BOOT_RUNNING, now,
				 f->o->exact ? 1000 : (uint16_t)(150 + next_random(f, 850)));
		else
			add_span(p, dice < run + disk ? BOOT_DISK_WAIT : BOOT_SLEEPING, now, 0);
	}
}

static void rest(struct boot_process *p, uint8_t state)
{
	add_span(p, state, p->to_ns, 0);
}

static struct boot_process *work(struct fake *f, int32_t pid, const uint32_t times[2],
				 const char *args, const uint32_t mix[2])
{
	struct boot_process *p = add(f, pid, 1, times, args);

	play(f, p, p->to_ns, mix[0], mix[1]);
	return p;
}

#define TIMES(a, b) ((const uint32_t[]){ (a), (b) })
#define MIX(run, disk) ((const uint32_t[]){ (run), (disk) })

static void add_kernel(struct fake *f)
{
	static const char *const names[] = { "kworker/0:1", "ksoftirqd/0", "mmcqd/0",
					     "jbd2/mmcblk0" };
	struct boot_process *p = add(f, 2, 0, TIMES(400, 0), "kthreadd");
	uint32_t i;

	p->is_kernel = p->was_there = true;
	rest(p, BOOT_SLEEPING);
	for (i = 0; i < 4; i++) {
		p = add(f, (int32_t)(10 + i), 2, TIMES(400, 0), names[i]);
		*p->names[0].args = 0;
		p->is_kernel = p->was_there = true;
		play(f, p, 6000 * FAKE_MS, 12, i > 1 ? 20 : 0);
		rest(p, BOOT_SLEEPING);
	}
}

static void add_init(struct fake *f)
{
	struct boot_process *p = add(f, 1, 0, TIMES(400, 0), "/sbin/init splash");

	p->was_there = true;
	p->from_error_ns = 10 * FAKE_MS;
	play(f, p, 2000 * FAKE_MS, 60, 15);
	play(f, p, FAKE_TARGET_NS, 15, 3);
	rest(p, BOOT_SLEEPING);
	p = add(f, 3, 1, TIMES(402, 0), "@kiseki-boot");
	p->is_self = true;
	add_span(p, BOOT_SLEEPING, p->to_ns, 21);
}

/* A service with workers that live between two samples. */
static void add_udev(struct fake *f)
{
	struct boot_process *p =
		add(f, 60, 1, TIMES(900, 0), "/lib/systemd/systemd-udevd --daemon");
	uint32_t i;
	char args[64];

	play(f, p, 2600 * FAKE_MS, 55, 10);
	rest(p, BOOT_SLEEPING);
	for (i = 0; i < 24; i++) {
		uint32_t at = 1000 + 55 * i;

		snprintf(args, sizeof(args), "/sbin/modprobe -b platform:device%u", i);
		p = add(f, (int32_t)(100 + i), 60, TIMES(at, at + 6 + i * 4), args);
		p->to_error_ns = i % 3 ? 0 : 2 * FAKE_MS;
		add_span(p, BOOT_RUNNING, p->from_ns + 4 * FAKE_MS, 800);
		add_span(p, BOOT_DISK_WAIT, p->to_ns - 2 * FAKE_MS, 0);
		add_span(p, BOOT_RUNNING, p->to_ns, 1000);
		p->exit_code = i == 7 ? 1 << 8 : i == 11 ? 9 : 0;
		p->account = (struct boot_account){ .user_ns = 3 * FAKE_MS,
						    .system_ns = FAKE_MS,
						    .disk_ns = 2 * FAKE_MS,
						    .read_bytes = 65536,
						    .rss_kib = 900,
						    .is_complete = true };
	}
}

static void add_services(struct fake *f)
{
	uint32_t late = f->o->late ? 450 : 0;
	struct boot_process *p;

	work(f, 200, TIMES(2100, 3300 + late), "/sbin/fsck -a /dev/mmcblk0p2", MIX(25, 60));
	p = add(f, 201, 200, TIMES(2140, 3260 + late), "/sbin/fsck.ext4 -a /dev/mmcblk0p2");
	play(f, p, p->to_ns, 30, 60);
	work(f, 210, TIMES(3320 + late, 3480 + late), "/bin/mount -o remount,rw /", MIX(20, 50));
	p = work(f, 220, TIMES(3500 + late, 0), "/lib/systemd/systemd-journald", MIX(30, 30));
	p = work(f, 230, TIMES(3560 + late, 0), "/lib/systemd/systemd-networkd", MIX(20, 5));
	p = work(f, 240, TIMES(3600 + late, 0), "/usr/sbin/sshd -D", MIX(10, 5));
	p = add(f, 241, 240, TIMES(4000, 4620), "/usr/bin/ssh-keygen -A");
	play(f, p, p->to_ns, 95, 2);
	if (!f->o->late)
		work(f, 250, TIMES(3700, 4400), "/usr/bin/plymouth quit", MIX(15, 10));
	else
		work(f, 255, TIMES(3900, 5000), "/usr/bin/fwupd --refresh", MIX(50, 20));
	p = work(f, 260, TIMES(4100 + late, 5900 + late), "/bin/sh -e /etc/rc.local", MIX(10, 5));
	rest(p, BOOT_SLEEPING);
	p = add(f, 261, 260, TIMES(4200 + late, 5200 + late),
		"/usr/bin/gunzip -c /opt/app/data.gz");
	play(f, p, p->to_ns, 85, 12);
	p = add(f, 262, 260, TIMES(5220 + late, 5700 + late),
		"/bin/dd if=/dev/zero of=/tmp/x bs=1M");
	add_span(p, BOOT_RUNNING, (5240 + late) * FAKE_MS, 500);
	add_span(p, BOOT_DISK_WAIT, (5640 + late) * FAKE_MS, 0);
	add_span(p, BOOT_ZOMBIE, p->to_ns, 0);
	p = add(f, 270, 1, TIMES(5000, 6000), "/usr/bin/debugged --wait");
	add_span(p, BOOT_RUNNING, 5200 * FAKE_MS, 300);
	add_span(p, BOOT_STOPPED, 5700 * FAKE_MS, 0);
	rest(p, BOOT_UNKNOWN);
	p = work(f, 300, TIMES(5950 + late, 0), "/opt/app/bin/panel --fullscreen --display=:0",
		 MIX(80, 8));
	p->threads = 9;
}

static void add_more(struct fake *f)
{
	uint32_t i, k;

	for (i = 0; i < f->o->more; i++) {
		uint32_t at = 6000 + i * 3400 / (f->o->more + 1), n = f->o->spans;
		struct boot_process *p =
			add(f, (int32_t)(1000 + i), 300,
			    TIMES(at, at + 1 + next_random(f, n ? 1000 : 10)), "/bin/true");
		uint64_t step = n ? (p->to_ns - p->from_ns) / n : 0;

		if (p->to_ns > FAKE_TO_NS)
			p->to_ns = FAKE_TO_NS;
		for (k = 1; k < n; k++)
			add_span(p, k % 3 ? BOOT_RUNNING : BOOT_SLEEPING, p->from_ns + step * k,
				 k % 3 ? 1000 : 0);
		add_span(p, BOOT_RUNNING, p->to_ns, 900);
	}
}

static void add_hostile(struct fake *f)
{
	static const char *const names[] = {
		"</script><script>alert(1)</script>",
		"\x01\x02\x1b[31m\x7f",
		"\"'&<>]]>",
		"\xff\xfe\xc3(",
		"\xe6\x97\xa5\xe6\x9c\xac <!--",
		"${7*7}`x`\\u0041",
	};
	uint32_t i;

	for (i = 0; i < 6; i++) {
		struct boot_process *p = add(f, (int32_t)(900 + i), 1,
					     TIMES(6000 + i * 20, 6100 + i * 20), names[i]);

		snprintf(p->names[0].comm, sizeof(p->names[0].comm), "%s", names[i]);
		add_span(p, BOOT_RUNNING, p->to_ns, 400);
	}
}

/* --- order of the tree --- */

static void emit(const struct boot *b, uint32_t from, uint32_t depth, uint32_t *order, size_t *n)
{
	uint32_t i;

	b->processes[from].depth = depth;
	order[(*n)++] = from;
	for (i = 0; i < b->n_processes; i++)
		if (b->processes[i].parent == from)
			emit(b, i, depth + 1, order, n);
}

static void sort_tree(struct fake *f)
{
	struct boot *b = f->b;
	struct boot_process *sorted = must(calloc(b->n_processes, sizeof(*sorted)));
	uint32_t *order = must(calloc(b->n_processes, sizeof(*order)));
	uint32_t *place = must(calloc(b->n_processes, sizeof(*place)));
	size_t n = 0, i;

	for (i = 0; i < b->n_processes; i++)
		if (b->processes[i].parent_pid)
			b->processes[i].parent =
				(uint32_t)(find(f, b->processes[i].parent_pid) - b->processes);
	for (i = 0; i < b->n_processes; i++)
		if (b->processes[i].parent == BOOT_NONE)
			emit(b, (uint32_t)i, 0, order, &n);
	for (i = 0; i < n; i++) {
		sorted[i] = b->processes[order[i]];
		place[order[i]] = (uint32_t)i;
	}
	for (i = 0; i < n; i++)
		if (sorted[i].parent != BOOT_NONE)
			sorted[i].parent = place[sorted[i].parent];
	free(b->processes);
	free(order);
	free(place);
	b->processes = sorted;
}

/* Who ended a wait: of the service that opens the target, its parent; of a parent, the child that ended. */
static void say_whom(struct fake *f)
{
	struct boot *b = f->b;
	size_t i, k;

	for (i = 0; i < b->n_processes; i++)
		for (k = 0; k < b->processes[i].n_spans; k++) {
			struct boot_span *s = &b->processes[i].spans[k];

			if (s->state == BOOT_SLEEPING && b->processes[i].parent != BOOT_NONE)
				s->whom = b->processes[i].parent;
			if (s->state == BOOT_DISK_WAIT)
				s->where = 1;
		}
}

/* --- machine and marks --- */

static void add_to_point(struct boot *b, const struct boot_span *s, bool is_system)
{
	size_t i = (s->from_ns - FAKE_FROM_NS) / (20 * FAKE_MS);

	for (; i < b->n_points; i++) {
		struct boot_point *p = &b->points[i];
		uint64_t from = i ? b->points[i - 1].ns : FAKE_FROM_NS;
		uint64_t a = s->from_ns > from ? s->from_ns : from;
		uint64_t z = s->to_ns < p->ns ? s->to_ns : p->ns;

		if (from >= s->to_ns)
			return;
		if (z <= a)
			continue;
		if (s->state == BOOT_RUNNING)
			*(is_system ? &p->system_ns : &p->user_ns) += (z - a) / 1000 * s->share;
		if (s->state == BOOT_DISK_WAIT)
			p->iowait_ns += (z - a) / 2;
		p->some_ns[BOOT_RESOURCE_IO] += s->state == BOOT_DISK_WAIT ? (z - a) / 4 : 0;
	}
}

static void settle_point(struct fake *f, struct boot_point *p, size_t i)
{
	uint64_t all = 2 * 20 * FAKE_MS, busy = p->user_ns + p->system_ns;

	if (busy > all) {
		p->some_ns[BOOT_RESOURCE_CPU] = 12 * FAKE_MS;
		p->user_ns = p->user_ns * 9 / 10 * all / busy;
		p->system_ns = p->system_ns * 9 / 10 * all / busy;
		p->iowait_ns = 0;
	}
	p->irq_ns = i % 7 == 0 ? FAKE_MS : 0;
	p->steal_ns = i % 50 == 0 ? 2 * FAKE_MS : 0;
	busy = p->user_ns + p->system_ns + p->irq_ns + p->steal_ns;
	if (busy + p->iowait_ns > all)
		p->iowait_ns = all > busy ? all - busy : 0;
	p->idle_ns = all > busy + p->iowait_ns ? all - busy - p->iowait_ns : 0;
	if (p->some_ns[BOOT_RESOURCE_IO] > 20 * FAKE_MS)
		p->some_ns[BOOT_RESOURCE_IO] = 20 * FAKE_MS;
	p->full_ns[BOOT_RESOURCE_IO] = p->some_ns[BOOT_RESOURCE_IO] / 3;
	p->some_ns[BOOT_RESOURCE_MEMORY] = i > 350 && i < 370 ? 3 * FAKE_MS : 0;
	p->memory_used_kib = 40000 + i * 220;
	p->memory_cached_kib = 8000 + i * 300;
	p->memory_free_kib = 512000 - p->memory_used_kib - p->memory_cached_kib;
	p->swap_used_kib = i > 340 ? (i - 340) * 10 : 0;
	p->runnable = 1 + next_random(f, 4);
}

static void add_machine(struct fake *f)
{
	struct boot *b = f->b;
	struct boot_disk *d;
	size_t i, k;

	b->n_points = (FAKE_TO_NS - FAKE_FROM_NS) / (20 * FAKE_MS);
	b->points = must(calloc(b->n_points, sizeof(*b->points)));
	b->n_disks = 2;
	b->disks = d = must(calloc(2, sizeof(*b->disks)));
	for (i = 0; i < b->n_points; i++)
		b->points[i].ns = FAKE_FROM_NS + (i + 1) * 20 * FAKE_MS;
	for (i = 0; i < b->n_processes; i++)
		for (k = 0; k < b->processes[i].n_spans; k++)
			add_to_point(b, &b->processes[i].spans[k], i % 3 == 1);
	for (i = 0; i < 2; i++) {
		d[i].name = dup_text(i ? "mmcblk0p2" : "mmcblk0");
		d[i].is_part = i;
		d[i].n_points = b->n_points;
		d[i].points = must(calloc(b->n_points, sizeof(*d[i].points)));
	}
	for (i = 0; i < b->n_points; i++) {
		uint64_t busy;

		settle_point(f, &b->points[i], i);
		busy = b->points[i].some_ns[BOOT_RESOURCE_IO];
		for (k = 0; k < 2; k++)
			d[k].points[i] =
				(struct boot_disk_point){ .ns = b->points[i].ns,
							  .busy_ns = busy,
							  .read_bytes = busy / 1000 * 18,
							  .written_bytes =
								  i % 9 ? 0 : busy / 1000 * 6 };
	}
}

static void mark(struct fake *f, uint32_t ms, uint8_t type, uint8_t level, const char *text)
{
	struct boot_mark *m;

	if (f->b->n_marks == 128)
		abort();
	m = &f->b->marks[f->b->n_marks++];
	*m = (struct boot_mark){ .ns = ms * FAKE_MS,
				 .type = type,
				 .level = level,
				 .process = BOOT_NONE,
				 .text = dup_text(text) };
}

static void add_marks(struct fake *f)
{
	uint32_t i;
	char text[64];

	f->b->marks = must(calloc(128, sizeof(*f->b->marks)));
	mark(f, 400, BOOT_MARK_FACT, 0, "interval_ns=20000000");
	for (i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "mmc0: message %u of the kernel", i);
		mark(f, 410 + i * 60, BOOT_MARK_KERNEL, i == 20 ? 4 : i == 30 ? 3 : 6, text);
	}
	mark(f, 3485, BOOT_MARK_PHASE, 0, "local-fs.target");
	mark(f, 3900, BOOT_MARK_PHASE, 0, "sysinit.target");
	mark(f, 4050, BOOT_MARK_PHASE, 0, "basic.target");
	mark(f, 4700, BOOT_MARK_PHASE, 0, "network.target");
	mark(f, 5300, BOOT_MARK_CLOCK, 0, "real time set forward by 1621 s");
	if (f->o->cut)
		mark(f, 5400, BOOT_MARK_MISSING, 0,
		     "Disks are no longer read: no descriptor left.");
	if (f->o->hostile)
		mark(f, 6000, BOOT_MARK_PHASE, 0, "<img src=x onerror=alert(1)>");
	mark(f, 6200, BOOT_MARK_PHASE, 0, "multi-user.target");
	mark(f, 7800, BOOT_MARK_TARGET, 0, "panel.service");
	if (!f->o->cut)
		mark(f, 9600, BOOT_MARK_STOP, 0, "1.8 s after the target");
}

static void add_gaps(struct fake *f)
{
	if (!f->o->cut)
		return;
	f->b->gaps = must(calloc(1, sizeof(*f->b->gaps)));
	f->b->n_gaps = 1;
	f->b->gaps[0] = (struct boot_gap){ 6600 * FAKE_MS, 6900 * FAKE_MS,
					   dup_text("ring: 214 records did not fit") };
}

struct boot *fake_boot_new(const struct fake_boot_options *o)
{
	struct fake f = { .o = o, .seed = 7, .room = ROOM + o->more };
	struct boot *b = f.b = must(calloc(1, sizeof(*b)));
	size_t i;

	b->device = dup_text(o->hostile ? "</title><script>alert(2)</script>" : "panel-7");
	b->kernel = dup_text("6.6.31");
	b->machine = dup_text("armv7l");
	b->origin = dup_text("kiseki-boot");
	b->command_line = dup_text("console=ttyAMA0 root=/dev/mmcblk0p2 ro init=/sbin/kiseki-boot");
	b->release = dup_text("Debian GNU/Linux 12");
	b->target = dup_text("panel.service");
	b->cpus = 2;
	b->from_ns = FAKE_FROM_NS;
	b->to_ns = FAKE_TO_NS;
	b->interval_ns = 20 * FAKE_MS;
	b->target_ns = FAKE_TARGET_NS;
	b->realtime_ns = 1763200000000000000LL;
	b->is_exact = o->exact;
	b->tells_interrupts = o->exact;
	b->is_cut = o->cut;
	b->has_events = !o->cut;
	b->processes = must(calloc(f.room, sizeof(*b->processes)));
	b->texts = must(calloc(2, sizeof(*b->texts)));
	b->n_texts = 2;
	b->texts[0] = dup_text("");
	b->texts[1] = dup_text("folio_wait_bit_common");
	add_init(&f);
	add_kernel(&f);
	add_udev(&f);
	add_services(&f);
	add_more(&f);
	if (o->hostile)
		add_hostile(&f);
	sort_tree(&f);
	if (o->exact)
		say_whom(&f);
	for (i = 0; i < b->n_processes; i++) {
		boot_process_sum(&b->processes[i]);
		b->processes[i].cpu_ns = boot_process_ran(&b->processes[i]);
	}
	add_machine(&f);
	add_marks(&f);
	add_gaps(&f);
	return b;
}
