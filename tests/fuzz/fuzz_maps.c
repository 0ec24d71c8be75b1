/* SPDX-License-Identifier: MIT */
/* maps: any text; mappings are in order, not empty, and found again in the generations they have. */
#include <assert.h>
#include <string.h>

#include "trace/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct func_mapping *f;
	struct maps m;
	size_t i;

	if (maps_parse((const char *)data, size, &m, NULL) < 0)
		return 0;
	for (i = 0; i < m.n; i++) {
		f = &m.mappings[i];
		assert(f->from < f->to && f->since < f->until && f->since <= m.newest_generation);
		assert(f->path && strlen(f->path) < MAPS_PATH_MAX);
		assert(f->build_id_len <= FUNC_BUILD_ID_MAX);
		assert(i == 0 || f[-1].since < f->since ||
		       (f[-1].since == f->since && f[-1].from <= f->from));
		assert(maps_get(m.mappings, m.n, f->since, f->from));
	}
	maps_done(&m);
	return 0;
}
