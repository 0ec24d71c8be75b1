/* SPDX-License-Identifier: MIT */
/* fake_spool: see fake_spool.h. */
#include "tools/fake_spool.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

void fake_spool_add(struct spool *s, uint32_t kind, uint32_t run, uint32_t stream,
		    uint64_t sequence, uint32_t len)
{
	struct fake_entry *e = &s->entries[s->n++];

	assert(s->n <= FAKE_SPOOL_ENTRIES && len <= FAKE_SPOOL_BYTES);
	memset(e, 0, sizeof(*e));
	e->bytes[0] = (uint8_t)run;
	e->bytes[1] = (uint8_t)stream;
	e->bytes[2] = (uint8_t)sequence;
	e->entry = (struct spool_entry){ .kind = kind,
					 .run = run,
					 .stream = stream,
					 .sequence = sequence,
					 .bytes = e->bytes,
					 .len = len };
}

uint32_t fake_spool_left(const struct spool *s)
{
	uint32_t i, left = 0;

	for (i = 0; i < s->n; i++)
		left += !s->entries[i].gone;
	return left;
}

void spool_rewind(struct spool *s)
{
	s->next = 0;
	s->frames = s->acked = 0;
}

bool spool_peek(struct spool *s, struct spool_entry *ret)
{
	while (s->next < s->n && s->entries[s->next].gone)
		s->next++;
	if (s->next == s->n)
		return false;
	*ret = s->entries[s->next].entry;
	return true;
}

void spool_sent(struct spool *s)
{
	s->sent[s->frames++] = s->next++;
}

int spool_ack(struct spool *s, uint64_t frames)
{
	if (frames > s->frames)
		return -EPROTO;
	for (; s->acked < frames; s->acked++)
		s->entries[s->sent[s->acked]].gone = true;
	return 0;
}

void spool_resume(struct spool *s, uint32_t run, uint32_t stream, uint64_t next_sequence)
{
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		const struct spool_entry *e = &s->entries[i].entry;

		if (e->kind == FRAME_BLOCK && e->run == run && e->stream == stream &&
		    e->sequence < next_sequence)
			s->entries[i].gone = true;
	}
}

uint32_t spool_get_runs(const struct spool *s, uint32_t numbers[MESSAGE_RUNS_MAX])
{
	uint32_t i, n = 0;

	for (i = 0; i < s->n && n < MESSAGE_RUNS_MAX; i++)
		if (!s->entries[i].gone && (!n || numbers[n - 1] != s->entries[i].entry.run))
			numbers[n++] = s->entries[i].entry.run;
	return n;
}

const struct message_id *spool_get_run(const struct spool *s, uint32_t number)
{
	static struct message_id ids[UINT8_MAX + 1];
	struct message_id *id = &ids[number & UINT8_MAX];

	(void)s;
	memset(id->bytes, (int)(number & UINT8_MAX), sizeof(id->bytes));
	return id;
}
