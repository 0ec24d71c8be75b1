/* SPDX-License-Identifier: MIT */
/* comm: see comm.h. */
#include "trace/comm.h"

#include <stdio.h>
#include <string.h>

/* How many bytes the UTF-8 character at s has; 0 if it is broken. */
static size_t character(const unsigned char *s, size_t len)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4, i;

	if (n > len || s[0] > 0xf4)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Not the shortest form, a surrogate, beyond the last character. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

const char *comm_format(const char comm[16], char buffer[COMM_TEXT_LEN])
{
	size_t len = strnlen(comm, 16), i, n;
	char *p = buffer;

	for (i = 0; i < len; i += n) {
		unsigned char c = (unsigned char)comm[i];

		n = character((const unsigned char *)comm + i, len - i);
		if (!n || c < 0x20 || c == 0x7f) {
			n = 1;
			p += snprintf(p, 5, "\\x%02x", c);
			continue;
		}
		if (c == '\\')
			*p++ = '\\';
		memcpy(p, comm + i, n);
		p += n;
	}
	*p = 0;
	return buffer;
}
