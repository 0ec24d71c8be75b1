/* SPDX-License-Identifier: MIT */
/* ctf_metadata: see ctf_metadata.h. ctf_stream.c writes the bytes that this describes. */
#include "convert/ctf_metadata.h"

#include <inttypes.h>
#include <stdio.h>

#include "convert/ctf_folder.h"
#include "convert/ctf_layout.h"

#define NS_PER_S 1000000000LL

static const char types_text[] =
	"\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := unsigned long;\n"
	"typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"
	"\n";

static const char streams_text[] = "typealias integer { size = 27; align = 1; signed = false;\n"
				   "\tmap = clock.%1$s.value; } := uint27_clock_t;\n"
				   "typealias integer { size = 64; align = 8; signed = false;\n"
				   "\tmap = clock.%1$s.value; } := uint64_clock_t;\n"
				   "\n"
				   "struct packet_context {\n"
				   "\tuint64_clock_t timestamp_begin;\n"
				   "\tuint64_clock_t timestamp_end;\n"
				   "\tuint64_t content_size;\n"
				   "\tuint64_t packet_size;\n"
				   "\tuint64_t packet_seq_num;\n"
				   "\tunsigned long events_discarded;\n"
				   "\tuint32_t cpu_id;\n"
				   "};\n"
				   "\n"
				   "struct event_header_compact {\n"
				   "\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
				   "\tvariant <id> {\n"
				   "\t\tstruct {\n"
				   "\t\t\tuint27_clock_t timestamp;\n"
				   "\t\t} compact;\n"
				   "\t\tstruct {\n"
				   "\t\t\tuint32_t id;\n"
				   "\t\t\tuint64_clock_t timestamp;\n"
				   "\t\t} extended;\n"
				   "\t} v;\n"
				   "} align(8);\n"
				   "\n"
				   "stream {\n"
				   "\tid = 0;\n"
				   "\tevent.header := struct event_header_compact;\n"
				   "\tpacket.context := struct packet_context;\n";

static const char context_text[] =
	"\tevent.context := struct {\n"
	"\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; base = 10; } _tid;\n";

static const char flags_text[] =
	"\t\tinteger { size = 8; align = 8; signed = 0; encoding = none; base = 16; } "
	"_common_flags;\n"
	"\t\tinteger { size = 8; align = 8; signed = 0; encoding = none; base = 10; } "
	"_common_preempt_count;\n";

static void put_int(struct outfile *f, int bits, bool is_signed, const char *name)
{
	outfile_printf(
		f,
		"\t\tinteger { size = %d; align = 8; signed = %d; encoding = none; base = 10; "
		"} _%s;\n",
		bits, is_signed, name);
}

static void put_comm(struct outfile *f, const char *name)
{
	outfile_printf(
		f,
		"\t\tinteger { size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; } "
		"_%s[%d];\n",
		name, SCHED_COMM_LEN);
}

/* _procname is LTTng's own context of that name, here without the bytes behind its end. */
static void put_context(struct outfile *f, const struct trace_info *info)
{
	outfile_write(f, context_text, sizeof(context_text) - 1);
	if (!(info->dialect.features & DIALECT_NO_FLAGS)) /* unknown is not 0 */
		outfile_write(f, flags_text, sizeof(flags_text) - 1);
	if (info->has_comm)
		outfile_printf(f, "\t\tstring { encoding = UTF8; } _procname;\n");
	outfile_printf(f, "\t};\n");
}

static void put_event_head(struct outfile *f, const char *name, int id)
{
	outfile_printf(f,
		       "event {\n\tname = \"%s\";\n\tid = %d;\n\tstream_id = 0;\n"
		       "\tfields := struct {\n",
		       name, id);
}

static void put_event(struct outfile *f, const struct trace_info *info, enum sched_kind kind)
{
	const struct ctf_field *field;

	put_event_head(f, ctf_layouts[kind].name, (int)kind);
	for (field = ctf_layouts[kind].fields; field->name; field++)
		switch (field->role) {
		case CTF_TASK_COMM:
		case CTF_OTHER_COMM:
			put_comm(f, field->name);
			break;
		case CTF_FILENAME:
			outfile_printf(f, "\t\tstring { encoding = UTF8; } _%s;\n", field->name);
			break;
		case CTF_STATE:
			put_int(f, 64, true, field->name);
			break;
		case CTF_EXTRA:
			if (ctf_layout_has_extra(&info->dialect, kind))
				put_int(f, 8, false, field->name);
			break;
		default:
			put_int(f, 32, true, field->name);
		}
	outfile_printf(f, "\t};\n};\n\n");
}

static void put_statedump(struct outfile *f)
{
	static const char *const ids[] = { "tid", "vtid", "pid", "vpid", "ppid", "vppid" };
	static const char *const states[] = { "type", "mode", "submode", "status", "ns_level" };
	size_t i;

	outfile_printf(f, "/* vpid = -1: the process of this thread is not known. */\n");
	put_event_head(f, "lttng_statedump_process_state", CTF_STATEDUMP_ID);
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		put_int(f, 32, true, ids[i]);
	put_comm(f, "name");
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		put_int(f, 32, true, states[i]);
	put_int(f, 32, false, "ns_inum");
	outfile_printf(f, "\t};\n};\n\n");
}

/* The ledger's entry of a loss; readers know the loss itself by the packet's counters. */
static void put_loss(struct outfile *f)
{
	put_event_head(f, "kiseki_loss", CTF_LOSS_ID);
	put_int(f, 64, false, "count");
	put_int(f, 64, false, "from");
	put_int(f, 64, false, "to");
	put_int(f, 8, false, "cause");
	outfile_printf(f, "\t};\n};\n");
}

/* Control characters never reach an info (info_set), so only the two need escaping. */
static void put_text(struct outfile *f, const char *name, const char *text)
{
	outfile_printf(f, "\t%s = \"", name);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			outfile_write(f, "\\", 1);
		outfile_write(f, text, 1);
	}
	outfile_printf(f, "\";\n");
}

static void put_dialect(struct outfile *f, const struct sched_dialect *d)
{
	char letters[DIALECT_STATE_BITS + 1] = "";
	size_t i;

	for (i = 0; i < DIALECT_STATE_BITS; i++)
		letters[i] = d->state_letters[i] ? d->state_letters[i] : '.';
	outfile_printf(f, "\tkiseki_features = %" PRIu32 ";\n", d->features);
	outfile_printf(f, "\tkiseki_kinds = %" PRIu32 ";\n", d->kinds);
	outfile_printf(f, "\tkiseki_long_size = %u;\n", d->long_size);
	outfile_printf(f, "\tkiseki_flag_columns = %u;\n", d->flag_columns);
	outfile_printf(f, "\tkiseki_pid_width = %u;\n", d->pid_width);
	outfile_printf(f, "\tkiseki_state_mask = \"%" PRIx64 "\";\n", d->state_mask);
	outfile_printf(f, "\tkiseki_state_preempt = \"%" PRIx64 "\";\n", d->state_preempt);
	put_text(f, "kiseki_state_letters", letters);
}

static void put_env(struct outfile *f, const struct trace_info *info)
{
	outfile_printf(f, "env {\n");
	put_text(f, "hostname", info->device);
	outfile_printf(f, "\tdomain = \"kernel\";\n\tsysname = \"Linux\";\n");
	put_text(f, "kernel_release", info->kernel);
	outfile_printf(f, "\ttracer_name = \"lttng-modules\";\n\ttracer_major = 2;\n"
			  "\ttracer_minor = 12;\n\ttracer_patchlevel = 0;\n");
	outfile_printf(f, "\tkiseki_version = \"" KISEKI_VERSION "\";\n");
	put_text(f, "kiseki_machine", info->machine);
	put_text(f, "kiseki_origin", info->origin);
	put_text(f, "kiseki_clock", info->clock.name);
	outfile_printf(f, "\tkiseki_has_realtime = %d;\n", info->clock.has_realtime);
	outfile_printf(f, "\tkiseki_print_digits = %" PRIu32 ";\n", info->clock.print_digits);
	outfile_printf(f, "\tkiseki_cpus = %" PRIu32 ";\n", info->cpus);
	put_dialect(f, &info->dialect);
	outfile_printf(f, "};\n\n");
}

static const char *clock_name(const struct trace_info *info)
{
	return strcmp(info->clock.name, "mono") != 0 ? "trace" : "monotonic";
}

/* Stamps are nanoseconds of the trace's clock; what is missing to the epoch is the offset. */
static void put_clock(struct outfile *f, const struct trace_info *info)
{
	int64_t offset = info->clock.has_realtime ? info->clock.realtime_off_ns : 0;
	int64_t seconds = 0;

	if (offset < 0) {
		seconds = offset / NS_PER_S - 1;
		offset -= seconds * NS_PER_S;
	}
	outfile_printf(f, "clock {\n\tname = \"%s\";\n", clock_name(info));
	put_text(f, "description", *info->clock.name ? info->clock.name : "unnamed trace clock");
	outfile_printf(f, "\tfreq = 1000000000;\n");
	if (info->clock.has_realtime)
		outfile_printf(f, "\tprecision = %" PRIu64 ";\n\tabsolute = TRUE;\n",
			       info->clock.realtime_err_ns);
	if (seconds)
		outfile_printf(f, "\toffset_s = %" PRId64 ";\n", seconds);
	outfile_printf(f, "\toffset = %" PRId64 ";\n};\n\n", offset);
}

static void put_trace(struct outfile *f, const uint8_t uuid[CTF_UUID_LEN])
{
	char text[2 * CTF_UUID_LEN + 5], *p = text;
	size_t i;

	for (i = 0; i < CTF_UUID_LEN; i++)
		p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
	outfile_printf(f,
		       "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n"
		       "\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n"
		       "\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n"
		       "\t\tuint64_t stream_instance_id;\n\t};\n};\n\n",
		       text);
}

bool ctf_metadata_has_context(const struct sched_dialect *d)
{
	return (d->features & (DIALECT_NO_FLAGS | DIALECT_NO_CUR)) !=
	       (DIALECT_NO_FLAGS | DIALECT_NO_CUR);
}

void ctf_metadata_write(struct outfile *f, const struct trace_info *info,
			const uint8_t uuid[CTF_UUID_LEN])
{
	int kind;

	outfile_printf(f, CTF_METADATA_HEAD);
	outfile_write(f, types_text, sizeof(types_text) - 1);
	put_trace(f, uuid);
	put_env(f, info);
	put_clock(f, info);
	outfile_printf(f, streams_text, clock_name(info));
	if (ctf_metadata_has_context(&info->dialect))
		put_context(f, info);
	outfile_printf(f, "};\n\n");
	for (kind = 0; kind < SCHED_KINDS; kind++)
		put_event(f, info, (enum sched_kind)kind);
	put_statedump(f);
	put_loss(f);
}
