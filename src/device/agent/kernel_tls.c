/* SPDX-License-Identifier: MIT */
/*
 * kernel_tls: see kernel_tls.h. The numbers and layouts are those of the kernel's <linux/tls.h>, which not
 * every tool chain has, or not of a kernel that knows TLS 1.3.
 */
#include "device/agent/kernel_tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SOL_TLS
#define SOL_TLS 282
#endif
#ifndef TCP_ULP
#define TCP_ULP 31
#endif
#define WAY_SENDING 1
#define WAY_RECEIVING 2
#define VERSION_1_3 0x0304U
#define CIPHER_AES_128_GCM 51U
#define CIPHER_CHACHA20_POLY1305 54U
#define AES_KEY_LEN 16U
#define AES_SALT_LEN 4U /* of the IV, its beginning */

int kernel_tls_open(int fd, struct error *e)
{
	if (!setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) || errno == EEXIST)
		return 0;
	if (errno == ENOENT)
		return error_set(e, ENOENT,
				 "cannot secure the driver's connection: this kernel has no TLS "
				 "(CONFIG_TLS), or its module is not loaded (modprobe tls)");
	return error_set(e, errno, "cannot secure the driver's connection: %s", strerror(errno));
}

void kernel_tls_load(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	/* Not connected, it is refused, but not before the module was looked for. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls"));
	close(fd);
}

/* What the kernel is told of a direction. */
struct told {
	uint16_t version, cipher;
	uint8_t bytes[KERNEL_TLS_IV_LEN + KERNEL_TLS_KEY_MAX + KERNEL_TLS_SEQUENCE_LEN];
	size_t len; /* of these; not told */
};

static void put(struct told *t, const uint8_t *bytes, size_t len)
{
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
}

static void put_key(struct told *t, const struct kernel_tls_key *k)
{
	t->version = VERSION_1_3;
	if (k->cipher == KERNEL_TLS_AES_128_GCM) {
		t->cipher = CIPHER_AES_128_GCM;
		put(t, k->iv + AES_SALT_LEN, KERNEL_TLS_IV_LEN - AES_SALT_LEN);
		put(t, k->key, AES_KEY_LEN);
		put(t, k->iv, AES_SALT_LEN);
	} else {
		t->cipher = CIPHER_CHACHA20_POLY1305;
		put(t, k->iv, KERNEL_TLS_IV_LEN);
		put(t, k->key, KERNEL_TLS_KEY_MAX);
	}
	put(t, k->sequence, KERNEL_TLS_SEQUENCE_LEN);
}

int kernel_tls_set(int fd, const struct kernel_tls_key *k, struct error *e)
{
	struct told t = { .len = 0 };
	int r = 0;

	put_key(&t, k);
	if (setsockopt(fd, SOL_TLS, k->is_sending ? WAY_SENDING : WAY_RECEIVING, &t,
		       (socklen_t)(offsetof(struct told, bytes) + t.len)) < 0)
		r = errno;
	explicit_bzero(&t, sizeof(t));
	/* A cipher that it does not know is EINVAL, one whose code it does not have ENOENT. */
	if (r == EINVAL || r == ENOENT || r == EOPNOTSUPP)
		return error_set(e, EOPNOTSUPP,
				 "cannot secure the driver's connection: this kernel has no %s",
				 k->cipher == KERNEL_TLS_AES_128_GCM ? "AES-128-GCM"
								     : "ChaCha20-Poly1305");
	return r ? error_set(e, r, "cannot secure the driver's connection: %s", strerror(r)) : 0;
}
