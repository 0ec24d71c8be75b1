/* SPDX-License-Identifier: MIT */
/* agent_log: see agent_log.h. */
#include "tools/agent_log.h"

#include <string.h>
#include <sys/mman.h>

struct agent_log *agent_log_new(void)
{
	void *l = mmap(NULL, sizeof(struct agent_log), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return l == MAP_FAILED ? NULL : l;
}

void agent_log_free(struct agent_log *l)
{
	if (l)
		munmap(l, sizeof(*l));
}

bool agent_log_send(struct agent_log *l, struct spool *s)
{
	uint32_t at = l->len;
	struct spool_entry e;

	if (!spool_peek(s, &e) || at + 8 + e.len > AGENT_LOG_BYTES)
		return false;
	memcpy(l->bytes + at, &e.kind, 4);
	memcpy(l->bytes + at + 4, &e.len, 4);
	memcpy(l->bytes + at + 8, e.bytes, e.len);
	__atomic_store_n(&l->len, at + 8 + e.len, __ATOMIC_RELEASE);
	spool_sent(s);
	return true;
}

void agent_log_read(struct agent_log *l, struct ledger *to)
{
	uint32_t at = 0, kind, len;

	while (at < l->len) {
		memcpy(&kind, l->bytes + at, 4);
		memcpy(&len, l->bytes + at + 4, 4);
		if (kind == FRAME_RUN_END)
			ledger_take_end(to, l->bytes + at + 8, len);
		else
			ledger_take_block(to, l->bytes + at + 8, len);
		at += 8 + len;
	}
	l->len = 0;
}
