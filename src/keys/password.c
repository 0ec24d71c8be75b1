/* SPDX-License-Identifier: MIT */
/* password: see password.h. */
#include "keys/password.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "base/cleanup.h"

#define METHOD "$y$" /* yescrypt */

_Static_assert(PASSWORD_HASH_MAX >= CRYPT_OUTPUT_SIZE, "every hash of libcrypt fits");

/* The hash with its setting, owned; NULL: it cannot be made. */
static char *make(const char *password, const char *setting)
{
	struct crypt_data *work = calloc(1, sizeof(*work)); /* 32 KiB */
	const char *hash;
	char *copy;

	if (!work)
		return NULL;
	hash = crypt_rn(password, setting, work, sizeof(*work));
	copy = hash ? strdup(hash) : NULL;
	explicit_bzero(work, sizeof(*work));
	free(work);
	return copy;
}

int password_hash(const char *password, char ret[PASSWORD_HASH_MAX], struct error *e)
{
	char setting[CRYPT_GENSALT_OUTPUT_SIZE];
	_cleanup_free_ char *hash = NULL;
	size_t len = strlen(password);

	if (len < PASSWORD_LEAST || len > PASSWORD_MOST)
		return error_set(e, EINVAL, "a password has %u to %u bytes", PASSWORD_LEAST,
				 PASSWORD_MOST);
	if (crypt_gensalt_rn(METHOD, 0, NULL, 0, setting, sizeof(setting)))
		hash = make(password, setting);
	if (!hash || strlen(hash) >= PASSWORD_HASH_MAX)
		return error_set(e, ENOTSUP, "cannot hash a password: libcrypt has no yescrypt");
	strcpy(ret, hash);
	return 0;
}

bool password_check(const char *password, const char *hash)
{
	_cleanup_free_ char *made = NULL;
	size_t len = strlen(hash);

	if (strlen(password) > PASSWORD_MOST)
		return false;
	made = make(password, hash);
	return made && strlen(made) == len && len && !gnutls_memcmp(made, hash, len);
}
