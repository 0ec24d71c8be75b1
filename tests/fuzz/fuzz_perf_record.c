/* SPDX-License-Identifier: MIT */
/* perf_record: any bytes as what is in a perf ring. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "device/profile/perf_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_record r;
	uint8_t *copy;
	uint32_t len;

	for (; size <= UINT32_MAX && (len = perf_record_length(data, (uint32_t)size));
	     data += len, size -= len) {
		copy = malloc(len);
		if (!copy)
			return 0;
		memcpy(copy, data, len);
		assert(perf_record_time_at(copy, len) + 8 <= len);
		if (perf_record_parse(&r, copy, len, len & 8) > 0)
			assert(r.n_kernel + r.n_user <= (int)SAMPLE_CHAIN_MAX &&
			       r.map.path_len < len && r.map.build_id_len <= SAMPLE_BUILD_ID_MAX);
		free(copy);
	}
	return 0;
}
