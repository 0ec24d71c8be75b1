/* SPDX-License-Identifier: MIT */
/* dwarf_form: see dwarf_form.h. Numbers of forms are those of DWARF 5, section 7.5.6. */
#include "symbol/dwarf_form.h"

enum {
	FORM_ADDR = 0x01,
	FORM_BLOCK2 = 0x03,
	FORM_BLOCK4 = 0x04,
	FORM_DATA2 = 0x05,
	FORM_DATA4 = 0x06,
	FORM_DATA8 = 0x07,
	FORM_STRING = 0x08,
	FORM_BLOCK = 0x09,
	FORM_BLOCK1 = 0x0a,
	FORM_DATA1 = 0x0b,
	FORM_FLAG = 0x0c,
	FORM_SDATA = 0x0d,
	FORM_STRP = 0x0e,
	FORM_UDATA = 0x0f,
	FORM_REF_ADDR = 0x10,
	FORM_REF1 = 0x11,
	FORM_REF2 = 0x12,
	FORM_REF4 = 0x13,
	FORM_REF8 = 0x14,
	FORM_REF_UDATA = 0x15,
	FORM_SEC_OFFSET = 0x17,
	FORM_EXPRLOC = 0x18,
	FORM_FLAG_PRESENT = 0x19,
	FORM_STRX = 0x1a,
	FORM_ADDRX = 0x1b,
	FORM_REF_SUP4 = 0x1c,
	FORM_STRP_SUP = 0x1d,
	FORM_DATA16 = 0x1e,
	FORM_LINE_STRP = 0x1f,
	FORM_REF_SIG8 = 0x20,
	FORM_IMPLICIT_CONST = 0x21,
	FORM_LOCLISTX = 0x22,
	FORM_RNGLISTX = 0x23,
	FORM_REF_SUP8 = 0x24,
	FORM_STRX1 = 0x25,
	FORM_STRX2 = 0x26,
	FORM_STRX3 = 0x27,
	FORM_STRX4 = 0x28,
	FORM_ADDRX1 = 0x29,
	FORM_ADDRX2 = 0x2a,
	FORM_ADDRX3 = 0x2b,
	FORM_ADDRX4 = 0x2c,
	FORM_GNU_ADDR_INDEX = 0x1f01,
	FORM_GNU_STR_INDEX = 0x1f02,
	FORM_GNU_REF_ALT = 0x1f20,
	FORM_GNU_STRP_ALT = 0x1f21,
};

/* The size of what has one, 0: it has not. */
static unsigned fixed_size(uint64_t form, const struct dwarf_context *x)
{
	switch (form) {
	case FORM_DATA1:
	case FORM_FLAG:
	case FORM_REF1:
	case FORM_STRX1:
	case FORM_ADDRX1:
		return 1;
	case FORM_DATA2:
	case FORM_REF2:
	case FORM_STRX2:
	case FORM_ADDRX2:
		return 2;
	case FORM_STRX3:
	case FORM_ADDRX3:
		return 3;
	case FORM_DATA4:
	case FORM_REF4:
	case FORM_STRX4:
	case FORM_ADDRX4:
	case FORM_REF_SUP4:
		return 4;
	case FORM_DATA8:
	case FORM_REF8:
	case FORM_REF_SIG8:
	case FORM_REF_SUP8:
		return 8;
	case FORM_ADDR:
		return x->address_size;
	case FORM_REF_ADDR:
		return x->version < 3 ? x->address_size : x->offset_size;
	case FORM_STRP:
	case FORM_LINE_STRP:
	case FORM_SEC_OFFSET:
	case FORM_STRP_SUP:
	case FORM_GNU_REF_ALT:
	case FORM_GNU_STRP_ALT:
		return x->offset_size;
	default:
		return 0;
	}
}

static const char *string_at(const struct dwarf_bytes *from, uint64_t at)
{
	return from->bytes && at < from->len ? (const char *)from->bytes + (size_t)at : NULL;
}

/* What has its size in front of it, or in each byte. */
static void get_variable(struct dwarf_cursor *c, uint64_t form, struct dwarf_value *ret)
{
	switch (form) {
	case FORM_STRING:
		ret->string = dwarf_get_string(c);
		break;
	case FORM_UDATA:
	case FORM_REF_UDATA:
	case FORM_STRX:
	case FORM_ADDRX:
	case FORM_LOCLISTX:
	case FORM_RNGLISTX:
	case FORM_GNU_ADDR_INDEX:
	case FORM_GNU_STR_INDEX:
		ret->number = dwarf_get_uleb(c);
		break;
	case FORM_SDATA:
		ret->number = (uint64_t)dwarf_get_sleb(c);
		break;
	case FORM_BLOCK:
	case FORM_EXPRLOC:
		dwarf_take(c, dwarf_get_uleb(c));
		break;
	case FORM_BLOCK1:
		dwarf_take(c, dwarf_get(c, 1));
		break;
	case FORM_BLOCK2:
		dwarf_take(c, dwarf_get(c, 2));
		break;
	case FORM_BLOCK4:
		dwarf_take(c, dwarf_get(c, 4));
		break;
	case FORM_DATA16:
		dwarf_take(c, 16);
		break;
	case FORM_FLAG_PRESENT:
	case FORM_IMPLICIT_CONST:
		break;
	default:
		dwarf_give_up(c);
		break;
	}
}

struct dwarf_value dwarf_form_get(struct dwarf_cursor *c, uint64_t form,
				  const struct dwarf_context *x)
{
	struct dwarf_value v = { 0 };
	unsigned size = fixed_size(form, x);

	if (size)
		v.number = dwarf_get(c, size);
	else
		get_variable(c, form, &v);
	if (form == FORM_STRP)
		v.string = string_at(x->strings, v.number);
	if (form == FORM_LINE_STRP)
		v.string = string_at(x->line_strings, v.number);
	return v;
}
