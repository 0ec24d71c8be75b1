/* SPDX-License-Identifier: MIT */
/* func_switch: see func_switch.h. */
#include "cli/func_switch.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/jsonout.h"
#include "command/config_args.h"
#include "command/say.h"
#include "wire/func_buffer.h"
#include "wire/varint.h"

#define LINE_MAX_LEN 4608U /* of /proc/PID/maps: a path and what stands before it */
#define RANGE_LEN 40U

/* What became of the local ones, for --json. */
struct switching {
	const struct args *args;
	enum func_mode mode;
	json_t *results; /* NULL: for people */
	bool failed;
	const char *devices[ARGS_OPERANDS_MAX];
	size_t n_devices;
};

/* --- one record --- */

/* -EBADMSG: it is none; 0 and its pid. */
static int read_header(int fd, uint32_t *ret_pid)
{
	uint8_t head[FUNC_BUFFER_AT_PID + 4];

	if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head, FUNC_BUFFER_MAGIC, 8) != 0 ||
	    get_le32(head + FUNC_BUFFER_AT_VERSION) != FUNC_BUFFER_VERSION)
		return -EBADMSG;
	*ret_pid = get_le32(head + FUNC_BUFFER_AT_PID);
	return 0;
}

static int set_on(const struct switching *s, int fd)
{
	uint8_t word[4];

	put_le32(word, s->mode != FUNC_MODE_OFF);
	return pwrite(fd, word, sizeof(word), FUNC_BUFFER_AT_ON) == (ssize_t)sizeof(word) ? 0
											  : -errno;
}

static void note_local(struct switching *s, const char *name, const struct error *e)
{
	s->failed |= e != NULL;
	if (s->results)
		json_array_append_new(s->results,
				      json_pack("{so sb so}", "process", jsonout_text(name), "ok",
						!e, "text", jsonout_text(e ? e->text : "")));
	else if (e)
		say_failure(e);
	else
		printf("%s: %s\n", name, config_func_word(s->mode));
}

/* Those who drain a record say themselves whether it is on; a file cannot say split. */
static int check_local(const struct switching *s, const char *name, struct error *e)
{
	return s->mode == FUNC_MODE_SPLIT
		       ? error_set(e, EOPNOTSUPP,
				   "cannot switch %s to split: only an agent records that", name)
		       : 0;
}

static void switch_record(struct switching *s, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
	struct error e = ERROR_INIT;
	uint32_t pid;
	int r = fd < 0 ? error_set(&e, errno, "cannot switch %s: %s", path, strerror(errno))
		       : check_local(s, path, &e);

	if (r >= 0 && read_header(fd, &pid) < 0)
		r = error_set(&e, EBADMSG, "cannot switch %s: it is no record of a process", path);
	if (r >= 0) {
		r = set_on(s, fd);
		if (r < 0)
			error_set(&e, -r, "cannot switch %s: %s", path, strerror(-r));
	}
	note_local(s, path, r < 0 ? &e : NULL);
}

/* --- a process --- */

/* Opens what a line of /proc/PID/maps has mapped, if it is shared and can be written: -1 if not. The
 * name may be gone, or another file's by now; the mapping is not. */
static int open_mapping(const char *pid, const char *line)
{
	char path[64 + RANGE_LEN], range[RANGE_LEN];
	const char *flags = strchr(line, ' ');
	size_t len = flags ? (size_t)(flags - line) : 0;

	if (!flags || len >= sizeof(range) || strncmp(flags, " rw-s", 5) != 0)
		return -1;
	memcpy(range, line, len);
	range[len] = 0;
	snprintf(path, sizeof(path), "/proc/%.16s/map_files/%s", pid, range);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Without the right to follow mappings, the name has to do. */
static int open_named(const char *line)
{
	char path[LINE_MAX_LEN];
	const char *name = strchr(line, '/');

	if (!name)
		return -1;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(name, "\n"), name);
	return open(path, O_RDWR | O_CLOEXEC);
}

static bool is_record_of(int fd, const char *pid)
{
	uint32_t found;
	char text[16];

	if (fd < 0 || read_header(fd, &found) < 0)
		return false;
	snprintf(text, sizeof(text), "%" PRIu32, found);
	return !strcmp(text, pid);
}

static int find_record(const char *pid, struct error *e)
{
	char path[64], line[LINE_MAX_LEN];
	FILE *maps;
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/%.16s/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return error_set(e, errno, "cannot switch process %s: %s", pid,
				 errno == ENOENT ? "there is none" : strerror(errno));
	while (!is_record_of(fd, pid) && fgets(line, sizeof(line), maps)) {
		if (fd >= 0)
			close(fd);
		fd = open_mapping(pid, line);
		if (fd < 0 && strstr(line, " rw-s"))
			fd = open_named(line);
	}
	fclose(maps);
	if (is_record_of(fd, pid))
		return fd;
	if (fd >= 0)
		close(fd);
	return error_set(e, ENOENT, "cannot switch process %s: it has no record of calls", pid);
}

static void switch_process(struct switching *s, const char *pid)
{
	struct error e = ERROR_INIT;
	int fd, r = check_local(s, pid, &e);

	fd = r < 0 ? -1 : find_record(pid, &e);
	if (fd >= 0) {
		r = set_on(s, fd);
		if (r < 0)
			error_set(&e, -r, "cannot switch process %s: %s", pid, strerror(-r));
		close(fd);
	}
	note_local(s, pid, fd < 0 || r < 0 ? &e : NULL);
}

/* --- all --- */

static bool is_number(const char *text)
{
	return *text && strlen(text) < 11 && strspn(text, "0123456789") == strlen(text);
}

static bool is_file(const char *text)
{
	struct stat st;

	return strchr(text, '/') || (!stat(text, &st) && S_ISREG(st.st_mode));
}

static int switch_devices(struct switching *s)
{
	struct message_config c = { .given = 1U << CONFIG_FUNC, .func = (uint8_t)s->mode };
	const struct instruct_order o = {
		.devices = s->devices,
		.n_devices = s->n_devices,
		.config = &c,
		.done = config_func_word(s->mode),
		.results = s->results,
	};

	return instruct_configure(s->args, &o);
}

int func_switch_run(const struct args *a, enum func_mode mode)
{
	static struct switching s; /* its words are many */
	struct error e = ERROR_INIT;
	int status = EXIT_OK;
	size_t i;

	s = (struct switching){ .args = a, .mode = mode };
	if (!a->n_operands && !args_has(a, "all")) {
		error_set(&e, EINVAL,
			  "cannot switch: name devices, processes or records, or --all");
		return say_usage(&e);
	}
	s.results = args_has(a, "json") ? json_array() : NULL;
	for (i = 0; i < a->n_operands; i++) {
		if (is_file(a->operands[i]))
			switch_record(&s, a->operands[i]);
		else if (is_number(a->operands[i]))
			switch_process(&s, a->operands[i]);
		else
			s.devices[s.n_devices++] = a->operands[i];
	}
	if (s.n_devices || args_has(a, "all"))
		status = switch_devices(&s);
	if (s.results && jsonout_print(json_pack("{so}", "results", s.results)) != EXIT_OK)
		return EXIT_FAILED;
	return status == EXIT_OK && s.failed ? EXIT_FAILED : status;
}
