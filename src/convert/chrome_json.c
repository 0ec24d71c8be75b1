/* SPDX-License-Identifier: MIT */
/* chrome_json: see chrome_json.h. */
#include "convert/chrome_json.h"

#include <inttypes.h>
#include <string.h>

#include "base/decimal.h"
#include "convert/escape.h"
#include "convert/fields.h"
#include "trace/state.h"
#include "trace/word.h"

#define RECORD_ROOM 1024U /* any record but a mark, names escaped */

static char *put_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static char *put_string(char *p, const char *text, size_t len)
{
	*p++ = '"';
	p = escape_put(p, text, len, ESCAPE_JSON);
	*p++ = '"';
	return p;
}

/* The comma, the phase and where it is: every record begins so. */
static char *put_head(struct chrome_json *j, char *p, const char *phase, const struct chrome_at *at)
{
	if (j->any)
		p = put_text(p, ",\n");
	j->any = true;
	p = put_text(p, "{\"ph\":\"");
	p = put_text(p, phase);
	p = put_text(p, "\",\"pid\":");
	p = decimal_put_i64(p, at->process);
	p = put_text(p, ",\"tid\":");
	p = decimal_put_i64(p, at->thread);
	p = put_text(p, ",\"ts\":");
	return decimal_put_milli(p, at->ns);
}

void chrome_json_begin(struct chrome_json *j, const struct trace_info *info)
{
	const char *const values[][2] = {
		{ "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"device\":", info->device },
		{ ",\"kernel\":", info->kernel },
		{ ",\"machine\":", info->machine },
		{ ",\"origin\":", info->origin },
		{ ",\"clock\":", info->clock.name },
	};
	char *start, *p;
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		start = outfile_reserve(j->out, TRACE_STRING_MAX * ESCAPE_GROWTH + 64);
		p = put_text(start, values[i][0]);
		p = put_string(p, values[i][1], strnlen(values[i][1], TRACE_STRING_MAX));
		outfile_advance(j->out, (size_t)(p - start));
	}
	outfile_printf(j->out, "},\n\"traceEvents\":[\n");
}

int chrome_json_check(const struct chrome_json *j, struct error *e)
{
	return outfile_check(j->out, e);
}

int chrome_json_end(struct chrome_json *j, struct error *e)
{
	outfile_printf(j->out, "\n]}\n");
	return outfile_commit(j->out, e);
}

static char *put_args(char *p, const struct chrome_slice *s)
{
	char text[STATE_TEXT_MAX];

	p = put_text(p, ",\"args\":{");
	switch (s->args) {
	case CHROME_ARG_TASK:
		p = decimal_put_i64(put_text(p, "\"pid\":"), s->pid);
		p = decimal_put_i64(put_text(p, ",\"prio\":"), s->prio);
		break;
	case CHROME_ARG_CPU:
		p = decimal_put_u64(put_text(p, "\"cpu\":"), s->cpu);
		break;
	case CHROME_ARG_STATE:
		p = put_text(p, "\"state\":");
		p = put_string(p, text, state_format(text, s->dialect, s->state));
		break;
	}
	if (s->mark) {
		p = put_text(p, ",\"");
		p = put_text(p, s->mark);
		p = put_text(p, "\":true");
	}
	if (s->may_miss)
		p = put_text(p, ",\"may_miss\":true");
	return put_text(p, "}}");
}

bool chrome_json_slice(struct chrome_json *j, const struct chrome_slice *s, uint64_t *written_ns)
{
	struct chrome_at at = { s->process, s->thread, s->from_ns };
	char *start, *p;

	if (at.ns < *written_ns)
		at.ns = *written_ns;
	if (s->to_ns <= at.ns)
		return false;
	*written_ns = s->to_ns;
	start = outfile_reserve(j->out, RECORD_ROOM);
	p = put_head(j, start, "X", &at);
	p = decimal_put_milli(put_text(p, ",\"dur\":"), s->to_ns - at.ns);
	p = put_text(p, ",\"name\":");
	p = put_string(p, s->name, s->name_len);
	p = put_args(p, s);
	outfile_advance(j->out, (size_t)(p - start));
	return true;
}

void chrome_json_flow(struct chrome_json *j, const struct chrome_flow *f)
{
	char *start = outfile_reserve(j->out, RECORD_ROOM);
	char *p = put_head(j, start, "s", &f->from);

	p = put_text(p, ",\"cat\":\"wakeup\",\"name\":\"wakeup\",\"id\":");
	p = put_text(decimal_put_u64(p, f->id), "}");
	p = put_head(j, p, "f", &f->to);
	p = put_text(p, ",\"bp\":\"e\",\"cat\":\"wakeup\",\"name\":\"wakeup\",\"id\":");
	p = put_text(decimal_put_u64(p, f->id), "}");
	outfile_advance(j->out, (size_t)(p - start));
}

void chrome_json_mark(struct chrome_json *j, const struct chrome_at *at,
		      const struct trace_item *item, const struct trace_info *info)
{
	struct field_list list;
	char *start, *p;
	uint32_t i;

	fields_of(&list, item, info);
	start = outfile_reserve(j->out, RECORD_ROOM + fields_room(item));
	p = put_head(j, start, "i", at);
	p = put_text(p, ",\"s\":\"t\",\"name\":\"");
	p = put_text(p, word_kind(item->event.kind));
	p = put_text(p, "\",\"args\":{");
	for (i = 0; i < list.n; i++) {
		const struct field *f = &list.field[i];

		if (i)
			*p++ = ',';
		p = put_string(p, field_name(f->id), field_name_length(f->id));
		*p++ = ':';
		if (f->type == FIELD_UNSIGNED)
			p = decimal_put_u64(p, f->number);
		else if (f->type == FIELD_SIGNED)
			p = decimal_put_i64(p, (int64_t)f->number);
		else
			p = put_string(p, f->text, f->len);
	}
	p = put_text(p, "}}");
	outfile_advance(j->out, (size_t)(p - start));
}

void chrome_json_loss(struct chrome_json *j, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
		      const struct trace_loss *loss)
{
	struct chrome_at at = { CHROME_CPUS, (int32_t)cpu, from_ns };
	char *start = outfile_reserve(j->out, RECORD_ROOM);
	char *p;

	if (to_ns > from_ns) {
		p = put_head(j, start, "X", &at);
		p = decimal_put_milli(put_text(p, ",\"dur\":"), to_ns - from_ns);
		p = put_text(p, ",\"cname\":\"terrible\"");
	} else {
		p = put_head(j, start, "i", &at);
		p = put_text(p, ",\"s\":\"t\"");
	}
	p = put_text(p, ",\"name\":\"LOST EVENTS\",\"args\":{\"cause\":\"");
	p = put_text(p, word_cause(loss->cause));
	p = put_text(p, "\"");
	if (loss->count != LOSS_UNKNOWN)
		p = decimal_put_u64(put_text(p, ",\"count\":"), loss->count);
	p = put_text(p, "}}");
	outfile_advance(j->out, (size_t)(p - start));
}

static void write_name(struct chrome_json *j, const char *what, const struct chrome_at *at,
		       const char *name, uint32_t len)
{
	char *start = outfile_reserve(j->out, RECORD_ROOM);
	char *p = put_head(j, start, "M", at);

	p = put_text(p, ",\"name\":\"");
	p = put_text(p, what);
	p = put_text(p, "\",\"args\":{\"name\":");
	p = put_text(put_string(p, name, len), "}}");
	outfile_advance(j->out, (size_t)(p - start));
}

void chrome_json_process(struct chrome_json *j, int32_t pid, const char *name, uint32_t len)
{
	struct chrome_at at = { pid, pid == CHROME_CPUS ? 0 : pid, 0 };

	write_name(j, "process_name", &at, name, len);
}

void chrome_json_thread(struct chrome_json *j, int32_t process, int32_t thread, const char *name,
			uint32_t len)
{
	struct chrome_at at = { process, thread, 0 };

	write_name(j, "thread_name", &at, name, len);
}

void chrome_json_cpu(struct chrome_json *j, uint32_t cpu)
{
	struct chrome_at at = { CHROME_CPUS, (int32_t)cpu, 0 };
	char name[DECIMAL_MAX + 4];
	char *end = decimal_put_u64(put_text(name, "CPU "), cpu);

	write_name(j, "thread_name", &at, name, (uint32_t)(end - name));
}
