/* SPDX-License-Identifier: MIT */
/*
 * load_frames: what a board does while tracing it is measured.
 *
 *	load_frames SECONDS SEED
 *
 * Like a browser that draws: fifty times a second two messages set out, each wanders through some of
 * eight processes, which compute a little for it and pass it on through a pipe; apart from them three
 * threads are woken by timers of their own. Routes, and how much is computed where, come from SEED.
 * So the same SEED and SECONDS are the same work, the same hand-overs and the same checksum on every
 * board and with every tracer, and all that can differ is how long it takes. A frame that is late is
 * not left out but made up for.
 *
 * At the end it prints as one line of JSON: `frames`, `hops` and `ticks` done, `sum` over what was
 * computed, `late` frames, the microseconds from the start of a frame to its end, mean and longest,
 * and the CPU time of all its tasks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAGES 8
#define MESSAGES 2
#define HOPS_MAX 7
#define FRAME_NS 20000000u
#define WORK_MIN 3000u
#define WORK_SPREAD 24000u
#define TICK_WORK 5000u
#define TICKERS 3
#define SECOND_NS 1000000000u

/* One message is less than PIPE_BUF: no write of it is torn. */
struct message {
	uint32_t hops; /* still to make; 0 on its way back */
	uint32_t sum;
	uint32_t work[HOPS_MAX];
	uint8_t stage[HOPS_MAX];
	uint8_t is_end;
};

struct ticker {
	const char *name;
	uint32_t period_ms;
	uint64_t ticks; /* to make */
	uint32_t sum;
};

static const char *const stage_name[STAGES] = {
	"browser",	 "renderer", "er.ServerThread", "surfaceflinger", "mediaserver",
	"system_server", "netd",     "servicemanager",
};

static int stage_pipe[STAGES][2], back[2];

static uint32_t random_next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static uint32_t compute(uint32_t seed, uint32_t rounds)
{
	uint32_t state = seed | 1;

	while (rounds--)
		random_next(&state);
	return state;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t due_ns)
{
	struct timespec t = { .tv_sec = (time_t)(due_ns / SECOND_NS),
			      .tv_nsec = (long)(due_ns % SECOND_NS) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void send_message(int fd, const struct message *m)
{
	if (write(fd, m, sizeof(*m)) != sizeof(*m))
		_exit(1);
}

/* A message's hops are counted down, so its next stage is found from the end. */
static void pass_on(const struct message *m)
{
	send_message(m->hops ? stage_pipe[m->stage[m->hops - 1]][1] : back[1], m);
}

static _Noreturn void run_stage(unsigned int number)
{
	struct message m;

	prctl(PR_SET_NAME, stage_name[number]);
	while (read(stage_pipe[number][0], &m, sizeof(m)) == sizeof(m) && !m.is_end) {
		m.hops--;
		m.sum = compute(m.sum, m.work[m.hops]);
		pass_on(&m);
	}
	_exit(0);
}

static void *run_ticker(void *argument)
{
	struct ticker *t = argument;
	uint64_t due = now_ns(), i;

	prctl(PR_SET_NAME, t->name);
	for (i = 0; i < t->ticks; i++) {
		t->sum = compute(t->sum, TICK_WORK);
		sleep_until(due += t->period_ms * 1000000ull);
	}
	return NULL;
}

/* Sends a message on its way; the hops that it will make. */
static uint32_t set_out(uint32_t *state)
{
	struct message m = { .hops = 1 + random_next(state) % HOPS_MAX };
	uint32_t i;

	m.sum = random_next(state);
	for (i = 0; i < m.hops; i++) {
		m.stage[i] = (uint8_t)(random_next(state) % STAGES);
		m.work[i] = WORK_MIN + random_next(state) % WORK_SPREAD;
	}
	pass_on(&m);
	return m.hops;
}

struct outcome {
	uint64_t frames, hops, late, total_us, longest_us;
	uint32_t sum;
};

static void run_frame(struct outcome *o, uint32_t *state, uint64_t due)
{
	struct message m;
	uint64_t us;
	uint32_t i;

	for (i = 0; i < MESSAGES; i++)
		o->hops += set_out(state);
	for (i = 0; i < MESSAGES; i++) {
		if (read(back[0], &m, sizeof(m)) != sizeof(m))
			exit(1);
		o->sum += m.sum;
	}
	us = (now_ns() - due) / 1000;
	o->frames++;
	o->late += us * 1000 > FRAME_NS;
	o->total_us += us;
	o->longest_us = us > o->longest_us ? us : o->longest_us;
}

static void start_stages(void)
{
	unsigned int i;

	for (i = 0; i < STAGES; i++)
		if (pipe(stage_pipe[i]) < 0)
			exit(1);
	for (i = 0; i < STAGES; i++)
		switch (fork()) {
		case -1:
			exit(1);
		case 0:
			run_stage(i);
		}
}

static void end_stages(void)
{
	const struct message end = { .is_end = 1 };
	unsigned int i;

	for (i = 0; i < STAGES; i++)
		send_message(stage_pipe[i][1], &end);
	while (wait(NULL) > 0)
		;
}

static double cpu_s(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	struct ticker ticker[TICKERS] = { { "Binder_1", 10, 0, 1 },
					  { "HeapWorker", 31, 0, 2 },
					  { "SensorThread", 100, 0, 3 } };
	uint64_t frames, due, i, ticks = 0;
	pthread_t thread[TICKERS];
	struct outcome o = { 0 };
	uint32_t state;

	if (argc != 3 || pipe(back) < 0) {
		fprintf(stderr, "usage: load_frames SECONDS SEED\n");
		return 2;
	}
	frames = strtoull(argv[1], NULL, 10) * (SECOND_NS / FRAME_NS);
	state = (uint32_t)strtoul(argv[2], NULL, 10) | 1;
	start_stages();
	for (i = 0; i < TICKERS; i++) {
		ticker[i].ticks = frames * FRAME_NS / (ticker[i].period_ms * 1000000ull);
		if (pthread_create(&thread[i], NULL, run_ticker, &ticker[i]) != 0)
			return 1;
	}
	for (i = 0, due = now_ns(); i < frames; i++) {
		run_frame(&o, &state, due);
		sleep_until(due += FRAME_NS);
	}
	for (i = 0; i < TICKERS; i++) {
		pthread_join(thread[i], NULL);
		ticks += ticker[i].ticks;
		o.sum += ticker[i].sum;
	}
	end_stages();
	printf("{\"frames\": %llu, \"hops\": %llu, \"ticks\": %llu, \"sum\": %u, \"late\": %llu, "
	       "\"mean_us\": %.1f, \"longest_us\": %llu, \"cpu_s\": %.6f}\n",
	       (unsigned long long)o.frames, (unsigned long long)o.hops, (unsigned long long)ticks,
	       o.sum, (unsigned long long)o.late, (double)o.total_us / (double)o.frames,
	       (unsigned long long)o.longest_us, cpu_s(RUSAGE_SELF) + cpu_s(RUSAGE_CHILDREN));
	return 0;
}
