/* SPDX-License-Identifier: MIT */
/* handover: see handover.h. */
#include "device/agent/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memfile.h"
#include "command/config_args.h"
#include "device/agent/identity.h"
#include "device/agent/kernel_tls.h"
#include "device/agent/line.h"
#include "device/agent/powers.h"
#include "device/agent/tls.h"
#include "wire/retry.h"

#define LINE_MAX_LEN 256U
#define LOOK_MS 5000U	/* a change of `link` wakes the agent; this is for what it might miss */
#define LIVED_MS 10000U /* protocol.md, section 3 */

struct handover {
	const struct handover_options *o;
	struct line *line;
	int link; /* the driver's file; a change makes it ready */
	int signals;
	bool handed; /* the driver has a connection of ours */
	uint64_t handed_ms, now_ms;
	struct retry retry;
	char said[LINE_MAX_LEN]; /* the last failure: the same again is not worth another line */
};

static void say(struct handover *h, const char *fmt, ...)
{
	char line[2 * LINE_MAX_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	h->o->log(h->o->log_context, line);
}

static void say_once(struct handover *h, const char *line)
{
	if (!strcmp(h->said, line))
		return;
	snprintf(h->said, sizeof(h->said), "%s", line);
	say(h, "%s", line);
}

/* --- the driver's files --- */

static int open_file(const struct handover *h, const char *name, int flags)
{
	char path[LINE_MAX_LEN];

	snprintf(path, sizeof(path), "%s/%s", h->o->folder, name);
	return open(path, flags | O_CLOEXEC);
}

/* One line, in one write: the driver takes it whole. */
static int put_file(const struct handover *h, const char *name, const char *line, struct error *e)
{
	int fd = open_file(h, name, O_WRONLY), r = 0;

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		r = error_set(e, errno, "cannot write \"%s\" to the driver's %s: %m", line, name);
	if (fd >= 0)
		close(fd);
	return r;
}

static void get_file(const struct handover *h, const char *name, char line[LINE_MAX_LEN])
{
	int fd = open_file(h, name, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, line, LINE_MAX_LEN - 1);

	line[n > 0 ? n : 0] = 0;
	line[strcspn(line, "\n")] = 0;
	if (fd >= 0)
		close(fd);
}

/* Reading it from its start is also what makes the next change a new one. False: the file is gone, and
 * a driver that is loaded again has another one. */
static bool read_link(const struct handover *h, char line[LINE_MAX_LEN])
{
	ssize_t n = pread(h->link, line, LINE_MAX_LEN - 1, 0);

	line[n > 0 ? n : 0] = 0;
	line[strcspn(line, "\n")] = 0;
	return n >= 0 || errno != ENODEV;
}

/* --- telling it who it is and what to do --- */

/* A driver that holds a run of which some collector has a part keeps its identity. */
static int introduce(struct handover *h, struct error *e)
{
	const struct settings *s = h->o->settings;
	struct error busy = ERROR_INIT;
	struct identity who;
	char hex[2 * sizeof(who.device.bytes) + 1];
	size_t i;
	int r = identity_init(&who, s->name, s->state_dir, e);

	if (r < 0)
		return r;
	for (i = 0; i < sizeof(who.device.bytes); i++)
		snprintf(hex + 2 * i, 3, "%02x", who.device.bytes[i]);
	r = put_file(h, "name", s->name, e);
	if (r < 0)
		return r;
	r = put_file(h, "id", hex, &busy);
	if (r == -EBUSY)
		say(h, "the driver records already, as the device it said it was");
	else if (r < 0)
		return error_set(e, -r, "%s", busy.text);
	return 0;
}

/* A list of the driver's settings: a backslash before what would end a word of it. */
static void put_word(FILE *f, const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < len && word[i]; i++) {
		if (strchr(" ,\\", word[i]))
			fputc('\\', f);
		fputc(word[i], f);
	}
}

static void put_lists(FILE *f, const struct message_config *c)
{
	uint32_t i;

	for (i = 0; i < c->n_pids; i++)
		fprintf(f, "%s%d", i ? "," : "pids=", c->pids[i]);
	for (i = 0; i < c->n_comms; i++) {
		fputs(i ? "," : " comms=", f);
		put_word(f, c->comms[i], SCHED_COMM_LEN);
	}
	for (i = 0; i < c->n_cgroups; i++) {
		fputs(i ? "," : " cgroups=", f);
		put_word(f, c->cgroups[i], CONFIG_CGROUP_LEN);
	}
}

static void put_events(FILE *f, uint32_t events)
{
	const char *between = " events=";
	uint32_t kind;

	for (kind = 0; kind < SCHED_KINDS; kind++) {
		if (!(events & 1U << kind))
			continue;
		fprintf(f, "%s%s", between, sched_kind_word(kind));
		between = ",";
	}
}

/* What differs from the agent's defaults: of the rest the driver has its own. */
static int configure(struct handover *h, struct error *e)
{
	const struct message_config *c = &h->o->settings->config;
	_cleanup_free_ char *line = NULL;
	struct settings usual;
	size_t len;
	FILE *f = memfile_open(&line, &len);

	if (!f)
		return error_set(e, ENOMEM, "cannot configure the driver: out of memory");
	settings_init(&usual);
	put_lists(f, c);
	if (c->events != usual.config.events)
		put_events(f, c->events);
	if (c->policy != usual.config.policy)
		fprintf(f, " policy=%s",
			c->policy == POLICY_FLIGHT ? "flight-recorder" : "keep-oldest");
	if (c->codec != usual.config.codec)
		fprintf(f, " codec=%s", config_codec_word(c->codec));
	if (c->flush_ms != usual.config.flush_ms)
		fprintf(f, " flush_ms=%u", c->flush_ms);
	if (c->block_bytes != usual.config.block_bytes)
		fprintf(f, " block=%u", c->block_bytes);
	if (fclose(f))
		return error_set(e, ENOMEM, "cannot configure the driver: out of memory");
	return len ? put_file(h, "settings", line, e) : 0;
}

static int start_if_told(struct handover *h, struct error *e)
{
	char state[LINE_MAX_LEN];
	int r;

	get_file(h, "state", state);
	if (!h->o->settings->start || !strcmp(state, "tracing"))
		return 0;
	r = configure(h, e);
	return r < 0 ? r : put_file(h, "state", "start", e);
}

/* --- the connection --- */

static void lose(struct handover *h, const char *why)
{
	say_once(h, why);
	line_close(h->line);
	retry_failed(&h->retry, h->now_ms, h->handed && h->now_ms - h->handed_ms >= LIVED_MS);
	h->handed = false;
}

static void hand(struct handover *h)
{
	struct error e = ERROR_INIT;
	int fd = line_take(h->line, &e), r = fd;
	char number[16];

	snprintf(number, sizeof(number), "%d", fd);
	if (r >= 0)
		r = put_file(h, "socket", number, &e);
	if (fd >= 0)
		close(fd); /* the driver has its own hold on the socket */
	if (r < 0) {
		lose(h, e.text);
		return;
	}
	h->handed = true;
	h->handed_ms = h->now_ms;
}

/* By its clock it is told when to renew the certificate. */
static void take_time(struct handover *h)
{
	char line[LINE_MAX_LEN];
	unsigned long long ns;

	get_file(h, "collector_time", line);
	if (sscanf(line, "%llu", &ns) == 1 && ns)
		line_set_time(h->line, ns, h->now_ms);
}

/* The driver says "down" until it has looked at what it was handed. */
static int look_at_link(struct handover *h, struct error *e)
{
	char line[LINE_MAX_LEN];

	if (!read_link(h, line))
		return error_set(e, ENODEV, "cannot go on: the driver was unloaded");
	if (!h->handed)
		return 0;
	if (!strncmp(line, "up", 2) && h->said[0] != 'i') {
		take_time(h);
		say(h, "is connected to %s as session%s", h->o->settings->collector, line + 2);
		snprintf(h->said, sizeof(h->said), "is connected");
	}
	if (!strncmp(line, "down", 4))
		lose(h, line[4] ? line + 5 : "the driver's link is down");
	return 0;
}

static void connect_if_due(struct handover *h)
{
	struct error e = ERROR_INIT;
	int r;

	/* With the new certificate there is a new connection; until it is there the driver has the old. */
	if (line_renew(h->line, h->now_ms)) {
		line_close(h->line);
		h->handed = false;
	}
	if (h->handed || (line_fd(h->line) < 0 && h->now_ms < h->retry.at_ms))
		return;
	r = line_open(h->line, h->now_ms, &e);
	if (r < 0)
		lose(h, e.text);
	if (r > 0)
		hand(h);
}

static int wait_ms(const struct handover *h)
{
	uint64_t at = h->now_ms + LOOK_MS, renewal = line_next_renewal(h->line, h->now_ms);

	if (!h->handed && line_fd(h->line) < 0)
		at = h->retry.at_ms < at ? h->retry.at_ms : at;
	else if (!h->handed && line_next(h->line) < at)
		at = line_next(h->line);
	at = renewal < at ? renewal : at;
	return at > h->now_ms ? (int)(at - h->now_ms) : 0;
}

/* Until a signal comes. */
static int serve(struct handover *h, struct error *e)
{
	struct pollfd fds[3] = { { .fd = h->signals, .events = POLLIN },
				 { .fd = h->link, .events = POLLPRI } };

	while (!(fds[0].revents & POLLIN)) {
		h->now_ms = clock_mono_ms();
		if (look_at_link(h, e) < 0)
			return -ENODEV;
		connect_if_due(h);
		fds[2].fd = line_fd(h->line);
		fds[2].events = line_events(h->line);
		if (poll(fds, 3, wait_ms(h)) < 0 && errno != EINTR)
			return error_set(e, errno, "cannot wait: %s", strerror(errno));
	}
	return 0;
}

static bool is_loaded(const char *folder)
{
	char path[LINE_MAX_LEN];

	snprintf(path, sizeof(path), "%s/socket", folder);
	return access(path, W_OK) == 0;
}

bool handover_is_wanted(const char *folder)
{
	struct handover_options o = { .folder = folder };
	char collector[LINE_MAX_LEN];

	if (!is_loaded(folder))
		return false;
	get_file(&(struct handover){ .o = &o }, "collector", collector);
	return !collector[0];
}

/* What a device with keys sends is secret: the driver must not go to an address by itself. */
static int forbid_plain(struct handover *h, struct error *e)
{
	char collector[LINE_MAX_LEN];

	get_file(h, "collector", collector);
	if (!collector[0] || !tls_has_keys(h->o->settings->state_dir))
		return 0;
	say(h, "this device has keys, so the driver does not connect to %s by itself any more",
	    collector);
	return put_file(h, "collector", "\n", e);
}

static int open_all(struct handover *h, struct error *e)
{
	const struct settings *s = h->o->settings;
	uint64_t seed = clock_mono_ms();
	sigset_t set;
	int r;

	if (!is_loaded(h->o->folder))
		return error_set(e, ENOENT,
				 "cannot use the driver: %s/socket is not there; "
				 "is kiseki.ko loaded?",
				 h->o->folder);
	r = line_new(&h->line, &(struct line_options){ s->collector, s->name, s->state_dir, true },
		     e);
	if (r < 0)
		return r;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed ^= (uint64_t)getpid() << 32;
	retry_init(&h->retry, seed);
	h->link = open_file(h, "link", O_RDONLY);
	if (h->link < 0)
		return error_set(e, errno, "cannot open the driver's link: %m");
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	h->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return h->signals < 0 ? error_set(e, errno, "cannot wait for signals: %m") : 0;
}

int handover_run(const struct handover_options *o, struct error *e)
{
	struct handover h = { .o = o, .link = -1, .signals = -1 };
	int r = open_all(&h, e);

	if (r >= 0)
		r = forbid_plain(&h, e);
	if (tls_has_keys(o->settings->state_dir))
		kernel_tls_load(); /* as long as it may */
	if (r >= 0)
		r = powers_keep(POWERS_OF_DRIVER, 0, e);
	if (r >= 0)
		r = introduce(&h, e);
	if (r >= 0)
		r = start_if_told(&h, e);
	if (r >= 0)
		r = serve(&h, e);
	if (h.link >= 0)
		close(h.link);
	if (h.signals >= 0)
		close(h.signals);
	line_free(h.line);
	return r;
}
