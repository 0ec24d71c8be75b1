/* SPDX-License-Identifier: MIT */
/* file: see file.h. */
#include "device/func/file.h"

#include <limits.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "device/func/chunk.h"
#include "device/func/slot.h"
#include "device/func/sys.h"
#include "wire/varint.h"

#define PAGE 4096U
#define BYTES_LEAST (256U << 10)
#define SAME_NAMES_MAX 10000U
#define COMM_BYTES DOOR_COMM_BYTES
#define SILENT_NS 10000000000U /* that an agent which did not answer is left alone */

static void add_text(char *out, const char *text)
{
	memcpy(out + strlen(out), text, strlen(text) + 1);
}

static void add_number(char *out, uint32_t number)
{
	char digits[11];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	add_text(out, digits + at);
}

/* The first thread's name; this one's where that cannot be read. */
static void get_comm(char comm[COMM_BYTES])
{
	int fd = sys_open("/proc/self/comm", O_RDONLY, 0);
	ssize_t n = 0;

	memset(comm, 0, COMM_BYTES);
	if (fd >= 0) {
		n = sys_read(fd, comm, COMM_BYTES - 1);
		sys_close(fd);
	}
	if (n > 0 && comm[n - 1] == '\n')
		comm[n - 1] = '\0';
	if (!comm[0])
		prctl(PR_GET_NAME, comm);
	if (!comm[0])
		comm[0] = '_';
}

/* Makes the file under the first name that is free. */
static int create(struct gate *g, const char *comm)
{
	char *name;
	size_t base;
	uint32_t n;
	int fd = -1;

	g->path[0] = '\0';
	add_text(g->path, gate_settings.folder);
	add_text(g->path, "/");
	name = g->path + strlen(g->path);
	add_text(name, comm);
	for (; *name; name++)
		if (*name == '/' || (uint8_t)*name < ' ')
			*name = '_';
	add_text(g->path, ".");
	add_number(g->path, g->pid);
	base = strlen(g->path);
	for (n = 1; n < SAME_NAMES_MAX; n++) {
		if (n > 1) {
			g->path[base] = '\0';
			add_text(g->path, ".");
			add_number(g->path, n);
		}
		fd = sys_open(g->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd;
}

static uint64_t limit_of(int resource, uint32_t part)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur / part;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How the file is divided; at most half of it is slots. */
static void plan(struct gate *g, uint64_t bytes)
{
	const struct settings *s = &gate_settings;
	uint64_t slot = s->choosy ? sizeof(struct slot) : offsetof(struct slot, choice);
	uint64_t head;

	slot = (slot + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	g->slot_bytes = (uint32_t)slot;
	g->n_slots = (uint32_t)least(s->threads, bytes / 2 / slot);
	g->n_slots += !g->n_slots;
	head = FUNC_BUFFER_HEADER + (uint64_t)g->n_slots * slot;
	g->chunk_bytes = (uint32_t)s->chunk_bytes;
	while (g->chunk_bytes > 16384 && head + 4ULL * g->chunk_bytes > bytes)
		g->chunk_bytes = g->chunk_bytes / 2 & ~(PAGE - 1);
	g->n_chunks = head < bytes ? (uint32_t)least((bytes - head) / g->chunk_bytes,
						     FUNC_BUFFER_CHUNKS_MAX)
				   : 0;
	g->bytes = head + (uint64_t)g->n_chunks * g->chunk_bytes;
}

/* The mapping, in the largest size that can be had up to this one. A file of our own gets it, too. */
static uint8_t *map(struct gate *g, int fd, uint64_t bytes, bool own)
{
	void *at = MAP_FAILED;

	errno = ENOMEM;
	for (; bytes >= BYTES_LEAST; bytes /= 2) {
		plan(g, bytes);
		if (g->n_chunks < 2 || g->bytes > SIZE_MAX / 2)
			continue;
		if (own && ftruncate(fd, (off_t)g->bytes) < 0)
			return NULL;
		at = mmap(NULL, (size_t)g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at != MAP_FAILED)
			break;
	}
	if (at == MAP_FAILED)
		return NULL;
	madvise(at, (size_t)g->bytes, MADV_DONTFORK);
	if (!chunk_populate_first(g, at, FUNC_BUFFER_HEADER)) {
		munmap(at, (size_t)g->bytes);
		errno = ENOSPC;
		return NULL;
	}
	return (uint8_t *)at;
}

/* What the settings wish and the process may map. */
static uint64_t wish(void)
{
	return least(gate_settings.bytes, limit_of(RLIMIT_AS, 8));
}

static void fill_numbers(const struct gate *g, uint8_t *h)
{
	put_le32(h + FUNC_BUFFER_AT_VERSION, FUNC_BUFFER_VERSION);
	put_le32(h + FUNC_BUFFER_AT_HEADER_BYTES, FUNC_BUFFER_HEADER);
	put_le32(h + FUNC_BUFFER_AT_SLOTS, g->n_slots);
	put_le32(h + FUNC_BUFFER_AT_SLOT_BYTES, g->slot_bytes);
	put_le32(h + FUNC_BUFFER_AT_CHUNKS, g->n_chunks);
	put_le32(h + FUNC_BUFFER_AT_CHUNK_BYTES, g->chunk_bytes);
	put_le64(h + FUNC_BUFFER_AT_SLOTS_AT, (uint64_t)(g->slots - h));
	put_le64(h + FUNC_BUFFER_AT_CHUNKS_AT, (uint64_t)(g->chunks - h));
	put_le32(h + FUNC_BUFFER_AT_PID, g->pid);
	put_le32(h + FUNC_BUFFER_AT_PARENT, (uint32_t)getppid());
	put_le64(h + FUNC_BUFFER_AT_START_TICK, func_clock_tick(g->shift, g->kind));
	put_le64(h + FUNC_BUFFER_AT_START_MONOTONIC, func_clock_ns(CLOCK_MONOTONIC));
	put_le64(h + FUNC_BUFFER_AT_START_REALTIME, func_clock_ns(CLOCK_REALTIME));
	put_le64(h + FUNC_BUFFER_AT_TICK_HZ, gate_clock.hz);
	put_le32(h + FUNC_BUFFER_AT_TICK_SHIFT, gate_clock.shift);
	put_le32(h + FUNC_BUFFER_AT_CLOCK, gate_clock.kind);
	put_le32(h + FUNC_BUFFER_AT_POLICY, g->policy);
}

static void fill(const struct gate *g, uint8_t *h, const char *comm)
{
	ssize_t n;

	fill_numbers(g, h);
	memcpy(h + FUNC_BUFFER_AT_COMM, comm, COMM_BYTES);
	n = readlink("/proc/self/exe", (char *)h + FUNC_BUFFER_AT_EXE, FUNC_BUFFER_EXE_LEN - 1);
	if (n < 0)
		h[FUNC_BUFFER_AT_EXE] = 0;
	memcpy(h + FUNC_BUFFER_AT_SETTINGS, gate_settings.text, SETTINGS_TEXT_MAX - 1);
}

static uint8_t *open_own(struct gate *g, const char *comm, struct file_failure *ret)
{
	uint8_t *base;
	int fd;

	ret->verb = "create";
	fd = create(g, comm);
	ret->number = errno;
	if (fd < 0)
		return NULL;
	ret->verb = "map";
	base = map(g, fd, least(wish(), limit_of(RLIMIT_FSIZE, 1)), true);
	ret->number = errno;
	sys_close(fd);
	if (!base)
		unlink(g->path);
	return base;
}

static int ask(const struct gate *g, uint32_t verb, const char *comm, struct door_answer *ret)
{
	struct door_request q = {
		.verb = verb, .bytes = wish(), .clock = g->kind, .shift = g->shift
	};

	memcpy(q.comm, comm, COMM_BYTES);
	return door_ask(gate_settings.agent, &q, ret);
}

/* The agent's file is as long as it is; of one that is longer than wished the rest is left alone. */
static uint8_t *open_given(struct gate *g, const char *comm, struct file_failure *ret)
{
	struct door_answer answer;
	uint8_t *base;
	int rc;

	g->path[0] = '\0';
	add_text(g->path, gate_settings.agent);
	rc = ask(g, FUNC_DOOR_OPEN, comm, &answer);
	ret->verb = answer.text[0] ? "be traced by" : "ask";
	ret->number = -rc;
	memcpy(ret->text, answer.text, sizeof(ret->text));
	if (rc < 0)
		return NULL;
	ret->verb = "map what came from";
	base = map(g, answer.fd[0], least(wish(), answer.bytes), false);
	ret->number = errno;
	sys_close(answer.fd[0]);
	if (!base) {
		sys_close(answer.fd[1]);
		return NULL;
	}
	g->maps_given = (uint32_t)answer.fd[1] + 1;
	put_le32(base + FUNC_BUFFER_AT_DRAINED, answer.agent);
	put_le32(base + FUNC_BUFFER_AT_ON, answer.on);
	return base;
}

uint8_t *file_open(struct gate *g, struct file_failure *ret)
{
	char comm[COMM_BYTES];
	bool own = !gate_settings.agent[0];
	uint8_t *base;

	memset(ret, 0, sizeof(*ret));
	get_comm(comm);
	base = own ? open_own(g, comm, ret) : open_given(g, comm, ret);
	if (!base)
		return NULL;
	if (own || !gate_settings.on)
		put_le32(base + FUNC_BUFFER_AT_ON, (uint32_t)gate_settings.on);
	g->keyed = !own || g->policy == FUNC_FLIGHT;
	g->slots = base + FUNC_BUFFER_HEADER;
	g->chunks = g->slots + (size_t)g->n_slots * g->slot_bytes;
	fill(g, base, comm);
	return base;
}

/* Each generation is asked for anew: no descriptor stays in the program. */
static int ask_maps(struct gate *g)
{
	static const char nobody[COMM_BYTES];
	uint64_t now = func_clock_ns(CLOCK_MONOTONIC);
	struct door_answer answer;

	if (g->silent_ns && now - g->silent_ns < SILENT_NS)
		return -1;
	g->silent_ns = ask(g, FUNC_DOOR_MAPS, nobody, &answer) == -ETIMEDOUT ? now : 0;
	return answer.fd[0];
}

/* Makes it, in place of what has its name: whoever may write the folder could have put a link there, which
 * would lead to a file of another name. */
static int create_maps(struct gate *g, const char *path)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW;
	struct stat st;
	int fd = sys_open(path, flags, 0600);

	if (fd < 0 && errno == EEXIST && unlink(path) == 0)
		fd = sys_open(path, flags, 0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd;
	g->maps_device = st.st_dev;
	g->maps_inode = st.st_ino;
	return fd;
}

/* Opens the one that was made, and nothing else that may have its name now. */
static int reopen_maps(const struct gate *g, const char *path)
{
	int fd = sys_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 ||
	    (fstat(fd, &st) == 0 && st.st_dev == g->maps_device && st.st_ino == g->maps_inode))
		return fd;
	sys_close(fd);
	return -1;
}

int file_open_maps(struct gate *g)
{
	char path[GATE_PATH_MAX + 8];
	int fd = (int)g->maps_given - 1;

	g->maps_given = 0;
	if (fd >= 0)
		return fd;
	if (gate_settings.agent[0])
		return ask_maps(g);
	path[0] = '\0';
	add_text(path, g->path);
	add_text(path, ".maps");
	return g->maps_inode ? reopen_maps(g, path) : create_maps(g, path);
}

void file_close_maps(struct gate *g)
{
	if (g->maps_given)
		sys_close((int)g->maps_given - 1);
	g->maps_given = 0;
}
