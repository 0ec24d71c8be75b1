/* SPDX-License-Identifier: MIT */
/*
 * os_pages: pages of the kernel's ring with switches, wakings and system calls, made by hand; and a
 * folder that looks like a tracing instance as far as whoever reads it can tell. In this machine's
 * byte order, as a kernel's are.
 */
#ifndef KISEKI_TESTS_OS_PAGES_H
#define KISEKI_TESTS_OS_PAGES_H

#include <stdint.h>

#define OS_PAGE_BYTES 4096U
#define OS_ID_SWITCH 201U
#define OS_ID_WAKING 202U
#define OS_ID_ENTER 25U
#define OS_ID_EXIT 24U

extern const char os_format_switch[], os_format_waking[], os_format_enter[], os_format_exit[];

struct os_page {
	uint8_t bytes[OS_PAGE_BYTES];
	uint32_t used; /* of the data */
	uint64_t stamp;
};

void os_page_init(struct os_page *p, uint64_t stamp);
void os_page_switch(struct os_page *p, uint64_t stamp, int32_t from, uint64_t state, int32_t to);
void os_page_waking(struct os_page *p, uint64_t stamp, int32_t waker, int32_t tid);
void os_page_call(struct os_page *p, uint64_t stamp, int32_t tid, int64_t number);
void os_page_return(struct os_page *p, uint64_t stamp, int32_t tid, int64_t number);
void os_page_miss(struct os_page *p); /* records are missing before it */

/* A new folder below /tmp, into path; with so many CPUs. */
void os_folder_init(char path[64], uint32_t cpus);
void os_folder_add(const char *path, uint32_t cpu, const struct os_page *p);
void os_folder_set_overrun(const char *path, uint32_t cpu, uint64_t overrun);
void os_folder_done(const char *path);

#endif
