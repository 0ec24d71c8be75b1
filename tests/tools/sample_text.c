/* SPDX-License-Identifier: MIT */
/* sample_text: see sample_text.h. */
#include "tools/sample_text.h"

#include <stdlib.h>

static const char *const modes[SAMPLE_MODES] = { "idle", "kernel", "user", "guest-kernel",
						 "guest-user" };

/* What is known of a guest, by its word. */
static const struct {
	const char *word;
	uint8_t bit;
	size_t at;
} fields[] = {
	{ "pc=", SAMPLE_GUEST_PC, offsetof(struct sample_event, guest_pc) },
	{ "table=", SAMPLE_GUEST_TABLE, offsetof(struct sample_event, guest_table) },
	{ "context=", SAMPLE_GUEST_CONTEXT, offsetof(struct sample_event, guest_context) },
	{ "task=", SAMPLE_GUEST_TASK, offsetof(struct sample_event, guest_task) },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

bool sample_text_parse_number(const char *word, uint64_t *ret)
{
	char *end = NULL;

	if (!word || !*word || *word == '-')
		return false;
	*ret = strtoull(word, &end, word[0] == '0' && word[1] == 'x' ? 16 : 10);
	return !*end;
}

static bool parse_signed(const char *text, char until, int32_t *ret, const char **ret_end)
{
	char *end = NULL;
	long v = strtol(text, &end, 10);

	if (end == text || *end != until)
		return false;
	*ret = (int32_t)v;
	*ret_end = end + 1;
	return true;
}

static bool parse_comm(const char *text, char comm[SCHED_COMM_LEN])
{
	char hex[3] = { 0 }, *end;
	uint32_t n = 0;

	memset(comm, 0, SCHED_COMM_LEN);
	for (; *text; n++) {
		if (n == SCHED_COMM_LEN)
			return false;
		if (*text != '%') {
			comm[n] = *text++;
			continue;
		}
		hex[0] = text[1];
		hex[1] = hex[0] ? text[2] : 0;
		comm[n] = (char)strtoul(hex, &end, 16);
		if (end != hex + 2)
			return false;
		text += 3;
	}
	return true;
}

bool sample_text_parse_task(const char *word, struct sample_task *ret)
{
	const char *p = word;

	if (!p || !parse_signed(p, '/', &ret->tid, &p) || !parse_signed(p, '/', &ret->pid, &p))
		return false;
	ret->vcpu = SAMPLE_NO_VCPU;
	if (p[0] == '-' && p[1] == '/')
		p += 2;
	else if (!parse_signed(p, '/', &ret->vcpu, &p))
		return false;
	return parse_comm(p, ret->comm);
}

/* Addresses with commas between them; `n` are there already. */
static bool parse_addresses(char *text, uint64_t *chain, uint32_t n, uint16_t *ret)
{
	char *save = NULL, *p;
	uint32_t from = n;

	for (p = strtok_r(text, ",", &save); p; p = strtok_r(NULL, ",", &save))
		if (n == SAMPLE_CHAIN_MAX || !sample_text_parse_number(p, &chain[n++]))
			return false;
	*ret = (uint16_t)(n - from);
	return true;
}

static bool parse_field(char *word, struct sample_event *ev, uint64_t *chain)
{
	uint64_t v;
	char *slash;
	size_t i, len;

	if (!strncmp(word, "k=", 2))
		return !ev->n_user && parse_addresses(word + 2, chain, 0, &ev->n_kernel);
	if (!strncmp(word, "u=", 2))
		return parse_addresses(word + 2, chain, ev->n_kernel, &ev->n_user);
	for (i = 0; i < FIELDS; i++) {
		len = strlen(fields[i].word);
		if (strncmp(word, fields[i].word, len) != 0)
			continue;
		ev->guest |= fields[i].bit;
		if (!sample_text_parse_number(word + len, &v))
			return false;
		memcpy((char *)ev + fields[i].at, &v, sizeof(v));
		return true;
	}
	if (!strncmp(word, "guest=", 6)) {
		ev->guest |= (uint8_t)strtoul(word + 6, NULL, 0);
		return true;
	}
	slash = strchr(word, '/');
	if (strncmp(word, "reason=", 7) != 0 || !slash)
		return false;
	*slash = 0;
	ev->guest |= SAMPLE_GUEST_REASON;
	return sample_text_parse_number(word + 7, &ev->reason) &&
	       sample_text_parse_number(slash + 1, &ev->reason_detail);
}

static bool parse_mode(const char *word, uint8_t *ret)
{
	uint64_t v = 0;

	while (v < SAMPLE_MODES && strcmp(word, modes[v]) != 0)
		v++;
	if (v == SAMPLE_MODES && (!sample_text_parse_number(word, &v) || v > UINT8_MAX))
		return false;
	*ret = (uint8_t)v;
	return true;
}

static bool parse_fields(char **save, struct sample_event *ev, uint64_t *chain)
{
	char *word;

	ev->chain = chain;
	while ((word = strtok_r(NULL, " \t", save)))
		if (!parse_field(word, ev, chain))
			return false;
	return true;
}

static bool parse_sample(char **save, struct sample_event *ev, uint64_t *chain)
{
	char *mode = strtok_r(NULL, " \t", save), *weight = strtok_r(NULL, " \t", save);

	return mode && weight && sample_text_parse_number(weight, &ev->weight) &&
	       parse_mode(mode, &ev->mode) && parse_fields(save, ev, chain);
}

/* Where a guest was left follows behind numbers, as many as there are. */
static bool parse_happening(char **save, struct sample_event *ev, uint64_t *chain)
{
	char *word;

	if (sample_shapes[ev->kind].has_next &&
	    !sample_text_parse_task(strtok_r(NULL, " \t", save), &ev->next))
		return false;
	word = strtok_r(NULL, " \t", save);
	if (word && sample_text_parse_number(word, &ev->value)) {
		word = strtok_r(NULL, " \t", save);
		if (word && sample_text_parse_number(word, &ev->detail))
			word = strtok_r(NULL, " \t", save);
	}
	if (!word)
		return true;
	return sample_shapes[ev->kind].has_guest && parse_mode(word, &ev->mode) &&
	       parse_fields(save, ev, chain);
}

bool sample_text_parse(char *line, uint32_t *ret_cpu, struct sample_event *ret, uint64_t *chain)
{
	char *save = NULL, *cpu = strtok_r(line, " \t", &save), *tick, *kind;
	uint64_t v;

	memset(ret, 0, sizeof(*ret));
	tick = cpu ? strtok_r(NULL, " \t", &save) : NULL;
	kind = tick ? strtok_r(NULL, " \t", &save) : NULL;
	if (!kind || !sample_text_parse_number(cpu, &v) || v > UINT32_MAX ||
	    !sample_text_parse_number(tick, &ret->tick))
		return false;
	*ret_cpu = (uint32_t)v;
	while (ret->kind < SAMPLE_KINDS && strcmp(kind, sample_shapes[ret->kind].word) != 0)
		ret->kind++;
	if (ret->kind == SAMPLE_KINDS ||
	    !sample_text_parse_task(strtok_r(NULL, " \t", &save), &ret->task))
		return false;
	return ret->kind == SAMPLE_TAKEN ? parse_sample(&save, ret, chain)
					 : parse_happening(&save, ret, chain);
}

static void put_task(FILE *f, const struct sample_task *t)
{
	uint32_t i, len = SCHED_COMM_LEN;

	fprintf(f, " %d/%d/", t->tid, t->pid);
	if (t->vcpu == SAMPLE_NO_VCPU)
		fputs("-/", f);
	else
		fprintf(f, "%d/", t->vcpu);
	while (len && !t->comm[len - 1])
		len--;
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)t->comm[i];

		fprintf(f, c > 0x20 && c < 0x7f && c != '%' ? "%c" : "%%%02x", c);
	}
}

static void put_mode(FILE *f, uint32_t mode)
{
	if (mode < SAMPLE_MODES)
		fprintf(f, " %s", modes[mode]);
	else
		fprintf(f, " %u", mode);
}

static void put_addresses(FILE *f, const char *word, const uint64_t *a, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		fprintf(f, "%s0x%llx", i ? "," : word, (unsigned long long)a[i]);
}

static void put_guest(FILE *f, const struct sample_event *ev)
{
	uint64_t v;
	size_t i;

	for (i = 0; i < FIELDS; i++) {
		memcpy(&v, (const char *)ev + fields[i].at, sizeof(v));
		if (ev->guest & fields[i].bit)
			fprintf(f, " %s0x%llx", fields[i].word, (unsigned long long)v);
	}
	if (ev->guest & SAMPLE_GUEST_REASON)
		fprintf(f, " reason=0x%llx/0x%llx", (unsigned long long)ev->reason,
			(unsigned long long)ev->reason_detail);
	if (ev->guest >> 5)
		fprintf(f, " guest=%u", ev->guest & ~31U);
}

/* A mode that is no word comes behind both numbers, so that it is not taken for one. */
static void put_spot(FILE *f, const struct sample_event *ev)
{
	if (!sample_shapes[ev->kind].has_guest || (!ev->mode && !ev->guest))
		return;
	if (ev->mode >= SAMPLE_MODES && !ev->detail)
		fputs(ev->value ? " 0x0" : " 0 0x0", f);
	put_mode(f, ev->mode);
	put_guest(f, ev);
}

void sample_text_put(FILE *f, uint32_t cpu, const struct sample_event *ev)
{
	fprintf(f, "%u %llu %s", cpu, (unsigned long long)ev->tick, sample_shapes[ev->kind].word);
	put_task(f, &ev->task);
	if (ev->kind == SAMPLE_TAKEN) {
		put_mode(f, ev->mode);
		fprintf(f, " %llu", (unsigned long long)ev->weight);
		put_addresses(f, " k=", ev->chain, ev->n_kernel);
		put_addresses(f, " u=", ev->chain + ev->n_kernel, ev->n_user);
		put_guest(f, ev);
	} else {
		if (sample_shapes[ev->kind].has_next)
			put_task(f, &ev->next);
		if (ev->value || ev->detail)
			fprintf(f, " %llu", (unsigned long long)ev->value);
		if (ev->detail)
			fprintf(f, " 0x%llx", (unsigned long long)ev->detail);
		put_spot(f, ev);
	}
	fputc('\n', f);
}
