/* SPDX-License-Identifier: MIT */
/* identity: see identity.h. */
#include "device/agent/identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/siphash.h"

#define SALT "kiseki device "

/* The start of a small file, as text; -errno. */
static int read_text(const char *path, char *text, size_t room)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);

	if (n < 0)
		return -errno;
	text[n] = 0;
	return 0;
}

int identity_parse(struct message_id *ret, const char *text)
{
	struct message_id id = { { 0 } };
	unsigned int n;
	int digit;

	for (n = 0; n < 32; text++) {
		digit = hex_digit(*text);
		if (*text == '-' && n)
			continue;
		if (digit < 0)
			return -EINVAL;
		id.bytes[n / 2] = (uint8_t)(id.bytes[n / 2] << 4 | digit);
		n++;
	}
	if (*text && *text != '\n')
		return -EINVAL;
	*ret = id;
	return 0;
}

uint32_t identity_parse_cpus(const char *text)
{
	unsigned long last = 0;
	char *end;

	while (*text >= '0' && *text <= '9') {
		last = strtoul(text, &end, 10);
		text = *end == '-' || *end == ',' ? end + 1 : end;
		if (!*end || *end == '\n')
			return last < MESSAGE_STREAMS_MAX - 1 ? (uint32_t)last + 1 : 0;
	}
	return 0;
}

/* --- made up --- */

#define CARDS "/sys/class/net"
#define CARDS_MAX 32 /* that are looked at */

struct facts {
	uint8_t bytes[1024]; /* what is beyond it is left out */
	size_t len;
};

static void put_fact(struct facts *f, const void *fact, size_t len)
{
	len = len < sizeof(f->bytes) - f->len ? len : sizeof(f->bytes) - f->len;
	memcpy(f->bytes + f->len, fact, len);
	f->len += len;
}

static void put_file(struct facts *f, const char *path)
{
	char text[64];

	if (read_text(path, text, sizeof(text)) >= 0)
		put_fact(f, text, strlen(text) + 1);
}

static void put_cards(struct facts *f)
{
	DIR *d = opendir(CARDS);
	const struct dirent *each;
	char path[sizeof(CARDS) + sizeof(each->d_name) + 16];
	int i;

	for (i = 0; d && i < CARDS_MAX && (each = readdir(d)); i++) {
		snprintf(path, sizeof(path), CARDS "/%s/address", each->d_name);
		put_file(f, path);
	}
	if (d)
		closedir(d);
}

/* The kernel has no random bytes yet. An identity need not be a secret, it must only be nobody else's: what tells two boards of
 * a series apart are the addresses of their network cards and their serial numbers; and two images of one board, the times and what the
 * kernel has gathered so far. */
static void make_up(struct message_id *ret)
{
	static const char *const files[] = { "/proc/device-tree/serial-number",
					     "/sys/class/dmi/id/product_uuid",
					     "/proc/sys/kernel/random/boot_id" };
	const void *key = (const void *)getauxval(AT_RANDOM); /* 16 bytes, for each program */
	const uint64_t times[] = { clock_mono_ns(), clock_real_ns(), (uint64_t)getpid() };
	static const uint8_t none[16];
	struct facts f = { .len = 0 };
	size_t i;

	put_fact(&f, times, sizeof(times));
	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		put_file(&f, files[i]);
	put_cards(&f);
	siphash128(ret->bytes, key ? key : none, f.bytes, f.len);
}

/* Random bytes, kept in a file that appears whole. A kernel that has none yet would let us wait, for minutes on a machine that does
 * nothing: who records a boot cannot. */
static int make_device(struct message_id *ret, const char *folder, const char *path,
		       struct error *e)
{
	char text[40], partial[300];
	_cleanup_close_ int fd = -1;
	struct message_id id;

	if (getrandom(id.bytes, sizeof(id.bytes), GRND_NONBLOCK) != (ssize_t)sizeof(id.bytes))
		make_up(&id);
	hex_format(id.bytes, sizeof(id.bytes), text);
	strcat(text, "\n");
	snprintf(partial, sizeof(partial), "%s.partial", path);
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot make %s for the device's identity: %s", folder,
				 strerror(errno));
	fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, 33) != 33 || fsync(fd) < 0 || rename(partial, path) < 0)
		return error_set(e, errno, "cannot write the device's identity to %s: %s", path,
				 strerror(errno));
	*ret = id;
	return 0;
}

int identity_device(struct message_id *ret, const char *name, const char *state_dir,
		    const char *machine_id, struct error *e)
{
	char path[280], text[64], tagged[sizeof(SALT) + MESSAGE_TEXT_MAX];
	struct message_id machine;
	int r, n;

	snprintf(path, sizeof(path), "%s/device-id", state_dir);
	r = read_text(path, text, sizeof(text));
	if (r >= 0 && identity_parse(ret, text) < 0)
		return error_set(e, EINVAL, "cannot use %s: it does not hold 32 hex digits", path);
	if (r >= 0)
		return 0;
	if (r != -ENOENT && r != -ENOTDIR)
		return error_set(e, r, "cannot read %s: %s", path, strerror(-r));
	if (read_text(machine_id, text, sizeof(text)) < 0 || identity_parse(&machine, text) < 0)
		return make_device(ret, state_dir, path, e);
	n = snprintf(tagged, sizeof(tagged), SALT "%s", name);
	siphash128(ret->bytes, machine.bytes, tagged,
		   (size_t)n < sizeof(tagged) ? (size_t)n : sizeof(tagged) - 1);
	return 0;
}

int identity_of_driver(struct message_id *ret, const char *folder)
{
	char path[280], text[64];

	snprintf(path, sizeof(path), "%s/id", folder);
	if (read_text(path, text, sizeof(text)) < 0)
		return -ENOENT;
	if (identity_parse(ret, text) >= 0)
		return 0;
	snprintf(path, sizeof(path), "%s/collector", folder);
	return read_text(path, text, sizeof(text)) < 0 || text[0] == '\n' || !text[0] ? -ENOENT
										      : -EAGAIN;
}

int identity_init(struct identity *ret, const char *name, const char *state_dir, struct error *e)
{
	static const char boot[] = "/proc/sys/kernel/random/boot_id";
	static const char possible[] = "/sys/devices/system/cpu/possible";
	struct identity id;
	char text[256];
	int r;

	r = read_text(boot, text, sizeof(text));
	if (r < 0 || identity_parse(&id.boot, text) < 0)
		return error_set(e, r < 0 ? r : EINVAL, "cannot read %s: %s", boot,
				 strerror(r < 0 ? -r : EINVAL));
	r = read_text(possible, text, sizeof(text));
	id.cpus = r < 0 ? 0 : identity_parse_cpus(text);
	if (!id.cpus)
		return error_set(e, r < 0 ? r : EINVAL, "cannot read %s: %s", possible,
				 strerror(r < 0 ? -r : EINVAL));
	if (uname(&id.system) < 0)
		return error_set(e, errno, "cannot ask for the kernel's version: %s",
				 strerror(errno));
	r = identity_device(&id.device, name, state_dir, "/etc/machine-id", e);
	if (r < 0)
		return r;
	*ret = id;
	return 0;
}
