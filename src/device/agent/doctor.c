/* SPDX-License-Identifier: MIT */
/*
 * doctor: see doctor.h. Findings are collected first, each a line with a name, whether it is well,
 * what was found and what would help; then they are printed, for people or as JSON.
 */
#include "device/agent/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device/agent/handover.h"
#include "device/agent/resolution.h"
#include "device/agent/source.h"
#include "device/agent/tracefs.h"
#include "wire/message.h"

#define FINDINGS_MAX 48U
#define BPFFS_MAGIC 0xcafe4a11U
#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT 38
#define CAP_BPF_BIT 39

enum verdict {
	GOOD,
	NOTE, /* worth knowing; nothing is broken */
	BAD,
};

struct finding {
	enum verdict verdict;
	const char *name;
	char text[256];
	char help[256];
};

struct doctor {
	struct finding findings[FINDINGS_MAX];
	uint32_t n;
	bool can[ORIGINS];
	struct doctor_compare compare;
	bool compared;
};

__attribute__((format(printf, 4, 5))) static struct finding *find(struct doctor *d,
								  enum verdict verdict,
								  const char *name,
								  const char *format, ...)
{
	struct finding *f = &d->findings[d->n < FINDINGS_MAX - 1 ? d->n++ : FINDINGS_MAX - 1];
	va_list ap;

	f->verdict = verdict;
	f->name = name;
	f->help[0] = 0;
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	return f;
}

/* What would help, where something does not go well. */
static void advise(struct finding *f, const char *help)
{
	if (f->verdict != GOOD)
		snprintf(f->help, sizeof(f->help), "%s", help);
}

/* The first line of a file; false if there is none. */
static bool read_line(const char *path, char *line, size_t room)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, room - 1);

	if (n < 0)
		return false;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	return true;
}

static void check_machine(struct doctor *d)
{
	uint32_t shift = resolution_auto();
	uint64_t hz = resolution_get_frequency();
	struct utsname un;
	char source[64] = "unknown";

	if (!uname(&un))
		find(d, GOOD, "kernel", "%s %s on %s", un.sysname, un.release, un.machine);
	find(d, GOOD, "cpus", "%ld possible, %ld online", sysconf(_SC_NPROCESSORS_CONF),
	     sysconf(_SC_NPROCESSORS_ONLN));
	read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		  sizeof(source));
	if (hz)
		find(d, GOOD, "counter",
		     "%s, %llu Hz: one count is %llu.%03llu ns, stamps are kept to %u ns", source,
		     (unsigned long long)hz, 1000000000ULL / hz, 1000000000000ULL / hz % 1000,
		     1U << shift);
	else
		find(d, GOOD, "counter", "%s, stamps are kept to %u ns", source, 1U << shift);
	if (!strcmp(source, "jiffies") || !strcmp(source, "refined-jiffies"))
		advise(find(d, BAD, "clock", "the clock is %s: stamps are milliseconds apart",
			    source),
		       "give the kernel a driver for the machine's timer");
}

static bool has_capability(int bit)
{
	unsigned long long effective = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "CapEff: %llx", &effective) != 1)
		;
	if (f)
		fclose(f);
	return effective >> bit & 1;
}

static void check_privileges(struct doctor *d)
{
	bool admin = has_capability(CAP_SYS_ADMIN_BIT);
	bool bpf = admin || (has_capability(CAP_BPF_BIT) && has_capability(CAP_PERFMON_BIT));
	char line[128];

	advise(find(d, geteuid() ? NOTE : GOOD, "user", "%s", geteuid() ? "not root" : "root"),
	       "run as root; or give it CAP_BPF, CAP_PERFMON and CAP_DAC_OVERRIDE");
	advise(find(d, bpf ? GOOD : BAD, "capabilities",
		    "CAP_SYS_ADMIN %s, CAP_BPF %s, CAP_PERFMON %s", admin ? "yes" : "no",
		    has_capability(CAP_BPF_BIT) ? "yes" : "no",
		    has_capability(CAP_PERFMON_BIT) ? "yes" : "no"),
	       "give it CAP_BPF and CAP_PERFMON (5.8 on)");
	if (read_line("/sys/kernel/security/lockdown", line, sizeof(line))) {
		bool locked = strstr(line, "[confidentiality]") != NULL;

		advise(find(d, locked ? BAD : GOOD, "lockdown", "%s", line),
		       "boot with lockdown=integrity or less: confidentiality forbids tracing");
	}
	if (read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)))
		find(d, NOTE, "perf_event_paranoid",
		     "%s; matters to perf alone, not to these sources", line);
	if (read_line("/proc/sys/net/core/bpf_jit_enable", line, sizeof(line)))
		advise(find(d, line[0] == '0' ? NOTE : GOOD, "bpf_jit", "%s",
			    line[0] == '0' ? "off" : "on"),
		       "sysctl net.core.bpf_jit_enable=1 makes BPF programs several times faster");
}

static void check_tracefs(struct doctor *d)
{
	struct error e = ERROR_INIT;
	char path[TRACEFS_PATH_MAX];
	const char *root;
	int n;

	if (source_tracefs.probe(&e) || tracefs_find(&root, &e)) {
		advise(find(d, BAD, "tracefs", "%.250s", e.text),
		       "mount -t tracefs nodev /sys/kernel/tracing, as root; the kernel needs "
		       "CONFIG_TRACING and CONFIG_EVENT_TRACING");
		return;
	}
	n = tracefs_sweep(root, "kiseki-doctor-") + tracefs_sweep(root, "kiseki-func-");
	if (n)
		find(d, NOTE, "tracefs",
		     "%d instances of killed processes recorded for nobody; they are removed now",
		     n);
	/* Where the security policy forbids it, permissions alone do not show it. */
	snprintf(path, sizeof(path), "%s/instances/kiseki-doctor-%d", root, (int)getpid());
	if (mkdir(path, 0700)) {
		advise(find(d, BAD, "tracefs", "%s, but no instance can be made: %s", root,
			    strerror(errno)),
		       "run as root, without lockdown=confidentiality");
		return;
	}
	rmdir(path);
	d->can[ORIGIN_TRACEFS] = true;
	find(d, GOOD, "tracefs", "%s, an instance of our own can be made", root);
}

static void check_bpf(struct doctor *d)
{
	struct error e = ERROR_INIT;
	struct stat st;
	struct statfs fs;
	bool mounted = !statfs("/sys/fs/bpf", &fs) && (uint32_t)fs.f_type == BPFFS_MAGIC;

	if (stat("/sys/kernel/btf/vmlinux", &st))
		advise(find(d, BAD, "btf",
			    "the kernel does not describe its types: /sys/kernel/btf/vmlinux: %s",
			    strerror(errno)),
		       "build the kernel with CONFIG_DEBUG_INFO_BTF=y (needs pahole)");
	else
		find(d, GOOD, "btf", "/sys/kernel/btf/vmlinux, %lld bytes", (long long)st.st_size);
	advise(find(d, mounted ? GOOD : NOTE, "bpffs", "%s at /sys/fs/bpf",
		    mounted ? "mounted" : "not mounted"),
	       "mount -t bpf bpf /sys/fs/bpf; the agent tries it, too");
#ifdef HAVE_BPF
	if (source_bpf.probe(&e)) {
		advise(find(d, BAD, "bpf", "%.250s", e.text),
		       "see btf, capabilities and lockdown; Linux 5.10 or later");
		return;
	}
	d->can[ORIGIN_BPF] = true;
	find(d, GOOD, "bpf", "the programs can be loaded");
#else
	(void)e;
	advise(find(d, NOTE, "bpf", "this program was built without it"),
	       "build with clang and libbpf (-Dbpf=enabled)");
#endif
}

static void check_driver(struct doctor *d)
{
	bool modules = !access("/proc/modules", F_OK);
	char state[32], collector[80] = "";

	if (read_line(HANDOVER_FOLDER "/state", state, sizeof(state))) {
		read_line(HANDOVER_FOLDER "/collector", collector, sizeof(collector));
		find(d, GOOD, "driver", "loaded, %s; %s%s", state,
		     collector[0] ? "connects by itself to " : "waits for an agent to connect it",
		     collector);
		d->can[ORIGIN_DRIVER] = true;
		return;
	}
	advise(find(d, NOTE, "driver", "kiseki.ko is not loaded%s",
		    modules ? "" : ", and this kernel takes no modules"),
	       modules ? "load it (docs/driver.md), or use another source"
		       : "build it into the kernel (docs/driver.md), or use another source");
}

/* The kernel's own list of what it was built with, where it has one. */
static void check_config(struct doctor *d)
{
	static const char *const wanted[] = { "CONFIG_TRACING=y", "CONFIG_EVENT_TRACING=y",
					      "CONFIG_BPF_SYSCALL=y", "CONFIG_DEBUG_INFO_BTF=y",
					      "CONFIG_HIGH_RES_TIMERS=y" };
	char line[512], missing[160] = "";
	bool seen[5] = { false };
	size_t i, lines = 0;
	/* Kernels of distributions have it beside them; others, packed, in themselves. */
	FILE *f = popen("cat /boot/config-$(uname -r) 2>/dev/null || "
			"gzip -dc /proc/config.gz 2>/dev/null",
			"r");

	for (; f && fgets(line, sizeof(line), f); lines++) {
		line[strcspn(line, "\n")] = 0;
		for (i = 0; i < 5; i++)
			seen[i] |= !strcmp(line, wanted[i]);
	}
	if (f)
		pclose(f);
	for (i = 0; i < 5 && lines; i++)
		if (!seen[i])
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing),
				 " %s", wanted[i]);
	if (!lines)
		advise(find(d, NOTE, "config", "the kernel's configuration is not to be seen"),
		       "CONFIG_IKCONFIG_PROC=y shows it");
	else
		advise(find(d, missing[0] ? NOTE : GOOD, "config", "%s%s",
			    missing[0] ? "not set:" : "has all that the sources need", missing),
		       "without them a source is missing");
}

/* The instance of all is started first and stopped first, so it can have fewer. */
static uint64_t less(uint64_t all, uint64_t idle)
{
	return all > idle ? all - idle : 0;
}

/* One kind of switches on one CPU, seen by both. */
static void judge_cpu(struct doctor *d, uint32_t cpu, const char *kind, const uint64_t counts[2])
{
	if (doctor_differ(counts[0], counts[1]))
		advise(find(d, BAD, "compare",
			    "CPU %u: tracefs saw %llu switches %s, bpf %llu: more than %llu apart",
			    cpu, (unsigned long long)counts[0], kind, (unsigned long long)counts[1],
			    (unsigned long long)doctor_margin(counts[0], counts[1])),
		       "use the source that sees more");
}

/* Both counts are said, and how far apart they may be: a judgement without them hides something. */
static void judge_total(struct doctor *d, const char *source, uint64_t seen)
{
	bool differ = doctor_differ(seen, d->compare.kernel);

	advise(find(d, differ ? NOTE : GOOD, "compare",
		    "in a second the kernel counted %llu switches, %s saw %llu: %s %llu",
		    (unsigned long long)d->compare.kernel, source, (unsigned long long)seen,
		    differ ? "not within" : "within",
		    (unsigned long long)doctor_margin(seen, d->compare.kernel)),
	       "this kernel does not report all switches");
}

static void check_sources(struct doctor *d)
{
	struct doctor_compare *c = &d->compare;
	struct error e = ERROR_INIT;
	uint64_t idle = 0;
	uint32_t cpu;

	if (!d->can[ORIGIN_TRACEFS] && !d->can[ORIGIN_BPF])
		return;
	if (doctor_compare(c, d->can[ORIGIN_TRACEFS], d->can[ORIGIN_BPF], &e)) {
		find(d, BAD, "compare", "%.250s", e.text);
		return;
	}
	d->compared = true;
	if (c->has_tracefs)
		judge_total(d, "tracefs", c->tracefs);
	if (c->has_bpf)
		judge_total(d, "bpf", c->bpf);
	for (cpu = 0; cpu < c->cpus; cpu++) {
		const struct doctor_count *n = &c->cpu[cpu];

		idle += n->tracefs_idle + n->bpf_idle;
		if (!c->has_tracefs || !c->has_bpf)
			continue;
		judge_cpu(d, cpu, "to and from idle",
			  (const uint64_t[]){ n->tracefs_idle, n->bpf_idle });
		judge_cpu(d, cpu, "between tasks",
			  (const uint64_t[]){ less(n->tracefs, n->tracefs_idle),
					      less(n->bpf, n->bpf_idle) });
	}
	if (!idle)
		advise(find(d, NOTE, "compare",
			    "no CPU was ever idle, so switches to and from idle were not compared"),
		       "ask again when the machine has less to do");
}

static void print_text(const struct doctor *d)
{
	static const char *const marks[] = { "ok  ", "note", "BAD " };
	const struct doctor_compare *c = &d->compare;
	uint32_t i;

	for (i = 0; i < d->n; i++) {
		const struct finding *f = &d->findings[i];

		printf("%s  %-20s %s\n", marks[f->verdict], f->name, f->text);
		if (f->help[0])
			printf("%28s-> %s\n", "", f->help);
	}
	if (d->compared)
		printf("\nSwitches in a second   tracefs  (idle)       bpf  (idle)\n");
	for (i = 0; d->compared && i < c->cpus; i++)
		if (c->cpu[i].online)
			printf("  CPU %-4u          %10llu %7llu %9llu %7llu\n", i,
			       (unsigned long long)c->cpu[i].tracefs,
			       (unsigned long long)c->cpu[i].tracefs_idle,
			       (unsigned long long)c->cpu[i].bpf,
			       (unsigned long long)c->cpu[i].bpf_idle);
	printf("\nThis machine can record through:%s%s%s%s\n", d->can[ORIGIN_BPF] ? " bpf" : "",
	       d->can[ORIGIN_TRACEFS] ? " tracefs" : "", d->can[ORIGIN_DRIVER] ? " driver" : "",
	       d->can[ORIGIN_BPF] || d->can[ORIGIN_TRACEFS] || d->can[ORIGIN_DRIVER] ? ""
										     : " nothing");
}

static void print_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
			printf("\\u%04x", (unsigned char)*s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void print_field(const char *name, const char *value, const char *end)
{
	printf("\"%s\": ", name);
	print_string(value);
	fputs(end, stdout);
}

/* What a source saw of the kernel's count, and how far from it that may be. */
static void print_total(const char *source, uint64_t seen, uint64_t kernel, bool compared)
{
	if (compared)
		printf("  \"%s_switches\": {\"seen\": %llu, \"margin\": %llu, \"within\": %s},\n",
		       source, (unsigned long long)seen,
		       (unsigned long long)doctor_margin(seen, kernel),
		       doctor_differ(seen, kernel) ? "false" : "true");
	else
		printf("  \"%s_switches\": null,\n", source);
}

static void print_json(const struct doctor *d)
{
	static const char *const verdicts[] = { "ok", "note", "bad" };
	const struct doctor_compare *c = &d->compare;
	uint32_t i;
	bool more = false;

	printf("{\n  \"sources\": {\"bpf\": %s, \"tracefs\": %s, \"driver\": %s},\n",
	       d->can[ORIGIN_BPF] ? "true" : "false", d->can[ORIGIN_TRACEFS] ? "true" : "false",
	       d->can[ORIGIN_DRIVER] ? "true" : "false");
	printf("  \"counter_hz\": %llu,\n  \"resolution_ns\": %u,\n  \"findings\": [\n",
	       (unsigned long long)resolution_get_frequency(), 1U << resolution_auto());
	for (i = 0; i < d->n; i++) {
		printf("    {");
		print_field("verdict", verdicts[d->findings[i].verdict], ", ");
		print_field("name", d->findings[i].name, ", ");
		print_field("text", d->findings[i].text, ", ");
		print_field("help", d->findings[i].help, i + 1 < d->n ? "},\n" : "}\n");
	}
	printf("  ],\n  \"kernel_switches\": %llu,\n", (unsigned long long)c->kernel);
	print_total("tracefs", c->tracefs, c->kernel, d->compared && c->has_tracefs);
	print_total("bpf", c->bpf, c->kernel, d->compared && c->has_bpf);
	printf("  \"switches\": [");
	for (i = 0; d->compared && i < c->cpus; i++) {
		if (!c->cpu[i].online)
			continue;
		printf("%s\n    {\"cpu\": %u, \"tracefs\": %llu, \"tracefs_idle\": %llu, "
		       "\"bpf\": %llu, \"bpf_idle\": %llu}",
		       more ? "," : "", i, (unsigned long long)c->cpu[i].tracefs,
		       (unsigned long long)c->cpu[i].tracefs_idle,
		       (unsigned long long)c->cpu[i].bpf, (unsigned long long)c->cpu[i].bpf_idle);
		more = true;
	}
	printf("%s]\n}\n", more ? "\n  " : "");
}

int doctor_run(bool json)
{
	_cleanup_free_ struct doctor *d = calloc(1, sizeof(*d));

	if (!d)
		return 1;
	check_machine(d);
	check_privileges(d);
	check_config(d);
	check_tracefs(d);
	check_bpf(d);
	check_driver(d);
	check_sources(d);
	if (json)
		print_json(d);
	else
		print_text(d);
	return d->can[ORIGIN_BPF] || d->can[ORIGIN_TRACEFS] || d->can[ORIGIN_DRIVER] ? 0 : 1;
}
