/* SPDX-License-Identifier: MIT */
/* screen: see screen.h. */
#include "cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define ENTER "\033[?1049h\033[?25l" /* the other screen, no cursor */
#define LEAVE "\033[?25h\033[?1049l"

static struct termios before;
static bool is_open, has_exit;

int screen_open(struct error *e)
{
	struct termios t;

	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return error_set(e, errno, "cannot use the terminal: %s", strerror(errno));
	if (!has_exit && !atexit(screen_close))
		has_exit = true;
	t = before;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	t.c_cc[VSUSP] = t.c_cc[VQUIT] = _POSIX_VDISABLE;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &t) < 0)
		return error_set(e, errno, "cannot use the terminal: %s", strerror(errno));
	is_open = true;
	fputs(ENTER, stdout);
	fflush(stdout);
	return 0;
}

void screen_close(void)
{
	if (!is_open)
		return;
	is_open = false;
	fputs(LEAVE, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

struct screen_size screen_get_size(void)
{
	struct screen_size s = { 24, 80 };
	struct winsize w;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row && w.ws_col) {
		s.rows = w.ws_row;
		s.columns = w.ws_col;
	}
	return s;
}

/* Each line wipes what the last picture had to its right, the end what it had below. */
void screen_draw(const char *text, struct screen_size size)
{
	size_t row;

	fputs("\033[H", stdout);
	for (row = 0; *text && row < size.rows; row++) {
		size_t len = strcspn(text, "\n");

		if (row)
			fputs("\r\n", stdout);
		fwrite(text, 1, len, stdout);
		fputs("\033[K", stdout);
		text += len + (text[len] == '\n');
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

char screen_next_key(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	if (poll(&p, 1, 0) <= 0 || read(STDIN_FILENO, &key, 1) != 1)
		return 0;
	return key;
}
