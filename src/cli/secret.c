/* SPDX-License-Identifier: MIT */
/* secret: see secret.h. */
#include "cli/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"

/* One line, without its end. Byte by byte: what is behind it is not ours. */
static int read_line(int fd, char *ret, size_t room, struct error *e)
{
	size_t len = 0;
	ssize_t n;
	char c;

	while ((n = read(fd, &c, 1)) == 1 && c != '\n') {
		if (len + 1 >= room)
			return error_set(e, E2BIG, "cannot read it: it is too long");
		ret[len++] = c;
	}
	if (n < 0)
		return error_set(e, errno, "cannot read it: %s", strerror(errno));
	if (len && ret[len - 1] == '\r')
		len--;
	ret[len] = 0;
	return len ? 0 : error_set(e, ENODATA, "cannot read it: there is none");
}

static int ask_hidden(const char *prompt, char *ret, size_t room, struct error *e)
{
	struct termios before, hidden;
	int r;

	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return error_set(e, errno, "cannot ask: %s", strerror(errno));
	hidden = before;
	hidden.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
	fprintf(stderr, "%s: ", prompt); /* when nothing is shown or thrown away any more */
	fflush(stderr);
	r = read_line(STDIN_FILENO, ret, room, e);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
	fputc('\n', stderr);
	return r;
}

int secret_ask(const char *prompt, char *ret, size_t room, struct error *e)
{
	char again[512];
	bool is_same;
	int r;

	if (!isatty(STDIN_FILENO))
		return read_line(STDIN_FILENO, ret, room, e);
	r = ask_hidden(prompt, ret, room, e);
	if (r == 0)
		r = ask_hidden("again", again, sizeof(again), e);
	if (r < 0)
		return r;
	is_same = !strcmp(ret, again);
	explicit_bzero(again, sizeof(again));
	return is_same ? 0 : error_set(e, EINVAL, "these are two: try again");
}

int secret_read(const char *path, char *ret, size_t room, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_mode & 077)
		return error_set(e, EACCES, "cannot use %s: others may read it; chmod 600 it",
				 path);
	r = read_line(fd, ret, room, e);
	if (r == 0)
		ret[strcspn(ret, " \t\r")] = 0;
	return r < 0 ? error_set(e, -r, "cannot read %s: it has no token", path) : 0;
}
