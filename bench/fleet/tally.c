/* SPDX-License-Identifier: MIT */
/* tally: see tally.h. */
#include "tally.h"

#include <inttypes.h>

#define PART_BITS 3U
#define PARTS (1U << PART_BITS)

static uint32_t class_of(uint64_t ns)
{
	uint32_t bits;

	if (ns < PARTS)
		return (uint32_t)ns;
	bits = 63U - (uint32_t)__builtin_clzll(ns) - PART_BITS;
	return (bits + 1) * PARTS + (uint32_t)(ns >> bits & (PARTS - 1));
}

static uint64_t end_of(uint32_t number)
{
	uint32_t bits = number / PARTS;

	return bits ? (uint64_t)(PARTS + number % PARTS + 1) << (bits - 1) : number + 1;
}

void tally_add_wait(struct tally *t, uint64_t ns)
{
	t->waits[class_of(ns)]++;
	t->n_waits++;
	if (ns > t->longest_ns)
		t->longest_ns = ns;
}

uint64_t tally_get_wait_ns(const struct tally *t, double part)
{
	uint64_t wanted = (uint64_t)((double)t->n_waits * part), seen = 0;
	uint32_t i;

	for (i = 0; i < TALLY_CLASSES; i++) {
		seen += t->waits[i];
		if (seen > wanted)
			return end_of(i) < t->longest_ns ? end_of(i) : t->longest_ns;
	}
	return t->longest_ns;
}

bool tally_is_exact(const struct tally *t)
{
	return !t->broken_promises && t->finished == t->devices &&
	       t->blocks_made == t->blocks_acked + t->blocks_given_up &&
	       t->events_made + t->lost_made ==
		       t->events_acked + t->lost_acked + t->events_given_up;
}

static void put(FILE *f, const char *name, uint64_t value)
{
	fprintf(f, "%-16s %" PRIu64 "\n", name, value);
}

static void put_ms(FILE *f, const char *name, uint64_t ns)
{
	fprintf(f, "%-16s %.3f\n", name, (double)ns / 1e6);
}

void tally_print(const struct tally *t, double seconds, FILE *f)
{
	put(f, "devices", t->devices);
	put(f, "finished", t->finished);
	fprintf(f, "%-16s %.3f\n", "seconds", seconds);
	put(f, "connections", t->welcomed);
	put(f, "cuts", t->cuts);
	put(f, "broken", t->broken);
	put(f, "byes", t->byes);
	put(f, "blocks_made", t->blocks_made);
	put(f, "blocks_acked", t->blocks_acked);
	put(f, "blocks_given_up", t->blocks_given_up);
	put(f, "blocks_sent", t->blocks_sent);
	put(f, "bytes_sent", t->bytes_sent);
	put(f, "events_made", t->events_made);
	put(f, "events_acked", t->events_acked);
	put(f, "events_given_up", t->events_given_up);
	put(f, "lost_before", t->lost_made);
	put(f, "broken_promises", t->broken_promises);
	fprintf(f, "%-16s %.3f\n", "cpu_seconds", t->cpu_s);
	put(f, "latest_ms", t->latest_ms);
	put(f, "acks_timed", t->n_waits);
	put_ms(f, "ack_ms_half", tally_get_wait_ns(t, 0.5));
	put_ms(f, "ack_ms_99", tally_get_wait_ns(t, 0.99));
	put_ms(f, "ack_ms_most", t->longest_ns);
	fprintf(f, "%-16s %s\n", "exact", tally_is_exact(t) ? "yes" : "no");
}

void tally_print_live(const struct tally *t, const struct tally *before, FILE *f)
{
	fprintf(f,
		"\r%" PRIu64 "/%" PRIu64 " devices  %" PRIu64 " events/s  %.2f MB/s  %" PRIu64
		" blocks acknowledged, %" PRIu64 " given up  %" PRIu64
		" cuts  ack %.0f ms (99 %%)\033[K",
		t->connected, t->devices, t->events_acked - before->events_acked,
		(double)(t->bytes_sent - before->bytes_sent) / 1e6, t->blocks_acked,
		t->blocks_given_up, t->cuts, (double)tally_get_wait_ns(t, 0.99) / 1e6);
	fflush(f);
}
