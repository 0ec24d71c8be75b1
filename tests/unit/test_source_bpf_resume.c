/* SPDX-License-Identifier: MIT */
/*
 * source_bpf when its reader is killed at any moment: the next reader goes on, and in the end every
 * event is there once.
 *
 * The reader is a child that keeps events in shared memory, as the real recorder keeps blocks: some
 * events, then a checkpoint with the position behind them, published by one store, and then the
 * release. It is killed over and over while a generator works. At the end, the generator's switches
 * are as many as the kernel counts, and no event of any task is there twice. (That each switch goes
 * away from whom the one before went to, on every CPU and for all tasks, would say more, but there
 * are kernels that do not report the switches of some tasks.)
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/bpf_load.h"
#include "device/agent/recorder.h"
#include "device/agent/source.h"
#include "tools/generator.h"

#define CPUS_MAX 64U
#define ROWS_MAX (1U << 21) /* others may be busy; memory is only what is used of it */
#define ROWS_PER_BLOCK 37U
#define KILLS 15

struct row {
	uint64_t tick;
	int32_t from, to; /* of a switch; of a fork: parent and child */
	uint64_t kind;
};

struct place {
	uint64_t rows, position, ring_total;
};

/* What outlives a reader. */
struct shared {
	uint32_t done;		  /* the reader is to end */
	uint32_t which[CPUS_MAX]; /* of the two places */
	struct place places[CPUS_MAX][2];
	struct row *rows[CPUS_MAX];
};

struct recorder {
	struct shared *shared;
	struct device_source *source;
	struct place now[CPUS_MAX];
};

static char instance[64];
static uint32_t cpus;

static void publish(struct recorder *r, uint32_t cpu)
{
	uint32_t next = !r->shared->which[cpu];

	r->shared->places[cpu][next] = r->now[cpu];
	__atomic_store_n(&r->shared->which[cpu], next, __ATOMIC_RELEASE);
	source_bpf.release(r->source, cpu, r->now[cpu].position);
}

void recorder_take(struct recorder *r, uint32_t cpu, const struct sched_event *ev,
		   uint64_t position)
{
	struct place *p = &r->now[cpu];

	if (p->rows == ROWS_MAX)
		_exit(98);
	r->shared->rows[cpu][p->rows++] = (struct row){
		.tick = ev->tick, .from = ev->task.pid, .to = ev->other.pid, .kind = ev->kind
	};
	p->position = position;
	if (p->rows % ROWS_PER_BLOCK == 0)
		publish(r, cpu);
}

void recorder_pass(struct recorder *r, uint32_t cpu, uint64_t position)
{
	r->now[cpu].position = position;
}

void recorder_lose(struct recorder *r, uint32_t cpu, enum loss_cause cause, uint64_t count,
		   uint64_t ring_total)
{
	(void)cause;
	(void)count;
	r->now[cpu].ring_total = ring_total;
}

void recorder_flush(struct recorder *r, uint32_t cpu)
{
	publish(r, cpu);
}

uint64_t recorder_ring_total(const struct recorder *r, uint32_t cpu)
{
	return r->now[cpu].ring_total;
}

static void must(int r, const struct error *e)
{
	if (!r)
		return;
	fprintf(stderr, "reader: %s\n", e->text);
	_exit(97);
}

static void drain_all(struct recorder *r, struct error *e)
{
	uint32_t cpu;

	for (cpu = 0; cpu < cpus; cpu++) {
		int ret = source_bpf.drain(r->source, cpu, r, e);

		must(ret < 0 ? ret : 0, e);
	}
}

static void read_events(struct shared *shared, bool resume)
{
	struct message_config c = { .ring_kib = 4096 };
	struct source_options o = { .config = &c, .cpus = cpus, .instance = instance };
	struct recorder r = { .shared = shared };
	struct error e = ERROR_INIT;
	uint32_t cpu;

	o.resume = resume;
	must(source_bpf.open(&r.source, &o, &e), &e);
	for (cpu = 0; cpu < cpus && resume; cpu++) {
		r.now[cpu] = shared->places[cpu][shared->which[cpu]];
		must(source_bpf.resume(r.source, cpu, r.now[cpu].position, &e), &e);
	}
	must(source_bpf.start(r.source, &e), &e);
	while (!__atomic_load_n(&shared->done, __ATOMIC_ACQUIRE)) {
		drain_all(&r, &e);
		usleep(300);
	}
	must(source_bpf.stop(r.source, &e), &e);
	drain_all(&r, &e);
	for (cpu = 0; cpu < cpus; cpu++)
		publish(&r, cpu);
	source_bpf.free(r.source, false);
	_exit(0);
}

static pid_t start_reader(struct shared *shared, bool resume)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		read_events(shared, resume);
	return pid;
}

static struct shared *make_shared(void)
{
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t cpu;

	assert_true(s != MAP_FAILED);
	for (cpu = 0; cpu < cpus; cpu++) {
		s->rows[cpu] = mmap(NULL, ROWS_MAX * sizeof(struct row), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		assert_true(s->rows[cpu] != MAP_FAILED);
	}
	return s;
}

static const struct place *get_place(const struct shared *s, uint32_t cpu)
{
	return &s->places[cpu][s->which[cpu]];
}

/* Waits until the first reader has started to record: its first rows are there. */
static void wait_for_rows(const struct shared *s)
{
	while (!get_place(s, 0)->rows)
		usleep(1000);
}

/* Never twice to it without having gone away in between. (Twice away is possible where the kernel
 * does not report the switch to it.) */
static void check_turns(const struct row *rows, uint64_t n, pid_t pid)
{
	bool runs = false;
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (rows[i].kind != SCHED_SWITCH || (rows[i].from != pid && rows[i].to != pid))
			continue;
		assert_false(runs && rows[i].to == pid);
		runs = rows[i].to == pid;
	}
	assert_false(runs);
}

/* Stamps rise, but for an interrupt within a program; so one that does not is looked for among the
 * last ones. */
static void check_doubles(const struct row *rows, uint64_t n)
{
	uint64_t latest = 0, i, k;

	for (i = 0; i < n; i++) {
		for (k = i > 5000 ? i - 5000 : 0; k < i && rows[i].tick <= latest; k++)
			assert_memory_not_equal(&rows[i], &rows[k], sizeof(rows[i]));
		if (rows[i].tick > latest)
			latest = rows[i].tick;
	}
}

static uint64_t count_rows(const struct shared *s, uint32_t kind, pid_t from)
{
	uint64_t n = 0, i;
	uint32_t cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		for (i = 0; i < get_place(s, cpu)->rows; i++)
			n += s->rows[cpu][i].kind == kind && s->rows[cpu][i].from == from;
	return n;
}

static void nothing_is_lost_or_doubled(void **state)
{
	struct shared *s = make_shared();
	uint64_t before, total = 0, lost = 0, away, forks;
	struct generator g;
	uint32_t i;
	int status;
	pid_t reader;

	(void)state;
	srand((unsigned int)time(NULL));
	generator_open(&g, "gen-resume");
	reader = start_reader(s, false);
	wait_for_rows(s);
	before = generator_get_switches(&g);
	for (i = 0; i < KILLS; i++) {
		generator_run(&g, GENERATOR_PING, 300 + (uint32_t)rand() % 1000);
		usleep((useconds_t)rand() % 5000);
		kill(reader, SIGKILL);
		waitpid(reader, &status, 0);
		assert_true(WIFSIGNALED(status)); /* it had not ended by a failure */
		generator_run(&g, GENERATOR_FORK, 2);
		reader = start_reader(s, true);
	}
	__atomic_store_n(&s->done, 1, __ATOMIC_RELEASE);
	waitpid(reader, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	for (i = 0; i < cpus; i++) {
		check_doubles(s->rows[i], get_place(s, i)->rows);
		total += get_place(s, i)->rows;
		lost += get_place(s, i)->ring_total;
	}
	if (!lost)
		check_turns(s->rows[0], get_place(s, 0)->rows, g.pid);
	print_message("%llu events, %d kills, %llu lost\n", (unsigned long long)total, KILLS,
		      (unsigned long long)lost);
	before = generator_get_switches(&g) - before;
	away = count_rows(s, SCHED_SWITCH, g.pid);
	forks = count_rows(s, SCHED_FORK, g.pid);
	/* Others may overrun even a large ring; then some of these may be among what is lost. */
	assert_true(away <= before && forks <= 2 * KILLS);
	assert_true(away + forks + lost >= before + 2 * KILLS);
	generator_close(&g);
}

/* Positions that cannot be of this ring are refused, as is what is not pinned. */
static void wrong_places_are_refused(void **state)
{
	struct message_config c = { .ring_kib = 64 };
	struct source_options o = { .config = &c, .cpus = cpus, .instance = instance };
	struct device_source *s = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	o.resume = true;
	assert_true(source_bpf.open(&s, &o, &e) < 0);
	assert_non_null(strstr(e.text, instance));
	o.resume = false;
	assert_int_equal(source_bpf.open(&s, &o, &e), 0);
	assert_int_equal(source_bpf.resume(s, 0, 0, &e), 0);
	assert_true(source_bpf.resume(s, 0, 1 << 20, &e) < 0);
	source_bpf.free(s, true);
	/* Other CPUs than those it was made for. */
	o.resume = true;
	o.cpus = cpus + 1;
	assert_true(source_bpf.open(&s, &o, &e) < 0);
	o.cpus = cpus;
	assert_int_equal(source_bpf.open(&s, &o, &e), 0);
	source_bpf.free(s, false);
	assert_true(source_bpf.open(&s, &o, &e) < 0);
	o.resume = false;
	o.instance = "../other";
	assert_true(source_bpf.open(&s, &o, &e) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_or_doubled),
		cmocka_unit_test(wrong_places_are_refused),
	};
	struct error e = ERROR_INIT;
	char path[BPF_DIR_MAX];
	int r;

	if (source_bpf.probe(&e)) {
		printf("skipped: %s\n", e.text);
		return 77;
	}
	cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	if (cpus > CPUS_MAX) {
		printf("skipped: more than %u CPUs\n", CPUS_MAX);
		return 77;
	}
	snprintf(instance, sizeof(instance), "kiseki-test-bpf-resume-%d", (int)getpid());
	r = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(path, sizeof(path), BPF_ROOT "/kiseki/%s", instance);
	bpf_unpin(path);
	return r;
}
