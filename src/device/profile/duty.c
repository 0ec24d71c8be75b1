/* SPDX-License-Identifier: MIT */
/* duty: see duty.h. */
#include "device/profile/duty.h"

static void draw(struct duty *d)
{
	d->random ^= d->random << 13;
	d->random ^= d->random >> 7;
	d->random ^= d->random << 17;
	d->from_ns = d->start_ns + d->random % (d->every_ns - d->on_ns + 1);
}

void duty_init(struct duty *d, uint64_t on_ns, uint64_t every_ns, uint64_t random, uint64_t now_ns)
{
	*d = (struct duty){ .on_ns = on_ns,
			    .every_ns = every_ns,
			    .random = random ? random : 1,
			    .start_ns = now_ns };
	if (on_ns)
		draw(d);
}

bool duty_is_on(struct duty *d, uint64_t now_ns)
{
	if (!d->on_ns)
		return true;
	if (now_ns - d->start_ns >= d->every_ns) {
		d->start_ns += (now_ns - d->start_ns) / d->every_ns * d->every_ns;
		draw(d);
	}
	return now_ns >= d->from_ns && now_ns - d->from_ns < d->on_ns;
}

uint64_t duty_next_ns(const struct duty *d, uint64_t now_ns)
{
	if (!d->on_ns)
		return UINT64_MAX;
	if (now_ns < d->from_ns)
		return d->from_ns;
	if (now_ns - d->from_ns < d->on_ns)
		return d->from_ns + d->on_ns;
	return d->start_ns + d->every_ns;
}
