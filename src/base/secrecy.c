/* SPDX-License-Identifier: MIT */
/* secrecy: see secrecy.h. */
#include "base/secrecy.h"

#include <sys/prctl.h>
#include <sys/resource.h>

void secrecy_enter(void)
{
	const struct rlimit none = { 0, 0 };

	/* Either alone is enough against cores of a file; one that goes to a program asks the second. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
