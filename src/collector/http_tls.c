/* SPDX-License-Identifier: MIT */
/* http_tls: see http_tls.h. */
#include "collector/http_tls.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/key_file.h"
#include "keys/authority.h"

struct http_tls {
	pthread_mutex_t lock;
	struct http_tls_files files;
	char own[KEY_PATH_MAX]; /* the collector's file of the folder */
	struct stat seen;
	struct credentials *credentials;
};

static int load(const struct http_tls *t, struct credentials **ret, struct error *e)
{
	const struct http_tls_files *f = &t->files;

	return f->certificate ? credentials_new_files(ret, f->certificate, f->key, e)
			      : credentials_new(ret, f->folder, e);
}

/* Is the certificate another one than that which was seen last? Its key stands in the same file or is written first. */
static bool has_changed(struct http_tls *t)
{
	struct stat st;

	if (stat(t->files.certificate ? t->files.certificate : t->own, &st) < 0 ||
	    (st.st_ino == t->seen.st_ino && st.st_mtim.tv_sec == t->seen.st_mtim.tv_sec &&
	     st.st_mtim.tv_nsec == t->seen.st_mtim.tv_nsec))
		return false;
	t->seen = st;
	return true;
}

int http_tls_new(struct http_tls **ret, const struct http_tls_files *f, struct error *e)
{
	CLEANUP(http_tls) struct http_tls *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return error_set(e, ENOMEM, "cannot serve HTTPS: out of memory");
	pthread_mutex_init(&t->lock, NULL);
	t->files = *f;
	snprintf(t->own, sizeof(t->own), "%s/%s", f->folder, COLLECTOR_FILE);
	has_changed(t);
	r = load(t, &t->credentials, e);
	if (r < 0)
		return r;
	*ret = take_ptr(t);
	return 0;
}

void http_tls_free(struct http_tls *t)
{
	if (!t)
		return;
	credentials_unref(t->credentials);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int http_tls_take(struct http_tls *t, struct credentials **ret, struct error *e)
{
	struct credentials *fresh = NULL;
	int r = 0;

	pthread_mutex_lock(&t->lock);
	if (has_changed(t))
		r = load(t, &fresh, e);
	if (fresh) {
		credentials_unref(t->credentials);
		t->credentials = fresh;
	}
	*ret = credentials_ref(t->credentials);
	pthread_mutex_unlock(&t->lock);
	return r < 0 ? 1 : 0;
}

void http_tls_put(struct http_tls *t, struct credentials *c)
{
	pthread_mutex_lock(&t->lock);
	credentials_unref(c);
	pthread_mutex_unlock(&t->lock);
}
