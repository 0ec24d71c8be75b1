/* SPDX-License-Identifier: MIT */
/* kernel_tls: see kernel_tls.h. */
#include "device/agent/kernel_tls.h"

#include <errno.h>
#include <linux/tls.h>
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

static int set_aes(int fd, const struct kernel_tls_key *k)
{
	struct tls12_crypto_info_aes_gcm_128 c = {
		.info = { .version = TLS_1_3_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128 }
	};
	int r;

	memcpy(c.key, k->key, sizeof(c.key));
	memcpy(c.salt, k->iv, sizeof(c.salt));
	memcpy(c.iv, k->iv + sizeof(c.salt), sizeof(c.iv));
	memcpy(c.rec_seq, k->sequence, sizeof(c.rec_seq));
	r = setsockopt(fd, SOL_TLS, k->is_sending ? TLS_TX : TLS_RX, &c, sizeof(c));
	r = r < 0 ? -errno : 0;
	explicit_bzero(&c, sizeof(c));
	return r;
}

#ifdef TLS_CIPHER_CHACHA20_POLY1305
static int set_chacha(int fd, const struct kernel_tls_key *k)
{
	struct tls12_crypto_info_chacha20_poly1305 c = {
		.info = { .version = TLS_1_3_VERSION, .cipher_type = TLS_CIPHER_CHACHA20_POLY1305 }
	};
	int r;

	memcpy(c.key, k->key, sizeof(c.key));
	memcpy(c.iv, k->iv, sizeof(c.iv));
	memcpy(c.rec_seq, k->sequence, sizeof(c.rec_seq));
	r = setsockopt(fd, SOL_TLS, k->is_sending ? TLS_TX : TLS_RX, &c, sizeof(c));
	r = r < 0 ? -errno : 0;
	explicit_bzero(&c, sizeof(c));
	return r;
}
#else /* headers of a kernel before 5.11 */
static int set_chacha(int fd, const struct kernel_tls_key *k)
{
	(void)fd;
	(void)k;
	return -EOPNOTSUPP;
}
#endif

int kernel_tls_set(int fd, const struct kernel_tls_key *k, struct error *e)
{
	int r = k->cipher == KERNEL_TLS_AES_128_GCM ? set_aes(fd, k) : set_chacha(fd, k);

	/* A cipher that it does not know is EINVAL, one whose code it does not have ENOENT. */
	if (r == -EINVAL || r == -ENOENT || r == -EOPNOTSUPP)
		return error_set(e, EOPNOTSUPP,
				 "cannot secure the driver's connection: this kernel has no %s",
				 k->cipher == KERNEL_TLS_AES_128_GCM ? "AES-128-GCM"
								     : "ChaCha20-Poly1305");
	if (r < 0)
		return error_set(e, -r, "cannot secure the driver's connection: %s", strerror(-r));
	return 0;
}
