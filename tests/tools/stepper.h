/* SPDX-License-Identifier: MIT */
/*
 * stepper: stops a child after every single instruction of what it does to a shared file.
 *
 * What a real SIGKILL meets by chance, this meets always: after each instruction that changed the
 * file, somebody looks at a copy of it, as if the child had died there.
 */
#ifndef KISEKI_TESTS_TOOLS_STEPPER_H
#define KISEKI_TESTS_TOOLS_STEPPER_H

#include <stddef.h>
#include <stdint.h>

struct stepper {
	const uint8_t *file; /* mapped, shared */
	size_t len;
	void (*act)(void *context); /* in the child */
	void *context;
	/* What is wrong with the file as it is now, NULL if nothing. `copy` may be changed, and begins
	 * at a page. */
	const char *(*look)(uint8_t *copy, size_t len);
};

/* Why programs cannot be stepped through here, NULL if they can. */
const char *stepper_find_obstacle(void);

/* How many states were looked at. *ret_wrong: what was wrong with the last of them, or NULL. */
uint32_t stepper_run(const struct stepper *s, const char **ret_wrong);

#endif
