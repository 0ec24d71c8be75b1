/* SPDX-License-Identifier: MIT */
/*
 * input: see input.h.
 *
 * Looking into a pipe without taking from it is what tee(2) is for: it copies what waits in the
 * pipe into another one and leaves it there. Where that does not work (a socket, a terminal), the
 * whole input is copied to a file and looked at there.
 */
#include "convert/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "convert/import.h"
#include "convert/source_child.h"
#include "convert/unpack.h"
#include "store/ksk.h"
#include "trace/ksk_source.h"

#define CHILD_MEMORY (1ULL << 30) /* of a reader, beside what its file has */
#define COPY_BUFFER (256U * 1024)

struct input {
	char *path;	  /* as given */
	char fd_path[32]; /* the temporary file, as a path for readers that want one */
	int fd;
	enum recognised format;
	uint8_t *map;
	size_t map_len;
	uint64_t size;
	uint64_t clock_hz;
	struct trace_source *source;
};

static int cannot_read(const struct input *in, int code, struct error *e)
{
	return error_set(e, code, "cannot read %s: %s", in->path,
			 strerror(code < 0 ? -code : code));
}

/* --- pipes --- */

/* How much of the pipe could be looked at; negative errno if it cannot be done. */
static ssize_t peek_once(int fd, uint8_t *data, size_t len)
{
	_cleanup_close_ int from = -1;
	_cleanup_close_ int to = -1;
	int ends[2];
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	from = ends[0];
	to = ends[1];
	n = tee(fd, to, len, 0);
	if (n > 0)
		n = read(from, data, (size_t)n);
	return n < 0 ? -errno : n;
}

/* Waits until there is enough to tell the format, or the writer is done. */
static ssize_t peek(int fd, uint8_t *data, size_t len)
{
	static const struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	for (;;) {
		n = peek_once(fd, data, len);
		if (n == -EINTR)
			continue;
		if (n <= 0 || (size_t)n >= RECOGNISE_LEAST)
			return n;
		if (poll(&p, 1, 0) == 1 && p.revents & POLLHUP)
			return peek_once(fd, data, len);
		nanosleep(&pause, NULL); /* a few bytes wait: poll() would return at once */
	}
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static void replace_fd(struct input *in, int *fd)
{
	close(in->fd);
	in->fd = take_fd(fd);
	snprintf(in->fd_path, sizeof(in->fd_path), "/proc/self/fd/%d", in->fd);
}

/* Copies all of the pipe to a temporary file, which takes its place. */
static int spool(struct input *in, struct error *e)
{
	_cleanup_free_ char *buffer = malloc(COPY_BUFFER);
	_cleanup_close_ int fd = -1;
	ssize_t n;
	int r;

	if (!buffer)
		return cannot_read(in, ENOMEM, e);
	r = unpack_temporary(&fd, e);
	if (r < 0)
		return r;
	for (;;) {
		n = read(in->fd, buffer, COPY_BUFFER);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cannot_read(in, errno, e);
		if (n == 0)
			break;
		r = write_all(fd, buffer, (size_t)n);
		if (r < 0)
			return error_set(e, r, "cannot write a temporary file: %s", strerror(-r));
	}
	replace_fd(in, &fd);
	return 0;
}

/* --- files --- */

static int map_file(struct input *in, struct error *e)
{
	struct stat st;
	void *p;

	if (fstat(in->fd, &st) < 0)
		return cannot_read(in, errno, e);
	in->size = (uint64_t)st.st_size;
	if (!in->size)
		return error_set(e, EBADMSG, "cannot read %s: it is empty", in->path);
	if (in->size > SIZE_MAX)
		return cannot_read(in, EFBIG, e);
	p = mmap(NULL, (size_t)in->size, PROT_READ, MAP_PRIVATE, in->fd, 0);
	if (p == MAP_FAILED)
		return cannot_read(in, errno, e);
	in->map = p;
	in->map_len = (size_t)in->size;
	return 0;
}

/* In the reader's own process. */
static int open_tracedat(const struct source_child_job *job, struct trace_source **ret,
			 struct error *e)
{
	return source_tracedat_open(ret, job->bytes, e);
}

static int open_text(const struct source_child_job *job, struct trace_source **ret, struct error *e)
{
	return job->child.fd < 0 ? source_text_open(ret, job->bytes, e)
				 : source_text_open_fd(ret, job->child.fd, e);
}

static void unmap(struct input *in)
{
	if (in->map)
		munmap(in->map, in->map_len);
	in->map = NULL;
}

/* What the file is; -errno. */
static int recognise_fd(struct input *in)
{
	uint8_t head[RECOGNISE_BYTES];
	ssize_t n = pread(in->fd, head, sizeof(head), 0);

	if (n < 0)
		return -errno;
	in->format = recognise_bytes(head, (size_t)n);
	return 0;
}

/* The file is compressed: what was in it takes its place. */
static int unpack(struct input *in, struct error *e)
{
	_cleanup_close_ int fd = -1;
	int r = map_file(in, e);

	if (r == 0)
		r = unpack_file(in->format, (struct import_bytes){ in->map, in->map_len }, &fd, e);
	unmap(in);
	if (r < 0)
		return r;
	replace_fd(in, &fd);
	r = recognise_fd(in);
	return r < 0 ? cannot_read(in, -r, e) : 0;
}

static int open_file(struct input *in, struct error *e)
{
	struct source_child_job job;
	struct import_bytes bytes;
	int r = recognise_fd(in);

	if (r < 0)
		return cannot_read(in, -r, e);
	if (unpack_can(in->format)) {
		r = unpack(in, e);
		if (r < 0)
			return r;
	}
	if (in->format == RECOGNISED_KSK) {
		struct stat st;

		in->size = fstat(in->fd, &st) < 0 ? 0 : (uint64_t)st.st_size;
		r = source_ksk_open(&in->source, input_get_path(in), e);
		if (r >= 0 && in->clock_hz && clock_is_ticks(&in->source->info.clock))
			clock_set_rate(&in->source->info.clock, in->clock_hz);
		return r;
	}
	r = map_file(in, e);
	if (r < 0)
		return r;
	bytes = (struct import_bytes){ .data = in->map, .len = in->map_len };
	job = (struct source_child_job){ .bytes = bytes,
					 .child = { .fd = -1,
						    .memory_bytes = CHILD_MEMORY + in->size,
						    .input_bytes = in->size },
					 .clock_hz = in->clock_hz };
	switch (in->format) {
	case RECOGNISED_TRACEDAT:
		job.open = open_tracedat;
		break;
	case RECOGNISED_TEXT:
	case RECOGNISED_HTML:
		job.open = open_text;
		break;
	default:
		return recognise_refuse(in->format, in->path, e);
	}
	return source_child_open(&in->source, &job, e);
}

static int open_pipe(struct input *in, struct error *e)
{
	uint8_t head[RECOGNISE_BYTES];
	ssize_t n = peek(in->fd, head, sizeof(head));
	struct source_child_job job = { .child = { .prepare = source_text_prepare,
						   .memory_bytes = CHILD_MEMORY },
					.open = open_text,
					.clock_hz = in->clock_hz };
	int r;

	if (n == 0)
		return error_set(e, EBADMSG, "cannot read %s: it is empty", in->path);
	if (n > 0 && recognise_bytes(head, (size_t)n) == RECOGNISED_TEXT) {
		job.child.fd = take_fd(&in->fd);
		in->format = RECOGNISED_TEXT;
		return source_child_open(&in->source, &job, e);
	}
	r = spool(in, e);
	return r < 0 ? r : open_file(in, e);
}

/* The bytes of the files in a folder, or in the folder `kernel` of a session of LTTng. */
static uint64_t folder_size(const char *path)
{
	char inner[PATH_MAX];
	uint64_t size = 0;
	struct dirent *one;
	struct stat st;
	DIR *d;

	snprintf(inner, sizeof(inner), "%s/kernel", path);
	d = opendir(stat(inner, &st) == 0 && S_ISDIR(st.st_mode) ? inner : path);
	while (d && (one = readdir(d)))
		if (fstatat(dirfd(d), one->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
			size += (uint64_t)st.st_size;
	if (d)
		closedir(d);
	return size;
}

static int open_any(struct input *in, struct error *e)
{
	struct stat st;

	if (strcmp(in->path, "-")) {
		in->fd = open(in->path, O_RDONLY | O_CLOEXEC);
	} else {
		in->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		snprintf(in->fd_path, sizeof(in->fd_path), "/proc/self/fd/%d", in->fd);
	}
	if (in->fd < 0 || fstat(in->fd, &st) < 0)
		return cannot_read(in, errno, e);
	if (S_ISDIR(st.st_mode)) {
		in->format = recognise_folder(in->path);
		if (in->format == RECOGNISED_BOOTCHART)
			return recognise_refuse(in->format, in->path, e);
		if (in->format != RECOGNISED_CTF)
			return error_set(e, EBADMSG,
					 "cannot read %s: a folder without a CTF metadata file",
					 in->path);
		in->size = folder_size(in->path);
		return source_ctf_open(&in->source, in->path, e);
	}
	return S_ISREG(st.st_mode) ? open_file(in, e) : open_pipe(in, e);
}

int input_error(const char *path, int code, struct error *e)
{
	/* The readers of bytes do not know where these came from; those of files say it. */
	if (!e || !strncmp(e->text, "cannot read ", strlen("cannot read ")) ||
	    !strncmp(e->text, "cannot set ", strlen("cannot set ")) ||
	    !strncmp(e->text, "cannot write ", strlen("cannot write ")))
		return code;
	return error_prefix(e, code, "cannot read %s", path);
}

/* What was opened must have had use for the rate. */
static int check_rate(const struct input *in, struct error *e)
{
	const struct trace_clock *clock = &in->source->info.clock;
	struct trace_clock want = *clock;

	if (!in->clock_hz)
		return 0;
	clock_set_rate(&want, in->clock_hz);
	if (want.mult == clock->mult && want.shift == clock->shift)
		return 0;
	return error_set(e, EINVAL,
			 "cannot set the rate of the clock of %s: %s has nanoseconds already",
			 in->path, clock->name[0] ? clock->name : "it");
}

int input_open(struct input **ret, const char *path, struct error *e)
{
	return input_open_rate(ret, path, 0, e);
}

int input_open_rate(struct input **ret, const char *path, uint64_t clock_hz, struct error *e)
{
	CLEANUP(input) struct input *in = calloc(1, sizeof(*in));
	int r;

	if (!in || !(in->path = strdup(path)))
		return error_set(e, ENOMEM, "cannot read %s: out of memory", path);
	in->fd = -1;
	in->clock_hz = clock_hz;
	r = open_any(in, e);
	if (r >= 0)
		r = check_rate(in, e);
	if (r < 0)
		return input_error(path, r, e);
	*ret = take_ptr(in);
	return 0;
}

void input_free(struct input *in)
{
	if (!in)
		return;
	source_free(in->source);
	unmap(in);
	if (in->fd >= 0)
		close(in->fd);
	free(in->path);
	free(in);
}

struct trace_source *input_take_source(struct input *in)
{
	return take_ptr(in->source);
}

enum recognised input_get_format(const struct input *in)
{
	return in->format;
}

const char *input_get_path(const struct input *in)
{
	return in->fd_path[0] ? in->fd_path : in->path;
}

uint64_t input_get_size(const struct input *in)
{
	return in->size;
}

static int add_stream(struct trace_summary *s, uint32_t cpu, const struct stream_totals *t)
{
	struct summary_stream *stream;
	int r = summary_get_stream(s, cpu, &stream);

	if (r < 0)
		return r;
	stream->blocks = t->blocks;
	stream->segments = t->segments;
	stream->bytes = t->bytes;
	s->codec = t->codec;
	return 0;
}

int input_verify(const struct input *in, const struct trace_source *source, struct error *e)
{
	int r;

	if (in->format != RECOGNISED_KSK)
		return 0;
	r = ksk_file_verify(source_ksk_file(source), e);
	return r < 0 ? input_error(in->path, r, e) : 0;
}

int input_add_summary(const struct input *in, const struct trace_source *source,
		      struct trace_summary *s, struct error *e)
{
	struct ksk_file *file;
	uint32_t cpu;
	size_t i;
	int r;

	if (in->format != RECOGNISED_KSK)
		return 0;
	s->version = KSK_VERSION;
	for (cpu = 0; cpu < source->info.cpus; cpu++) {
		const struct stream_totals *t = source_ksk_totals(source, cpu);

		r = t ? add_stream(s, cpu, t) : 0;
		if (r < 0)
			return cannot_read(in, r, e);
	}
	file = source_ksk_file(source);
	for (i = 0; i < file->n_damage; i++) {
		const struct ksk_damage *d = &file->damage[i];

		r = summary_add_damage(s, d->offset, d->len, d->what);
		if (r < 0)
			return cannot_read(in, r, e);
	}
	return 0;
}
