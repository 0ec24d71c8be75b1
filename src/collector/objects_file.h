/* SPDX-License-Identifier: MIT */
/*
 * objects_file: a file of code on its way from a device into a tree of build-ids.
 *
 * It grows as FOLDER/.build-id/ab/cdef….part, which stays there when the device goes, so that the next one that has the
 * object goes on behind it; and gets its name when it is whole and is what it was asked for as.
 */
#ifndef KISEKI_COLLECTOR_OBJECTS_FILE_H
#define KISEKI_COLLECTOR_OBJECTS_FILE_H

#include "base/error.h"
#include "wire/message.h"

struct objects_file {
	int fd; /* -1: none is open */
	struct message_build_id id;
	uint64_t offset; /* what is there */
	uint64_t size;	 /* as the device says; 0: not known yet */
	bool is_resumed; /* somebody began it before */
};

#define OBJECTS_FILE_INIT                                                                          \
	{                                                                                          \
		.fd = -1                                                                           \
	}

int objects_file_open(struct objects_file *f, const char *folder, const struct message_build_id *id,
		      struct error *e);
/* What is there stays. */
void objects_file_close(struct objects_file *f);
/* It does not. */
void objects_file_drop(struct objects_file *f, const char *folder);

/* 1: it is whole, and has its name; 0: more must come; -EPROTO: it does not fit to what was asked or came before, or is
 * not that object; else it cannot be written. Whatever is < 0, it is to be dropped. */
int objects_file_put(struct objects_file *f, const char *folder, const struct message_piece *m,
		     struct error *e);

#endif
