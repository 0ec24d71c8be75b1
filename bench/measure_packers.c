/* SPDX-License-Identifier: MIT */
/* measure_packers: see measure.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "measure.h"
#include "packer.h"
#include "process.h"

#define COMMAND_RUNS 3

struct packer_run {
	const struct packer *packer;
	const struct pages *in;
	uint8_t *packed;
	size_t room;
	size_t packed_len;
	uint8_t *back;
};

static int pack(void *ctx)
{
	struct packer_run *run = ctx;

	run->packed_len = run->packer->pack(run->packed, run->room, run->in->data, run->in->len);
	return run->packed_len ? 0 : -EIO;
}

static int unpack(void *ctx)
{
	struct packer_run *run = ctx;
	size_t len = run->packer->unpack(run->back, run->in->len, run->packed, run->packed_len);

	return len == run->in->len ? 0 : -EIO;
}

static int measure_packer(const struct measure *m, const struct packer *packer,
			  const struct pages *p, struct error *e)
{
	struct packer_run run = { .packer = packer, .in = p, .room = packer->bound(p->len) };
	_cleanup_free_ uint8_t *packed = malloc(run.room);
	_cleanup_free_ uint8_t *back = malloc(p->len);
	struct result *row = result_add(m->result, packer->key, packer->name);
	int r;

	if (!packed || !back)
		return error_set(e, ENOMEM, "out of memory");
	memset(packed, 0xff, run.room); /* touched, before the clock runs */
	memset(back, 0xff, p->len);
	run.packed = packed;
	run.back = back;
	r = stopwatch_best(&m->watch, pack, &run, &row->encode_ns);
	if (r == 0)
		r = stopwatch_best(&m->watch, unpack, &run, &row->decode_ns);
	if (r < 0 || memcmp(back, p->data, p->len))
		return error_set(e, EIO, "cannot measure %s: it failed", packer->name);
	row->bytes = run.packed_len;
	return 0;
}

static int write_file(const char *path, const uint8_t *data, size_t len, struct error *e)
{
	FILE *f = fopen(path, "w");
	size_t n = f ? fwrite(data, 1, len, f) : 0;

	if (!f || fclose(f) || n != len)
		return error_set(e, EIO, "cannot write %s", path);
	return 0;
}

/* The command pays for reading, its frame and its checksum, which the function does not. */
static int measure_command(const struct measure *m, const char *in, const char *out,
			   struct error *e)
{
	char *pack_argv[] = { (char *)"lz4", (char *)"-1",	    (char *)"-q",
			      (char *)"-c",  (char *)(uintptr_t)in, NULL };
	char *unpack_argv[] = { (char *)"lz4", (char *)"-d",	       (char *)"-q",
				(char *)"-c",  (char *)(uintptr_t)out, NULL };
	struct process_cost cost, back;
	struct result *row;
	struct stat st;
	int r;

	r = process_best(pack_argv, out, 1, &cost);
	if (r == 0 && stat(out, &st) < 0)
		r = -errno;
	if (r == 0)
		r = process_best(pack_argv, "/dev/null", COMMAND_RUNS, &cost);
	if (r == 0)
		r = process_best(unpack_argv, "/dev/null", COMMAND_RUNS, &back);
	if (r < 0)
		return error_set(e, -r, "cannot run lz4: %s", strerror(-r));
	row = result_add(m->result, "lz4-1-command", "lz4 -1, command");
	row->bytes = (uint64_t)st.st_size;
	row->encode_ns = cost.cpu_ns;
	row->decode_ns = back.cpu_ns;
	return 0;
}

int measure_packers(const struct measure *m, const struct pages *p, struct error *e)
{
	char in[4096], out[4096];
	const struct packer *packer;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && (packer = packer_get(i)); i++)
		r = measure_packer(m, packer, p, e);
	if (r < 0 || !process_exists("lz4"))
		return r;
	snprintf(in, sizeof(in), "%s/pages", m->scratch);
	snprintf(out, sizeof(out), "%s/pages.lz4", m->scratch);
	r = write_file(in, p->data, p->len, e);
	if (r == 0)
		r = measure_command(m, in, out, e);
	unlink(in);
	unlink(out);
	return r;
}
