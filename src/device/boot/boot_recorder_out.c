/* SPDX-License-Identifier: MIT */
/* boot_recorder_out: where the blocks go: file and collector. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/boot/boot_recorder_state.h"

#define LINK_PAUSE_MS 1000U /* between two attempts to make the connection's side of us */
#define LINK_PATIENCE_MS                                                                           \
	30000U /* with a root that is the first one, or a file that cannot be made */
#define TELL_MS 1000U

static uint64_t now_ms(const struct boot_recorder *r)
{
	return r->now_ns / CLOCK_NS_PER_MS;
}

static bool is_patient(const struct boot_recorder *r)
{
	return r->is_recording && r->now_ns - r->start_ns < LINK_PATIENCE_MS * CLOCK_NS_PER_MS;
}

/* --- the file --- */

void boot_recorder_finish_file(struct boot_recorder *r)
{
	struct error e = ERROR_INIT;

	if (!r->file || r->file_done)
		return;
	r->file_done = true;
	if (boot_file_finish(r->file, &e) < 0)
		boot_recorder_log(r, "%s", e.text);
}

static void put_into_file(struct boot_recorder *r)
{
	struct error e = ERROR_INIT;
	char text[320];
	int res;

	if (!r->file || r->file_done || r->is_full)
		return;
	res = boot_file_turn(r->file, now_ms(r), &e);
	if (res == 0 && !r->s->collector[0])
		boot_file_release(r->file);
	if (res == 0 || (res == -EAGAIN && r->is_recording))
		return;
	if (r->is_recording && res == -ENOSPC && !r->is_full) {
		r->is_full = true;
		boot_recorder_log(r, "%s", e.text);
		snprintf(text, sizeof(text), "the rest: the file system of %.200s is full",
			 r->s->out);
		record_sink_mark(r->sink, r->now_ns, BOOT_MARK_MISSING, text);
		if (!r->s->collector[0])
			boot_recorder_stop(r, "the file system is full");
		return;
	}
	if (r->is_recording) {
		boot_recorder_log(r, "%s", e.text);
		r->is_full = true;
	}
}

/* --- the collector --- */

/* The names of hosts and the device's identity are in the root that init goes to. */
static void make_link(struct boot_recorder *r)
{
	struct side_link_options o = { .spool = r->spool,
				       .collector = r->s->collector,
				       .name = r->device,
				       .state_dir = r->s->state_dir,
				       .who = "the recorder of a boot",
				       .bye = "the boot is recorded" };
	struct error e = ERROR_INIT;

	if (now_ms(r) < r->link_ms || (place_is_first_root() && is_patient(r)) ||
	    r->o.place.is_private)
		return;
	r->link_ms = now_ms(r) + LINK_PAUSE_MS;
	if (!r->s->name[0] && !gethostname(r->device, sizeof(r->device) - 1))
		r->device[strcspn(r->device, ".")] = 0;
	o.entry_max = BLOCK_HEADER_MAX + CONFIG_BLOCK_MOST + 2 * SCHED_FILENAME_MAX;
	if (side_link_new(&r->link, &o, &e) >= 0 || r->is_recording ||
	    !strcmp(e.text, r->no_link.text))
		return;
	r->no_link = e; /* it is tried again and again, and said once */
	boot_recorder_log(r, "%s", e.text);
}

static void tell(struct boot_recorder *r)
{
	struct message_status m = { .state = r->is_recording ? DEVICE_TRACING : DEVICE_IDLE };
	uint32_t i;

	if (now_ms(r) < r->tell_ms || !side_link_is_welcome(r->link))
		return;
	r->tell_ms = now_ms(r) + TELL_MS;
	m.events = boot_lane_count(r->lane);
	for (i = 0; i < LOSS_CAUSES; i++)
		m.lost[i] = r->lane->lost[i];
	m.blocks = r->lane->blocks;
	m.bytes = r->lane->bytes;
	m.spool_used = spool_used(r->spool);
	m.spool_size = spool_size(r->spool);
	m.text.at = "kiseki-boot";
	m.text.len = 11;
	side_link_tell(r->link, &m);
}

/* A block that the collector has acknowledged leaves the spool, so the file goes first, if it can be made soon. */
static void put_into_link(struct boot_recorder *r)
{
	struct error e = ERROR_INIT;

	if (!r->s->collector[0])
		return;
	if (r->file && !r->is_full && !r->file_done && !boot_file_is_open(r->file) && is_patient(r))
		return;
	if (!r->link)
		make_link(r);
	if (!r->link)
		return;
	if (side_link_turn(r->link, now_ms(r), r->is_recording, &e) < 0 && e.text[0])
		boot_recorder_log(r, "%s", e.text);
	tell(r);
}

void boot_recorder_put_out(struct boot_recorder *r)
{
	bool is_sent;

	put_into_file(r);
	if (!r->is_recording)
		boot_recorder_finish_file(r);
	put_into_link(r);
	is_sent = !r->s->collector[0] || !spool_used(r->spool);
	if (!r->is_recording && (is_sent || r->was_told)) {
		if (r->link)
			side_link_bye(r->link, now_ms(r));
		r->is_over = true;
	}
}
