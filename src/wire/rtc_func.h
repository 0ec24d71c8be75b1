/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc_func: what encoder and decoder of an `rtc` block's payload both know (docs/format/rtc.md,
 * section 7).
 *
 *	version << 4 | placing, seven bytes of parameters | number of functions, their addresses | bits
 *
 * The codec knows functions by small ids; the payload says which address each id is. An id is the
 * place of the function in that table, so that a payload needs nothing but itself.
 */
#ifndef KISEKI_WIRE_RTC_FUNC_H
#define KISEKI_WIRE_RTC_FUNC_H

#include "wire/func_event.h"
#include "wire/rtc.h"

#define RTC_FUNC_HEAD 8U
#define RTC_FUNC_IDS_MAX 16384U /* functions of one payload; a writer starts the next one */

#endif
