/* SPDX-License-Identifier: MIT */
/* word: see word.h. */
#include "trace/word.h"

#include <string.h>

#include "wire/dialect.h"
#include "wire/loss.h"
#include "wire/sched_event.h"

static const char *const causes[LOSS_CAUSES] = {
	[LOSS_RING] = "ring",	  [LOSS_BUFFER] = "buffer", [LOSS_SPOOL] = "spool",
	[LOSS_DAMAGE] = "damage", [LOSS_STORE] = "store",
};

const char *word_kind(uint32_t kind)
{
	const char *word = sched_kind_word(kind);

	return word ? word : "unknown";
}

const char *word_cause(uint32_t cause)
{
	return cause < LOSS_CAUSES ? causes[cause] : "unknown";
}

/* In the order of the bits of enum dialect_feature. */
static const char *const features[] = {
	"success",    "group_dead", "rename_no_pid", "big_endian",     "tgid",		"no_flags",
	"fixed_comm", "no_cur",	    "lazy_resched",  "success_silent", "waker_context",
};

const char *word_feature(uint32_t bit)
{
	return bit < sizeof(features) / sizeof(features[0]) ? features[bit] : NULL;
}

static int is_word(const char *word, const char *name, size_t len)
{
	return strlen(word) == len && !memcmp(word, name, len);
}

int word_parse_kind(const char *name, size_t len)
{
	uint32_t i;

	for (i = 0; i < SCHED_KINDS; i++)
		if (is_word(sched_kind_word(i), name, len) ||
		    is_word(sched_kind_event(i), name, len))
			return (int)i;
	return -1;
}
