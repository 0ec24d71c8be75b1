/* SPDX-License-Identifier: MIT */
/*
 * The CTF import. Input: two bytes, the length of the metadata; the metadata (none: that of our own
 * export); one stream file. The reader is a child process, so what is tested is the promise that
 * matters: items or an error, whatever libbabeltrace2 does to itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/import.h"
#include "convert/sink.h"

/* Descriptions of huge arrays are for the library to refuse, not for the sanitizer. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static char root[] = "/tmp/kiseki-fuzz-XXXXXX", dir[64], own[64], stream[96], metadata[96];

static void clean(void)
{
	unlink(stream);
	unlink(metadata);
	unlink(own);
	rmdir(dir);
	rmdir(root);
}

static void prepare(void)
{
	struct trace_sink *sink = NULL;
	struct trace_info info;

	if (!mkdtemp(root) || info_init(&info) < 0)
		abort();
	info.dialect.features |= DIALECT_SUCCESS_SILENT;
	snprintf(dir, sizeof(dir), "%s/trace", root);
	snprintf(own, sizeof(own), "%s/own", root);
	snprintf(stream, sizeof(stream), "%s/channel0_0", dir);
	snprintf(metadata, sizeof(metadata), "%s/metadata", dir);
	if (sink_ctf_new(&sink, dir, NULL) < 0 || sink->ops->begin(sink, &info, NULL) < 0 ||
	    sink->ops->end(sink, NULL) < 0 || link(metadata, own) < 0)
		abort();
	sink_free(sink);
	info_done(&info);
	atexit(clean);
}

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *f;

	unlink(path);
	f = fopen(path, "wb");
	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;
	struct trace_item item;
	size_t m;
	int r;

	if (!*dir)
		prepare();
	m = size < 2 ? 0 : data[0] | (size_t)data[1] << 8;
	data += size < 2 ? 0 : 2;
	size -= size < 2 ? 0 : 2;
	m = m < size ? m : size;
	if (m)
		write_file(metadata, data, m);
	else if (unlink(metadata) < 0 || link(own, metadata) < 0)
		abort();
	write_file(stream, data + m, size - m);
	r = source_ctf_open(&s, dir, &e);
	while (r >= 0 && (r = s->ops->next(s, &item, &e)) > 0)
		;
	if (r < 0 && (!*e.text || strchr(e.text, '\n') || strstr(e.text, "ends with status")))
		abort(); /* the child's own sanitizer ends it with a status, the library by a signal */
	source_free(s);
	return 0;
}
