/* SPDX-License-Identifier: MIT */
/*
 * func_rules: functions by name, for a runtime that knows no names.
 *
 * The library in the traced program tells functions by their place in their file (device/func/rule.h), so
 * names are resolved before the program starts: a list of words with commas between them becomes another such
 * list. A word is a pattern of names of the program's functions ("parse_*"), one of those of a library
 * ("draw_*@/usr/lib/libdraw.so"), or what the runtime takes as it is: "libdraw.so*", "app+0x1340". Before it
 * may stand "entry:" or "exit:".
 *
 * Functions that lie side by side and all fit become one range, so that a pattern that fits thousands is still
 * a short list.
 */
#ifndef KISEKI_CLI_FUNC_RULES_H
#define KISEKI_CLI_FUNC_RULES_H

#include "base/error.h"
#include "symbol/symbols.h"

#define FUNC_RULES_TEXT_MAX 8000U /* the runtime takes no more */

/* `program`: path of the file. *ret is the caller's. -ENOENT: no function has such a name. */
int func_rules_resolve(const char *list, const char *program, struct symbols *symbols, char **ret,
		       struct error *e);

#endif
