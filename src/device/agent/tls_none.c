/* SPDX-License-Identifier: MIT */
/* tls_none: in place of tls.c where there is no GnuTLS to build with: a device has no keys then. */
#include <errno.h>
#include <stdio.h>

#include "base/key_file.h"
#include "device/agent/tls.h"

static int refuse(struct error *e)
{
	return error_set(e, ENOSYS, "cannot use keys: this program was built without GnuTLS");
}

const char *tls_folder(const char *state_dir, char out[TLS_FOLDER_MAX])
{
	snprintf(out, TLS_FOLDER_MAX, "%s/keys", state_dir);
	return out;
}

/* Those that are there must be used, so the connection fails and says why. */
bool tls_has_keys(const char *state_dir)
{
	char folder[TLS_FOLDER_MAX];

	return key_file_exists(tls_folder(state_dir, folder), TLS_DEVICE_FILE);
}

int tls_new(struct tls **ret, const char *state_dir, struct error *e)
{
	(void)ret;
	(void)state_dir;
	return refuse(e);
}

int tls_new_stranger(struct tls **ret, const uint8_t fingerprint[TOKEN_FINGERPRINT_LEN],
		     struct error *e)
{
	(void)ret;
	(void)fingerprint;
	return refuse(e);
}

void tls_free(struct tls *t)
{
	(void)t;
}

int tls_open(struct tls *t, int fd, struct error *e)
{
	(void)t;
	(void)fd;
	return refuse(e);
}

short tls_events(const struct tls *t)
{
	(void)t;
	return 0;
}

ssize_t tls_recv(struct tls *t, void *out, size_t room)
{
	(void)t;
	(void)out;
	(void)room;
	return -ENOSYS;
}

ssize_t tls_send(struct tls *t, const void *bytes, size_t len)
{
	(void)t;
	(void)bytes;
	(void)len;
	return -ENOSYS;
}

bool tls_has_unread(const struct tls *t)
{
	(void)t;
	return false;
}

int tls_give(struct tls *t, int fd, struct error *e)
{
	(void)t;
	(void)fd;
	return refuse(e);
}

void tls_set_aes_only(struct tls *t)
{
	(void)t;
}

uint64_t tls_get_start(const struct tls *t)
{
	(void)t;
	return 0;
}

uint64_t tls_get_renewal(const struct tls *t)
{
	(void)t;
	return UINT64_MAX;
}

int tls_request_new(struct tls_request **ret, struct error *e)
{
	(void)ret;
	return refuse(e);
}

void tls_request_free(struct tls_request *r)
{
	(void)r;
}

const uint8_t *tls_request_get(const struct tls_request *r, size_t *ret_len)
{
	(void)r;
	*ret_len = 0;
	return NULL;
}

int tls_request_format(const struct tls_request *r, const uint8_t *der, size_t der_len, char *out,
		       size_t *len)
{
	(void)r;
	(void)der;
	(void)der_len;
	(void)out;
	(void)len;
	return -ENOSYS;
}

int tls_certificate_format(const uint8_t *der, size_t der_len, char *out, size_t *len)
{
	(void)der;
	(void)der_len;
	(void)out;
	(void)len;
	return -ENOSYS;
}
