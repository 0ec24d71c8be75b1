/* SPDX-License-Identifier: MIT */
/*
 * sample_make: profiles for tests.
 *
 *	sample_make SCRIPT FILE.ksk [BYTES [SEGMENT]]	makes the file that a script describes, in blocks of about so
 *							many bytes and segments of so many; - reads standard input
 *	sample_make --random SEED RECORDS STYLE		prints a script with records of sample_random.h, of one CPU
 *
 * A script has the records of sample_text.h, those of a CPU in their order, and between them
 *
 *	device NAME | kernel RELEASE | machine NAME | cpus N
 *	sampling PERIOD JITTER COLLECTOR METHOD EXITS HAS	numbers, as in sample_meta.h
 *	mapping PID TICK FROM TO OFFSET BUILD-ID PATH		BUILD-ID in hexadecimal, - if it is not known
 *	life PID PARENT TICK start|exec|end [NAME]
 *	function FROM TO NAME...				of the kernel
 *	guest VM mapping|life|function ...			the same of a guest, as it says it itself
 *	guest VM table PID TID TICK TABLE TASK begin|end NAME...	whose a page table is from then on, or not any more
 *	pace TICK CASE PERIOD					numbers, as in sample_meta.h
 *	loss CPU CAUSE COUNT					cause by number; ? if the count is not known
 *
 * Lines that are empty or begin with # are comments. A tick is a nanosecond. sample_dump is the other way.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/ksk_writer.h"
#include "tools/sample_random.h"
#include "tools/sample_text.h"
#include "trace/info_meta.h"
#include "wire/sample_encode.h"
#include "wire/sample_meta_encode.h"

#define CPUS 64U
#define LINE_ROOM 8192U
#define BLOCK_BYTES (16U * 1024)
#define BLOCK_ROOM (BLOCK_BYTES + SAMPLE_BLOCK_LEAST)
#define META_ROOM (64U * 1024)

struct stream {
	uint32_t cpu;
	bool open, key;
	uint64_t sequence, total, until, first_tick, max_tick;
	uint32_t segment_used;
	uint64_t lost[LOSS_CAUSES];
	uint8_t buffer[BLOCK_HEADER_MAX + BLOCK_ROOM];
	struct sample_encoder encoder;
};

struct maker {
	struct ksk_writer *writer;
	uint32_t block_bytes, segment_bytes;
	struct trace_info info;
	uint64_t meta_sequence;
	struct stream *stream[CPUS];
	uint8_t *meta, *end; /* items yet to be written */
};

static int put_block(struct maker *m, struct block *b, uint8_t *payload, struct error *e)
{
	uint32_t len;
	uint8_t *start = block_encode(b, payload, &len);

	return ksk_writer_put(m->writer, b, start, len, e);
}

static int put_meta(struct maker *m, struct error *e)
{
	uint8_t *payload = m->meta + BLOCK_HEADER_MAX;
	struct block b = { .codec = CODEC_META,
			   .flags = BLOCK_KEY,
			   .stream = STREAM_META,
			   .sequence = m->meta_sequence++,
			   .payload_len = (uint32_t)(m->end - payload) };

	m->end = payload;
	return put_block(m, &b, payload, e);
}

static void open_block(struct maker *m, struct stream *s, uint64_t tick)
{
	s->key = !s->sequence || (m->segment_bytes && s->segment_used >= m->segment_bytes);
	if (s->key) {
		s->until = s->until > tick ? s->until : tick;
		s->segment_used = 0;
		sample_encoder_init(&s->encoder);
	}
	sample_encoder_begin(&s->encoder, s->buffer + BLOCK_HEADER_MAX, BLOCK_ROOM, tick);
	s->first_tick = s->max_tick = tick;
	s->open = true;
}

static int close_block(struct maker *m, struct stream *s, struct error *e)
{
	struct block b = { .codec = CODEC_SAMPLE,
			   .flags = s->key ? BLOCK_KEY : 0,
			   .stream = STREAM_SAMPLE(s->cpu),
			   .sequence = s->sequence,
			   .first_tick = s->first_tick,
			   .events = s->encoder.events };
	uint64_t until = s->until > s->max_tick ? s->until : s->max_tick;

	if (!s->open)
		return 0;
	b.payload_len = sample_encoder_end(&s->encoder);
	b.ticks = until - (s->key ? s->first_tick : s->until);
	memcpy(b.lost, s->lost, sizeof(b.lost));
	memset(s->lost, 0, sizeof(s->lost));
	b.before = s->total + block_told(&b);
	s->total = b.before + b.events;
	s->until = until;
	s->segment_used += b.payload_len;
	s->sequence++;
	s->open = false;
	return put_block(m, &b, s->buffer + BLOCK_HEADER_MAX, e);
}

static struct stream *stream_of(struct maker *m, uint32_t cpu)
{
	if (cpu >= CPUS)
		return NULL;
	if (!m->stream[cpu]) {
		m->stream[cpu] = calloc(1, sizeof(*m->stream[cpu]));
		if (m->stream[cpu])
			m->stream[cpu]->cpu = cpu;
	}
	return m->stream[cpu];
}

static int put_event(struct maker *m, char *line, struct error *e)
{
	static uint64_t chain[SAMPLE_CHAIN_MAX];
	struct sample_event ev;
	struct stream *s;
	uint32_t cpu;
	int r = 0;

	if (!sample_text_parse(line, &cpu, &ev, chain) || !(s = stream_of(m, cpu)))
		return error_set(e, EINVAL, "no record");
	if (s->open && s->encoder.rc.pos >= m->block_bytes)
		r = close_block(m, s, e);
	if (r < 0)
		return r;
	if (!s->open)
		open_block(m, s, ev.tick);
	if (sample_encode(&s->encoder, &ev) != WIRE_OK)
		return error_set(e, EINVAL, "a record that does not fit");
	s->max_tick = ev.tick > s->max_tick ? ev.tick : s->max_tick;
	return 0;
}

static int put_loss(struct maker *m, char *line, struct error *e)
{
	unsigned int cpu, cause;
	char count[32];
	struct stream *s;
	uint64_t n;

	if (sscanf(line, "loss %u %u %31s", &cpu, &cause, count) != 3 || cause >= LOSS_CAUSES ||
	    !(s = stream_of(m, cpu)))
		return error_set(e, EINVAL, "no loss");
	n = count[0] == '?' ? LOSS_UNKNOWN : strtoull(count, NULL, 10);
	if (close_block(m, s, e) < 0)
		return -EIO;
	s->lost[cause] = n == LOSS_UNKNOWN ? n : s->lost[cause] + n;
	return 0;
}

/* The rest of a line behind its first n words. */
static char *rest(char *line, int n)
{
	while (n--) {
		line += strcspn(line, " \t");
		line += strspn(line, " \t");
	}
	return line;
}

static bool parse_build_id(const char *hex, struct sample_mapping *r)
{
	unsigned int byte;

	if (!strcmp(hex, "-"))
		return true;
	for (; sscanf(hex, "%2x", &byte) == 1 && hex[1]; hex += 2) {
		if (r->build_id_len == SAMPLE_BUILD_ID_MAX)
			return false;
		r->build_id[r->build_id_len++] = (uint8_t)byte;
	}
	return !*hex;
}

static int put_mapping(struct maker *m, char *line)
{
	unsigned long long tick, from, to, offset;
	struct sample_mapping r = { 0 };
	char hex[64];

	if (sscanf(line, "mapping %d %llu %lli %lli %lli %63s", &r.pid, &tick, (long long *)&from,
		   (long long *)&to, (long long *)&offset, hex) != 6 ||
	    !parse_build_id(hex, &r))
		return -EINVAL;
	r.tick = tick;
	r.from = from;
	r.to = to;
	r.offset = offset;
	r.path = rest(line, 7);
	r.path_len = (uint32_t)strlen(r.path);
	m->end = meta_item_begin(m->end, META_MAPPED);
	m->end = meta_item_end(m->end, sample_meta_put_mapping(m->end, &r));
	return 0;
}

static int put_life(struct maker *m, char *line)
{
	static const char *const whats[] = { "start", "exec", "end" };
	struct sample_life_row r = { 0 };
	unsigned long long tick;
	char what[8];

	if (sscanf(line, "life %d %d %llu %7s", &r.pid, &r.parent, &tick, what) != 4)
		return -EINVAL;
	while (r.what < 3 && strcmp(what, whats[r.what]) != 0)
		r.what++;
	if (r.what == 3)
		return -EINVAL;
	r.tick = tick;
	r.comm = rest(line, 5);
	r.comm_len = (uint32_t)strlen(r.comm);
	m->end = meta_item_begin(m->end, META_LIFE);
	m->end = meta_item_end(m->end, sample_meta_put_life(m->end, &r));
	return 0;
}

static int put_function(struct maker *m, char *line)
{
	struct sample_kernel_name r = { 0 };
	char from[32], to[32];

	if (sscanf(line, "function %31s %31s", from, to) != 2 ||
	    !sample_text_parse_number(from, &r.from) || !sample_text_parse_number(to, &r.to))
		return -EINVAL;
	r.name = rest(line, 3);
	r.name_len = (uint32_t)strlen(r.name);
	m->end = meta_item_begin(m->end, META_KERNEL_NAMES);
	m->end = meta_item_end(m->end, sample_meta_put_kernel_name(m->end, &r));
	return 0;
}

static int put_pace(struct maker *m, char *line)
{
	unsigned long long tick, period;
	struct sample_pace_row r;
	unsigned int what;

	if (sscanf(line, "pace %llu %u %llu", &tick, &what, &period) != 3)
		return -EINVAL;
	r = (struct sample_pace_row){ tick, (uint8_t)what, period };
	m->end = meta_item_begin(m->end, META_PACE);
	m->end = meta_item_end(m->end, sample_meta_put_pace(m->end, &r));
	return 0;
}

static int put_table(struct maker *m, char *line)
{
	struct sample_table_row r = { 0 };
	char table[32], task[32], what[8];
	unsigned long long tick;

	if (sscanf(line, "table %d %d %llu %31s %31s %7s", &r.pid, &r.tid, &tick, table, task,
		   what) != 6 ||
	    !sample_text_parse_number(table, &r.table) || !sample_text_parse_number(task, &r.task))
		return -EINVAL;
	r.tick = tick;
	r.is_end = !strcmp(what, "end");
	r.comm = rest(line, 7);
	r.comm_len = (uint32_t)strlen(r.comm);
	m->end = meta_item_begin(m->end, META_TABLES);
	m->end = meta_item_end(m->end, sample_meta_put_table(m->end, &r));
	return 0;
}

/* What the process of a machine, or of a guest, is made of. */
static int put_process(struct maker *m, char *line)
{
	if (!strncmp(line, "mapping ", 8))
		return put_mapping(m, line);
	if (!strncmp(line, "life ", 5))
		return put_life(m, line);
	if (!strncmp(line, "function ", 9))
		return put_function(m, line);
	return -EINVAL;
}

static int put_guest(struct maker *m, char *line)
{
	uint8_t *body = meta_item_begin(m->end, META_GUEST);
	char *item = rest(line, 2);
	int vm;

	if (sscanf(line, "guest %d", &vm) != 1)
		return -EINVAL;
	m->end = sample_meta_put_guest(body, vm);
	if ((strncmp(item, "table ", 6) ? put_process(m, item) : put_table(m, item)) < 0)
		return -EINVAL;
	m->end = meta_item_end(body, m->end);
	return 0;
}

static int put_sampling(struct maker *m, const char *line)
{
	struct sample_sampling s = { 0 };
	unsigned int jitter, collector, method, exits, has;
	unsigned long long period;

	if (sscanf(line, "sampling %llu %u %u %u %u %u", &period, &jitter, &collector, &method,
		   &exits, &has) != 6)
		return -EINVAL;
	s = (struct sample_sampling){ .period = period,
				      .jitter = jitter,
				      .collector = (uint8_t)collector,
				      .method = (uint8_t)method,
				      .exits = (uint8_t)exits,
				      .has = has };
	m->end = sample_meta_put_sampling(m->end, &s);
	return 0;
}

static int put_info(struct maker *m, char *line)
{
	char *text = rest(line, 1);
	size_t len = strlen(text);

	if (!strncmp(line, "device ", 7))
		return info_set(&m->info.device, text, len);
	if (!strncmp(line, "kernel ", 7))
		return info_set(&m->info.kernel, text, len);
	if (!strncmp(line, "machine ", 8))
		return info_set(&m->info.machine, text, len);
	if (strncmp(line, "cpus ", 5) != 0)
		return -EINVAL;
	m->info.cpus = (uint32_t)strtoul(text, NULL, 10);
	return 0;
}

static int put_line(struct maker *m, char *line, struct error *e)
{
	int r;

	if (m->end > m->meta + BLOCK_HEADER_MAX + META_ROOM - 2 * LINE_ROOM && put_meta(m, e) < 0)
		return -EIO;
	if (*line >= '0' && *line <= '9')
		return put_event(m, line, e);
	if (!strncmp(line, "loss ", 5))
		return put_loss(m, line, e);
	if (!strncmp(line, "guest ", 6))
		r = put_guest(m, line);
	else if (!strncmp(line, "pace ", 5))
		r = put_pace(m, line);
	else if (!strncmp(line, "sampling ", 9))
		r = put_sampling(m, line);
	else if ((r = put_process(m, line)) < 0)
		r = put_info(m, line);
	return r < 0 ? error_set(e, EINVAL, "no such line") : 0;
}

static int put_lines(struct maker *m, FILE *f, struct error *e)
{
	static char line[LINE_ROOM];
	unsigned int number = 0, i;
	int r;

	while (fgets(line, sizeof(line), f)) {
		number++;
		line[strcspn(line, "\n")] = 0;
		if (!*line || *line == '#')
			continue;
		r = put_line(m, line, e);
		if (r < 0) {
			fprintf(stderr, "sample_make: line %u: %s\n", number, e->text);
			return r;
		}
	}
	for (i = 0; i < CPUS; i++) {
		struct stream *s = m->stream[i];
		bool lost = false;

		for (uint32_t k = 0; s && k < LOSS_CAUSES; k++)
			lost |= s->lost[k] != 0;
		if (lost && !s->open)
			open_block(m, s, s->until);
		if (s && close_block(m, s, e) < 0)
			return -EIO;
	}
	r = put_meta(m, e);
	m->end += info_encode(&m->info, m->end, META_ROOM);
	return r < 0 ? r : put_meta(m, e);
}

static int make(FILE *f, const char *path, unsigned long block, unsigned long segment)
{
	static struct maker m;
	struct error e = ERROR_INIT;
	int r = ksk_writer_open(&m.writer, path, &e);

	m.block_bytes = block && block < BLOCK_BYTES ? (uint32_t)block : BLOCK_BYTES;
	m.segment_bytes = (uint32_t)segment;
	m.meta = malloc(BLOCK_HEADER_MAX + 2 * META_ROOM);
	if (r < 0 || !m.meta || info_init(&m.info) < 0) {
		fprintf(stderr, "sample_make: %s\n", r < 0 ? e.text : "out of memory");
		return 1;
	}
	m.end = m.meta + BLOCK_HEADER_MAX;
	r = put_lines(&m, f, &e);
	if (r == 0)
		r = ksk_writer_commit(m.writer, &e);
	if (r < 0)
		fprintf(stderr, "sample_make: %s\n", e.text);
	for (uint32_t i = 0; i < CPUS; i++)
		free(m.stream[i]);
	ksk_writer_free(m.writer);
	info_done(&m.info);
	free(m.meta);
	return r < 0;
}

static int print_random(char **argv)
{
	static struct sample_random random;
	struct sample_event ev;
	unsigned long n = strtoul(argv[3], NULL, 10), style = strtoul(argv[4], NULL, 10);

	if (style >= SAMPLE_RANDOM_STYLES)
		return 2;
	sample_random_init(&random, strtoull(argv[2], NULL, 10), (unsigned int)style);
	while (n--) {
		sample_random_next(&random, &ev);
		sample_text_put(stdout, 0, &ev);
	}
	return 0;
}

int main(int argc, char **argv)
{
	FILE *f;
	int r;

	if (argc == 5 && !strcmp(argv[1], "--random"))
		return print_random(argv);
	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: sample_make SCRIPT|- FILE.ksk [BYTES [SEGMENT]] | --random "
				"SEED RECORDS STYLE\n");
		return 2;
	}
	f = strcmp(argv[1], "-") ? fopen(argv[1], "r") : stdin;
	if (!f) {
		fprintf(stderr, "sample_make: cannot open %s\n", argv[1]);
		return 1;
	}
	r = make(f, argv[2], argc > 3 ? strtoul(argv[3], NULL, 10) : 0,
		 argc > 4 ? strtoul(argv[4], NULL, 10) : 0);
	if (f != stdin)
		fclose(f);
	return r;
}
