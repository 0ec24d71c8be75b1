/* SPDX-License-Identifier: MIT */
/* kernel_names: see kernel_names.h. */
#include "device/profile/kernel_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "device/profile/told_functions.h"

#define PAUSE_FIRST_MS 1000U
#define PAUSE_MOST_MS 300000U
#define NAME_MAX_LEN 511U /* the kernel's own limit */
#define LINE_MAX_LEN 1024U
#define PIECE 32768U
#define MODULE_MAX_LEN 60U
#define TEXT_ROOM (256U * 1024) /* of names; who finds none is named the next time */
#define SEEN_MOST (KERNEL_NAMES_SEEN / 4 * 3)

struct function {
	uint64_t from, to; /* 0: not found */
	uint32_t text;	   /* where its name begins */
	uint16_t text_len; /* 0: there was no room */
	uint8_t badness;   /* of that name */
	bool is_passing;   /* what comes and goes beside modules */
};

/* It, as far as it was read. */
struct list {
	int fd;
	size_t at, len;
	char text[PIECE + 1];
};

struct kernel_names {
	const char *path;
	const char *modules; /* NULL: what was told is told again */
	uint32_t n_seen, n_idle, text_len;
	bool has_idle;		   /* it was looked for, and some were found */
	uint64_t due_ms, pause_ms; /* when to put what was seen; 0: nothing was yet */
	uint64_t seen[KERNEL_NAMES_SEEN];
	struct function of[SEEN_MOST];
	struct function idle[KERNEL_NAMES_IDLE];
	struct told_functions told;
	struct list list;
	char text[TEXT_ROOM];
};

/* A line of the list. */
struct symbol {
	uint64_t address;
	char type;
	const char *name, *module; /* module: NULL, or "[name]" */
};

int kernel_names_new(struct kernel_names **ret, const char *path, struct error *e)
{
	struct kernel_names *k = calloc(1, sizeof(*k));

	if (!k)
		return error_set(e, ENOMEM, "cannot keep the kernel's names: out of memory");
	k->path = path;
	*ret = k;
	return 0;
}

void kernel_names_free(struct kernel_names *k)
{
	free(k);
}

/* --- the list --- */

static bool read_more(struct list *l)
{
	ssize_t n;

	memmove(l->text, l->text + l->at, l->len - l->at);
	l->len -= l->at;
	l->at = 0;
	if (l->len == PIECE)
		return false;
	do
		n = read(l->fd, l->text + l->len, PIECE - l->len);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	l->len += (size_t)n;
	return true;
}

static char *next_line(struct list *l)
{
	char *end, *line;

	while (!(end = memchr(l->text + l->at, '\n', l->len - l->at)))
		if (!read_more(l))
			return NULL;
	*end = 0;
	line = l->text + l->at;
	l->at = (size_t)(end + 1 - l->text);
	return line;
}

static bool parse_line(char *p, struct symbol *s)
{
	char *tab;
	int digit;

	s->address = 0;
	for (; (digit = hex_digit(*p)) >= 0; p++)
		s->address = s->address << 4 | (unsigned)digit;
	if (p[0] != ' ' || !p[1] || p[2] != ' ')
		return false;
	s->type = p[1];
	s->name = p + 3;
	tab = strchr(p + 3, '\t');
	if (tab)
		*tab = 0;
	s->module = tab ? tab + 1 : NULL;
	return s->address && s->name[0];
}

/* The next one that is code. Marks that an assembler leaves are not. */
static bool next_symbol(struct list *l, struct symbol *s)
{
	char *line;

	while ((line = next_line(l)))
		if (parse_line(line, s) && strchr("tTwW", s->type) && s->name[0] != '$')
			return true;
	return false;
}

static bool open_list(struct list *l, const char *path)
{
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	l->at = l->len = 0;
	return l->fd >= 0;
}

static void close_list(struct list *l)
{
	close(l->fd);
}

/* --- idle --- */

static bool is_idle_name(const char *name)
{
	static const char *const names[] = {
		"acpi_idle_do_entry",
		"acpi_idle_enter",
		"acpi_processor_ffh_cstate_enter",
		"acpi_safe_halt",
		"amd_e400_idle",
		"arch_cpu_idle",
		"cpu_do_idle",
		"cpu_idle_poll",
		"cpu_suspend",
		"cpuidle_enter",
		"cpuidle_enter_state",
		"cpu_v7_do_idle",
		"default_idle",
		"default_idle_call",
		"finish_cpu_suspend",
		"intel_idle",
		"intel_idle_ibrs",
		"intel_idle_irq",
		"intel_idle_hlt",
		"intel_idle_xstate",
		"mwait_idle",
		"mwait_idle_with_hints",
		"native_safe_halt",
		"poll_idle",
		"psci_cpu_suspend_enter",
		"psci_suspend_finisher",
		"pv_native_safe_halt",
		"sbi_suspend_finisher",
		"xen_safe_halt",
		"__cpu_do_idle",
		"__cpu_suspend_enter",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The list is in order of addresses as far as the kernel itself goes: a function ends where the next begins. */
void kernel_names_learn_idle(struct kernel_names *k)
{
	struct list *l = &k->list;
	struct function *last = NULL;
	struct symbol s;

	if (!open_list(l, k->path))
		return;
	while (k->n_idle < KERNEL_NAMES_IDLE && next_symbol(l, &s)) {
		if (last && s.address > last->from) {
			last->to = s.address;
			last = NULL;
		}
		if (!is_idle_name(s.name))
			continue;
		last = &k->idle[k->n_idle++];
		*last = (struct function){ .from = s.address, .to = s.address };
	}
	k->has_idle = k->n_idle;
	close_list(l);
}

bool kernel_names_is_idle(const struct kernel_names *k, uint64_t address)
{
	uint32_t i;

	for (i = 0; i < k->n_idle; i++)
		if (address >= k->idle[i].from && address < k->idle[i].to)
			return true;
	return !k->has_idle;
}

/* --- what was seen --- */

bool kernel_names_push(struct kernel_names *k, uint64_t address)
{
	uint32_t i = (uint32_t)((address * 0x9e3779b97f4a7c15ULL) >> 40) & (KERNEL_NAMES_SEEN - 1);

	if (!address || told_functions_has(&k->told, address))
		return false;
	if (k->n_seen >= SEEN_MOST)
		return true;
	for (; k->seen[i] != address; i = (i + 1) & (KERNEL_NAMES_SEEN - 1)) {
		if (k->seen[i])
			continue;
		k->seen[i] = address;
		k->n_seen++;
		break;
	}
	return k->n_seen >= SEEN_MOST;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* From a table with gaps to a list by rising address. */
static void sort_seen(struct kernel_names *k)
{
	uint32_t i, n = 0;

	for (i = 0; i < KERNEL_NAMES_SEEN; i++)
		if (k->seen[i])
			k->seen[n++] = k->seen[i];
	k->n_seen = n;
	qsort(k->seen, n, sizeof(*k->seen), compare);
	memset(k->of, 0, n * sizeof(*k->of));
}

/* The place of the first address that is not below. */
static uint32_t find_seen(const struct kernel_names *k, uint64_t address)
{
	uint32_t from = 0, to = k->n_seen, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (k->seen[middle] < address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* --- names --- */

/* Several names may stand for one address; borders of sections and copies of names are the worst. */
static uint8_t badness_of(const char *name)
{
	size_t len = strlen(name), underscores = strspn(name, "_");
	uint8_t bad = (uint8_t)(underscores < 3 ? underscores : 3);

	if (!strncmp(name, "__pi_", 5) || !strncmp(name, "__cfi_", 6))
		bad += 4;
	if (!strcmp(name, "_stext") || !strcmp(name, "_text") ||
	    (len > 6 && !strcmp(name + len - 6, "_start")) ||
	    (len > 6 && !strcmp(name + len - 6, "_begin")) ||
	    (len > 4 && !strcmp(name + len - 4, "_end")))
		bad += 8;
	return bad;
}

/* Programs of BPF, and what the kernel makes for its own tracers. */
static bool is_passing(const struct symbol *s)
{
	return s->module &&
	       (!strncmp(s->module, "[bpf", 4) || !strncmp(s->module, "[__builtin", 10));
}

static void take_name(struct kernel_names *k, struct function *f, const struct symbol *s)
{
	uint8_t bad = badness_of(s->name);
	size_t room;
	int n;

	if (f->from == s->address && f->text_len && bad >= f->badness)
		return;
	/* Of a list in order each name takes the place of the one before it. */
	if (f->text_len && f->text + f->text_len == k->text_len)
		k->text_len = f->text;
	room = TEXT_ROOM - k->text_len;
	n = snprintf(k->text + k->text_len, room, "%.*s%s%.*s", (int)NAME_MAX_LEN, s->name,
		     s->module ? " " : "", (int)MODULE_MAX_LEN, s->module ? s->module : "");
	f->from = s->address;
	f->badness = bad;
	f->is_passing = is_passing(s);
	f->text = k->text_len;
	f->text_len = n > 0 && (size_t)n < room ? (uint16_t)n : 0;
	k->text_len += f->text_len;
}

/* The function of an address starts at the last symbol that is not above it, and ends at the first that is. Each symbol
 * is noted at the address next to it; what lies between comes by going through the addresses once up and once down.
 * False: the list had none. */
static bool find_functions(struct kernel_names *k, struct list *l)
{
	struct symbol s;
	bool is_any = false;
	uint32_t i;

	while (next_symbol(l, &s)) {
		is_any = true;
		i = find_seen(k, s.address);
		if (i < k->n_seen && s.address >= k->of[i].from)
			take_name(k, &k->of[i], &s);
		if (i && (!k->of[i - 1].to || s.address < k->of[i - 1].to))
			k->of[i - 1].to = s.address;
	}
	for (i = 1; i < k->n_seen; i++)
		if (k->of[i - 1].from > k->of[i].from) {
			uint64_t to = k->of[i].to;

			k->of[i] = k->of[i - 1];
			k->of[i].to = to;
		}
	for (i = k->n_seen; i-- > 1;)
		if (k->of[i].to && (!k->of[i - 1].to || k->of[i].to < k->of[i - 1].to))
			k->of[i - 1].to = k->of[i].to;
	return is_any;
}

static void put_function(struct kernel_names *k, const struct function *f, struct profile_meta *m)
{
	struct sample_kernel_name row = { f->from, f->to, k->text + f->text, f->text_len };

	if (!f->text_len)
		return;
	profile_meta_put_kernel_name(m, &row);
	/* Where the end is not known something else may come to lie. */
	if (!f->is_passing && f->to - f->from < KERNEL_NAMES_SIZE_MOST)
		told_functions_push(&k->told, f->from, f->to);
}

/* Each function once, in order. An address in none has nothing to be told. */
static void put_functions(struct kernel_names *k, struct profile_meta *m)
{
	uint64_t last = 0;
	uint32_t i;

	for (i = 0; i < k->n_seen; i++) {
		struct function f = k->of[i];

		if (!f.from || k->seen[i] - f.from > KERNEL_NAMES_SIZE_MOST) {
			told_functions_push(&k->told, k->seen[i], k->seen[i] + 1);
			continue;
		}
		if (!f.to || f.to - f.from > KERNEL_NAMES_SIZE_MOST)
			f.to = f.from + KERNEL_NAMES_SIZE_MOST;
		if (f.from != last)
			put_function(k, &f, m);
		last = f.from;
	}
}

/* Where the kernel hides its addresses, all has been told that ever will be. */
static void note_told(struct kernel_names *k, bool is_any)
{
	if (!k->modules || !is_any)
		told_functions_forget(&k->told);
	if (k->modules && !is_any)
		told_functions_push(&k->told, 1, UINT64_MAX);
	told_functions_sort(&k->told);
}

static void check_modules(struct kernel_names *k)
{
	if (k->modules)
		told_functions_check(&k->told, k->modules);
}

void kernel_names_put(struct kernel_names *k, struct profile_meta *m)
{
	struct list *l = &k->list;
	bool is_any;

	check_modules(k);
	k->text_len = 0;
	if (k->n_seen && open_list(l, k->path)) {
		sort_seen(k);
		is_any = find_functions(k, l);
		if (is_any)
			put_functions(k, m);
		note_told(k, is_any);
		close_list(l);
	}
	memset(k->seen, 0, sizeof(k->seen));
	k->n_seen = 0;
}

void kernel_names_keep_told(struct kernel_names *k, const char *modules)
{
	k->modules = modules;
}

void kernel_names_forget_told(struct kernel_names *k)
{
	told_functions_forget(&k->told);
}

void kernel_names_put_due(struct kernel_names *k, struct profile_meta *m, uint64_t now_ms)
{
	if (!k->pause_ms) {
		k->pause_ms = PAUSE_FIRST_MS;
		k->due_ms = now_ms + k->pause_ms;
	}
	if (now_ms < k->due_ms)
		return;
	if (!k->n_seen) {
		check_modules(k);
		k->due_ms = now_ms + PAUSE_FIRST_MS;
		return;
	}
	kernel_names_put(k, m);
	k->pause_ms = 2 * k->pause_ms < PAUSE_MOST_MS ? 2 * k->pause_ms : PAUSE_MOST_MS;
	k->due_ms = now_ms + k->pause_ms;
}
