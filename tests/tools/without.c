/* SPDX-License-Identifier: MIT */
/*
 * without: runs a program without some system calls, as an older kernel would.
 *
 *	without CALL,CALL,… PROGRAM [ARGUMENT …]
 *
 * They fail as calls do that a kernel does not know. Exits with 77 where calls cannot be denied.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/syscall_filter.h"

int main(int argc, char **argv)
{
	struct syscall_filter list[SYSCALL_FILTER_MAX];
	char *word, *rest = NULL;
	size_t n = 0;
	int r;

	if (argc < 3)
		return 2;
	for (word = strtok_r(argv[1], ",", &rest); word && n < SYSCALL_FILTER_MAX;
	     word = strtok_r(NULL, ",", &rest)) {
		list[n].number = syscall_filter_get(word);
		list[n++].error = ENOSYS;
		if (list[n - 1].number < 0) {
			fprintf(stderr, "without: cannot deny %s: it is not in the list\n", word);
			return 2;
		}
	}
	r = syscall_filter_set(list, n);
	if (r < 0) {
		fprintf(stderr, "without: cannot deny calls: %s\n", strerror(-r));
		return 77;
	}
	execvp(argv[2], argv + 2);
	fprintf(stderr, "without: cannot run %s: %s\n", argv[2], strerror(errno));
	return 1;
}
