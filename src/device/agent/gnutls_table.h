/* SPDX-License-Identifier: MIT */
/*
 * gnutls_table: the functions of GnuTLS that the device's programs use, found when they are first
 * needed. A device without keys never loads the library, which would take more memory than the agent
 * does; a recorder that is the first program of a boot can be started where there is none.
 */
#ifndef KISEKI_DEVICE_AGENT_GNUTLS_TABLE_H
#define KISEKI_DEVICE_AGENT_GNUTLS_TABLE_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "base/error.h"

#define GNUTLS_TABLE(X)                                                                            \
	X(gnutls_strerror)                                                                         \
	X(gnutls_error_is_fatal)                                                                   \
	X(gnutls_init)                                                                             \
	X(gnutls_deinit)                                                                           \
	X(gnutls_priority_set_direct)                                                              \
	X(gnutls_credentials_set)                                                                  \
	X(gnutls_transport_set_int2)                                                               \
	X(gnutls_handshake)                                                                        \
	X(gnutls_record_recv)                                                                      \
	X(gnutls_record_send)                                                                      \
	X(gnutls_record_check_pending)                                                             \
	X(gnutls_record_get_direction)                                                             \
	X(gnutls_record_get_state)                                                                 \
	X(gnutls_cipher_get)                                                                       \
	X(gnutls_certificate_allocate_credentials)                                                 \
	X(gnutls_certificate_free_credentials)                                                     \
	X(gnutls_certificate_set_x509_trust_mem)                                                   \
	X(gnutls_certificate_set_x509_key_mem)                                                     \
	X(gnutls_certificate_set_verify_flags)                                                     \
	X(gnutls_certificate_get_peers)                                                            \
	X(gnutls_certificate_verify_peers)                                                         \
	X(gnutls_x509_crt_init)                                                                    \
	X(gnutls_x509_crt_deinit)                                                                  \
	X(gnutls_x509_crt_import)                                                                  \
	X(gnutls_x509_crt_export)                                                                  \
	X(gnutls_x509_crt_get_key_id)                                                              \
	X(gnutls_x509_crt_get_activation_time)                                                     \
	X(gnutls_x509_crt_get_expiration_time)                                                     \
	X(gnutls_x509_trust_list_init)                                                             \
	X(gnutls_x509_trust_list_deinit)                                                           \
	X(gnutls_x509_trust_list_add_cas)                                                          \
	X(gnutls_x509_trust_list_verify_crt2)                                                      \
	X(gnutls_x509_privkey_init)                                                                \
	X(gnutls_x509_privkey_deinit)                                                              \
	X(gnutls_x509_privkey_generate)                                                            \
	X(gnutls_x509_privkey_export)                                                              \
	X(gnutls_x509_crq_init)                                                                    \
	X(gnutls_x509_crq_deinit)                                                                  \
	X(gnutls_x509_crq_set_version)                                                             \
	X(gnutls_x509_crq_set_key)                                                                 \
	X(gnutls_x509_crq_sign2)                                                                   \
	X(gnutls_x509_crq_export)

struct gnutls_table {
#define GNUTLS_MEMBER(name) __typeof__(name) *name;
	GNUTLS_TABLE(GNUTLS_MEMBER)
#undef GNUTLS_MEMBER
};

/* The same for all, for ever. NULL: the library is not there, and e says so. */
const struct gnutls_table *gnutls_table_get(struct error *e);

/* "cannot <verb>: <what the library says>", as -EPROTO. */
int gnutls_table_error(const struct gnutls_table *g, struct error *e, const char *verb, int code);

#endif
