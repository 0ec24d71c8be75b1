/* SPDX-License-Identifier: MIT */
/* ctf_env: see ctf_env.h. */
#include "convert/ctf_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_PER_S 1000000000ULL
#define FREQUENCY_MAX (10 * NS_PER_S) /* beyond it r * 1e9 below would not fit */
#define OFFSET_MAX_S 9000000000LL     /* seconds whose nanoseconds fit into int64_t */

static const char *env_text(const bt_trace *t, const char *name)
{
	const bt_value *v = bt_trace_borrow_environment_entry_value_by_name_const(t, name);

	return v && bt_value_is_string(v) ? bt_value_string_get(v) : NULL;
}

/* An entry within [min, max], else `other`. */
static int64_t env_int(const bt_trace *t, const char *name, int64_t min, int64_t max, int64_t other)
{
	const bt_value *v = bt_trace_borrow_environment_entry_value_by_name_const(t, name);
	int64_t value;

	if (!v || !bt_value_is_signed_integer(v))
		return other;
	value = bt_value_integer_signed_get(v);
	return value >= min && value <= max ? value : other;
}

static int set_text(char **field, const char *text)
{
	return text ? info_set(field, text, strlen(text)) : 0;
}

static uint64_t ns_of(const struct ctf_clock *c, uint64_t cycles)
{
	return cycles / c->frequency * NS_PER_S + cycles % c->frequency * NS_PER_S / c->frequency;
}

uint64_t ctf_clock_tick(const struct ctf_clock *c, uint64_t cycles)
{
	return c->cycles ? cycles : ns_of(c, cycles);
}

static int read_clock(struct ctf_clock *c, const bt_clock_class *class, struct trace_clock *ret,
		      struct error *e)
{
	const char *name = bt_clock_class_get_name(class);
	uint64_t offset;
	int64_t seconds;

	c->frequency = bt_clock_class_get_frequency(class);
	if (c->frequency == 0 || c->frequency > FREQUENCY_MAX)
		return error_set(e, EBADMSG, "the CTF trace's clock has an impossible frequency");
	c->cycles = NS_PER_S % c->frequency == 0;
	clock_init(ret);
	if (c->cycles)
		ret->mult = (uint32_t)(NS_PER_S / c->frequency);
	if (!name)
		name = "lttng";
	else if (!strcmp(name, "monotonic"))
		name = "mono"; /* the kernel's word for the same clock */
	strncpy(ret->name, name, sizeof(ret->name) - 1);
	bt_clock_class_get_offset(class, &seconds, &offset);
	if (bt_clock_class_origin_is_unix_epoch(class) && seconds > -OFFSET_MAX_S &&
	    seconds < OFFSET_MAX_S) {
		/* LTTng writes all of it as cycles: more than fits is no date. */
		offset = ns_of(c, offset);
		ret->has_realtime = offset <= INT64_MAX &&
				    !__builtin_add_overflow(seconds * (int64_t)NS_PER_S,
							    (int64_t)offset, &ret->realtime_off_ns);
		ret->realtime_err_ns = ns_of(c, bt_clock_class_get_precision(class));
	}
	return 0;
}

/* What the event classes tell: which kinds were recorded, and fields that only some kernels have. */
static int read_event_classes(const bt_stream_class *sc, struct ctf_plans *plans,
			      struct sched_dialect *d, struct error *e)
{
	uint64_t i, n = bt_stream_class_get_event_class_count(sc);
	const struct ctf_plan *p;
	int r;

	for (i = 0; i < n; i++) {
		r = ctf_plans_get(plans, bt_stream_class_borrow_event_class_by_index_const(sc, i),
				  &p, e);
		if (r < 0)
			return r;
		if (p->use != CTF_EVENT)
			continue;
		d->kinds |= 1U << p->kind;
		if (p->kind == SCHED_SWITCH)
			d->long_size = p->long_is_32 ? 4 : 8;
		if (p->has_extra)
			d->features |=
				p->kind == SCHED_EXIT ? DIALECT_GROUP_DEAD : DIALECT_SUCCESS_SILENT;
	}
	return 0;
}

static bool has_tid(const bt_stream_class *sc)
{
	const bt_field_class *c = bt_stream_class_borrow_event_common_context_field_class_const(sc);

	return c && bt_field_class_structure_borrow_member_by_name_const(c, "tid");
}

static int read_stream_classes(struct ctf_env *env, const bt_trace_class *tc,
			       struct ctf_plans *plans, struct trace_info *info, struct error *e)
{
	uint64_t i, n = bt_trace_class_get_stream_class_count(tc);
	const bt_clock_class *clock = NULL, *c;
	int r;

	env->has_tid = n > 0;
	for (i = 0; i < n; i++) {
		const bt_stream_class *sc =
			bt_trace_class_borrow_stream_class_by_index_const(tc, i);

		c = bt_stream_class_borrow_default_clock_class_const(sc);
		if (!c || (clock && c != clock))
			return error_set(e, EBADMSG, "the CTF trace has %s",
					 c ? "several clocks" : "a stream without a clock");
		clock = c;
		env->has_tid = env->has_tid && has_tid(sc);
		r = read_event_classes(sc, plans, &info->dialect, e);
		if (r < 0)
			return r;
	}
	if (!clock)
		return error_set(e, EBADMSG, "the CTF trace describes no streams");
	return read_clock(&env->clock, clock, &info->clock, e);
}

static uint64_t hex(const char *text, uint64_t other)
{
	char *end;
	uint64_t v;

	if (!text || !*text)
		return other;
	errno = 0;
	v = strtoull(text, &end, 16);
	return errno || *end ? other : v;
}

/* Entries that are missing or out of range leave what the release suggests. */
static void read_own_dialect(const bt_trace *t, struct sched_dialect *d)
{
	const char *letters = env_text(t, "kiseki_state_letters");
	size_t i;

	d->features = (uint32_t)env_int(t, "kiseki_features", 0, UINT32_MAX, d->features);
	d->kinds = (uint32_t)env_int(t, "kiseki_kinds", 0, UINT32_MAX, d->kinds);
	d->long_size = env_int(t, "kiseki_long_size", 4, 8, d->long_size) == 4 ? 4 : 8;
	d->flag_columns = (uint8_t)env_int(t, "kiseki_flag_columns", 4, 5, d->flag_columns);
	d->pid_width = (uint8_t)env_int(t, "kiseki_pid_width", 5, 7, d->pid_width);
	d->state_mask = hex(env_text(t, "kiseki_state_mask"), d->state_mask);
	d->state_preempt = hex(env_text(t, "kiseki_state_preempt"), d->state_preempt);
	if (!letters)
		return;
	memset(d->state_letters, 0, sizeof(d->state_letters));
	for (i = 0; i < DIALECT_STATE_BITS && letters[i]; i++)
		if (letters[i] > ' ' && letters[i] < 0x7f && letters[i] != '.')
			d->state_letters[i] = letters[i];
}

static int read_own(const bt_trace *t, struct trace_info *info)
{
	const char *clock = env_text(t, "kiseki_clock");
	struct trace_clock *c = &info->clock;

	read_own_dialect(t, &info->dialect);
	memset(c->name, 0, sizeof(c->name));
	if (clock)
		strncpy(c->name, clock, sizeof(c->name) - 1);
	c->has_realtime = c->has_realtime && env_int(t, "kiseki_has_realtime", 0, 1, 0);
	if (!c->has_realtime) {
		c->realtime_off_ns = 0;
		c->realtime_err_ns = 0;
	}
	c->print_digits = (uint32_t)env_int(t, "kiseki_print_digits", 0, 9, 9);
	if (c->print_digits != 0 && c->print_digits != 6)
		c->print_digits = 9;
	info->cpus = (uint32_t)env_int(t, "kiseki_cpus", 0, TRACE_CPUS_MAX, 0);
	if (set_text(&info->machine, env_text(t, "kiseki_machine")) < 0)
		return -ENOMEM;
	return set_text(&info->origin, env_text(t, "kiseki_origin"));
}

int ctf_env_read(struct ctf_env *env, const bt_stream *stream, struct ctf_plans *plans,
		 struct trace_info *info, struct error *e)
{
	const bt_trace *t = bt_stream_borrow_trace_const(stream);
	const char *domain = env_text(t, "domain"), *tracer = env_text(t, "tracer_name");
	const char *release = env_text(t, "kernel_release");
	char origin[CTF_UNREAD_MAX + 48];
	int r;

	if (domain && strcmp(domain, "kernel") != 0)
		return error_set(e, EBADMSG, "the CTF trace is not of a kernel but of domain %s",
				 domain);
	env->own = env_text(t, "kiseki_version") != NULL;
	env->prio_offset = tracer && !strcmp(tracer, "lttng-modules") ? CTF_PRIO_OFFSET : 0;
	dialect_from_release(&info->dialect, release);
	/* These come back below if the recorded events have the fields. */
	info->dialect.features &=
		~(uint32_t)(DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT | DIALECT_GROUP_DEAD);
	info->dialect.features |= DIALECT_NO_FLAGS;
	r = read_stream_classes(env,
				bt_stream_class_borrow_trace_class_const(
					bt_stream_borrow_class_const(stream)),
				plans, info, e);
	if (r < 0)
		return r;
	if (!env->has_tid)
		info->dialect.features |= DIALECT_NO_CUR;
	snprintf(origin, sizeof(origin), "%s CTF 1.8%s%s",
		 tracer && !strcmp(tracer, "perf") ? "perf" : "LTTng",
		 plans->unread[0] ? ", not understood: " : "", plans->unread);
	if (set_text(&info->device, env_text(t, "hostname")) < 0 ||
	    set_text(&info->kernel, release) < 0 || set_text(&info->origin, origin) < 0 ||
	    (env->own && read_own(t, info) < 0))
		return error_set(e, ENOMEM, "cannot read CTF trace: out of memory");
	return 0;
}
