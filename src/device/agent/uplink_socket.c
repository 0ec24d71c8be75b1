/* SPDX-License-Identifier: MIT */
/* uplink_socket: see uplink_socket.h. */
#include "device/agent/uplink_socket.h"

#include <errno.h>
#include <string.h>

#define PIECE 4096U /* read at once */

int uplink_socket_read(struct uplink *u, struct line *l, uint32_t pieces, uint64_t now_ms,
		       struct error *e)
{
	uint8_t piece[PIECE];
	int r = uplink_push(u, NULL, 0, now_ms, e);
	uint32_t i;

	for (i = 0; r >= 0 && i < pieces; i++) {
		size_t room = uplink_room(u);
		ssize_t n;

		if (!room)
			return 0;
		n = line_recv(l, piece, room < PIECE ? room : PIECE);
		if (n == 0)
			return error_set(e, ECONNRESET, "the collector closed the connection");
		if (n == -EAGAIN)
			return 0;
		if (n < 0)
			return error_set(e, (int)-n, "cannot read from the collector: %s",
					 strerror((int)-n));
		r = uplink_push(u, piece, (size_t)n, now_ms, e);
	}
	return r;
}

int uplink_socket_write(struct uplink *u, struct line *l, uint32_t pieces, struct error *e)
{
	const uint8_t *out;
	uint32_t i;
	size_t len;
	ssize_t n;

	for (i = 0; i < pieces; i++) {
		out = uplink_get(u, &len);
		if (!len)
			return 0;
		n = line_send(l, out, len);
		if (n == -EAGAIN)
			return 0;
		if (n < 0)
			return error_set(e, (int)-n, "cannot send to the collector: %s",
					 strerror((int)-n));
		uplink_pop(u, (size_t)n);
	}
	return 0;
}
