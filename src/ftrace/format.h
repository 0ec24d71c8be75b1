/* SPDX-License-Identifier: MIT */
/*
 * format: one event's `format` text, as tracefs shows it and trace.dat stores it.
 *
 *	name: sched_switch
 *	ID: 208
 *	format:
 *		field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
 *	…
 *	print fmt: "prev_comm=%s …", REC->prev_comm, …
 *
 * Offsets differ between kernels, configurations and vendors' patches, so nothing about a record is
 * known before this text was read. Names point into the text, which must outlive the struct.
 * Kernels before 2.6.31 have no signed: column; it then counts as 0.
 */
#ifndef KISEKI_FTRACE_FORMAT_H
#define KISEKI_FTRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define FORMAT_FIELDS_MAX 48U /* no event of interest has half as many; more are ignored */
#define FORMAT_RECORD_MAX 0xffffU

struct format_text {
	const char *at;
	size_t len;
};

/* How the bytes of a field are to be read. */
enum format_form {
	FORMAT_INT = 0,	     /* an integer of 1, 2, 4 or 8 bytes */
	FORMAT_ARRAY = 1,    /* bytes in place */
	FORMAT_DATA_LOC = 2, /* 32 bits: length << 16 | offset from the record's start */
	FORMAT_REL_LOC = 3,  /* 32 bits: length << 16 | offset from the field's end */
};

struct format_field {
	struct format_text name;
	uint16_t offset;
	uint16_t size;
	enum format_form form;
	bool is_signed;
};

struct format {
	struct format_text name;
	struct format_text print; /* after "print fmt:", may be empty */
	uint32_t id;
	uint32_t n_fields;
	struct format_field fields[FORMAT_FIELDS_MAX];
};

/* What the print fmt of sched_switch says about prev_state; see struct sched_dialect. */
struct format_states {
	uint64_t mask;
	uint64_t preempt;
	char letters[64];
};

/* 0, or -EBADMSG and the cause. Also reads the description of a page (events/header_page), which
 * has fields but neither name nor ID. */
int format_parse(struct format *ret, const char *text, size_t len, struct error *e);

const struct format_field *format_get_field(const struct format *f, const char *name);
bool format_is_named(const struct format *f, const char *name);

/* Does the quoted part of the print fmt contain this? */
bool format_prints(const struct format *f, const char *text);

/* 0, or -ENOENT if the print fmt does not tell. */
int format_get_states(const struct format *f, struct format_states *ret);

#endif
