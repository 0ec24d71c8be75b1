/* SPDX-License-Identifier: MIT */
/*
 * local_mark: the marks beside the log files (log_mark.h), and what they tell of damage.
 *
 * A commit costs one write of 32 bytes more, into the page cache, behind the sync of the log; a
 * commit that declares runs or devices a second one. Nothing waits for a mark to be on the disk: an
 * old one says less, and nothing wrong. One that cannot be written is done without.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/local_parts.h"

const struct log_mark *local_map_mark(struct local_store *s, uint32_t number, struct marked *ret)
{
	char name[STORE_LOG_NAME];
	_cleanup_close_ int fd =
		openat(s->log_fd, local_mark_name(number, name), O_RDONLY | O_CLOEXEC);

	*ret = (struct marked){ 0 };
	if (fd < 0 || mapping_open(&ret->map, fd, SIZE_MAX) < 0)
		return NULL;
	if (log_mark_decode(&ret->mark, ret->map->data, ret->map->len) &&
	    ret->mark.number == number)
		return &ret->mark;
	local_say(s, "the mark of log file %u is damaged, and made again", number);
	return NULL;
}

void local_unmap_mark(struct marked *m)
{
	mapping_close(m->map);
	m->map = NULL;
}

/* --- writing --- */

static void give_up(struct local_store *s)
{
	cleanup_closep(&s->mark_fd);
	s->mark_fd = -1;
}

static void write_mark(struct local_store *s, const uint8_t *bytes, size_t len, uint64_t offset)
{
	if (s->mark_fd >= 0 && pwrite(s->mark_fd, bytes, len, (off_t)offset) != (ssize_t)len)
		give_up(s);
}

static void write_head(struct local_store *s, uint32_t number, uint64_t len)
{
	const struct log_mark m = { .number = number, .next_run = s->mark_run, .len = len };
	uint8_t head[LOG_MARK_HEAD];

	log_mark_encode(head, &m);
	write_mark(s, head, sizeof(head), 0);
}

static void write_copy(struct local_store *s, const uint8_t *bytes, const struct log_record *r,
		       uint64_t offset)
{
	uint8_t place[LOG_MARK_ENTRY];

	if (r->kind == LOG_RUN && r->run >= s->mark_run)
		s->mark_run = r->run + 1;
	log_mark_put_place(place, offset);
	write_mark(s, place, sizeof(place), s->mark_end);
	write_mark(s, bytes, r->len, s->mark_end + sizeof(place));
	s->mark_end += sizeof(place) + r->len;
}

static void write_copies(struct local_store *s, const uint8_t *bytes, size_t len, uint64_t offset)
{
	struct log_record r;
	size_t at;

	for (at = 0; at < len && log_record_peek(bytes + at, len - at, &r) == WIRE_OK; at += r.len)
		if (r.kind == LOG_RUN || r.kind == LOG_DEVICE)
			write_copy(s, bytes + at, &r, offset + at);
}

static void open_mark(struct local_store *s, uint32_t number, int flags)
{
	char name[STORE_LOG_NAME];

	give_up(s);
	s->mark_fd =
		openat(s->log_fd, local_mark_name(number, name), O_RDWR | O_CLOEXEC | flags, 0640);
	s->mark_end = LOG_MARK_HEAD;
}

void local_new_mark(struct local_store *s, const struct log_head *h)
{
	open_mark(s, h->number, O_CREAT | O_TRUNC);
	if (h->next_run > s->mark_run)
		s->mark_run = h->next_run;
	write_head(s, h->number, LOG_HEAD_LEN);
}

void local_open_mark(struct local_store *s, const struct log_scan *log)
{
	uint32_t number = s->view->head.number;
	uint64_t size = s->view->size;
	struct stat st;

	s->mark_run = s->view->head.next_run;
	if (log->mark) {
		if (log->mark->next_run > s->mark_run)
			s->mark_run = log->mark->next_run;
		open_mark(s, number, 0);
		if (s->mark_fd >= 0 && fstat(s->mark_fd, &st) == 0)
			s->mark_end = (uint64_t)st.st_size;
	} else {
		open_mark(s, number, O_CREAT | O_TRUNC);
		write_copies(s, log->data + LOG_HEAD_LEN, (size_t)(size - LOG_HEAD_LEN),
			     LOG_HEAD_LEN);
	}
	write_head(s, number, size);
}

void local_move_mark(struct local_store *s, const uint8_t *bytes, size_t len, uint64_t offset)
{
	if (s->mark_fd < 0)
		return;
	write_copies(s, bytes, len, offset);
	write_head(s, s->active->number, offset + len);
}

/* --- a log file that is gone --- */

int local_replace_log(struct local_store *s, uint32_t number, struct error *e)
{
	__attribute__((cleanup(local_unmap_mark))) struct marked marked = { 0 };
	const struct log_mark *mark = local_map_mark(s, number, &marked);
	struct log_head head = { .number = number, .next_run = 1, .time_ns = clock_real_ns() };
	char name[STORE_LOG_NAME];
	uint8_t bytes[LOG_HEAD_LEN];
	_cleanup_close_ int fd = -1;

	if (mark)
		head.next_run = mark->next_run;
	log_head_encode(bytes, &head);
	fd = openat(s->log_fd, local_log_name(number, name),
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0 || pwrite(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes) ||
	    fdatasync(fd) < 0)
		return error_set(e, errno, "cannot replace %s, which is gone: %s", name,
				 strerror(errno));
	s->found.files++;
	local_say(s, "log file %u is gone, with %llu bytes: what its runs had there is lost",
		  number, (unsigned long long)(mark ? mark->len : 0));
	return 0;
}

void local_damage(struct store *store, struct store_damages *ret)
{
	struct local_store *s = local_get(store);
	struct store_run facts;
	const struct shown_run *run;
	size_t at = 0;

	pthread_mutex_lock(&s->lock);
	*ret = s->found;
	while ((run = hashtable_next(&s->runs.by_number, &at))) {
		const struct view_run *live = log_view_run(s->view, run->number);

		if (live)
			shown_run_facts(run, &live->state, live, &facts);
		else
			facts = run->facts;
		ret->runs += facts.damaged;
		ret->events += facts.lost[LOSS_DAMAGE];
	}
	pthread_mutex_unlock(&s->lock);
}
