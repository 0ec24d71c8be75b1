/* SPDX-License-Identifier: MIT */
/*
 * http_request: what handlers see: the server, a request, the answer they fill, and the table of
 * routes. Only files named http_* include this.
 */
#ifndef KISEKI_COLLECTOR_HTTP_REQUEST_H
#define KISEKI_COLLECTOR_HTTP_REQUEST_H

#include <pthread.h>
#include <stdatomic.h>

#include <jansson.h>

#include "collector/http.h"
#include "collector/http_body.h"
#include "collector/http_params.h"
#include "keys/people.h"

#define HTTP_CONNECTIONS_MAX 256U
#define HTTP_RESERVED 64U      /* of these, for addresses from which somebody has logged in */
#define HTTP_STRANGERS_MAX 32U /* of one address, once they are silent for so long: */
#define HTTP_PATIENCE_MS 1000
#define HTTP_EXPORTS_MAX 8U   /* at once, each with a thread that decodes */
#define HTTP_LIVE_MAX 64U     /* clients that follow */
#define HTTP_BODY_MAX 65536U  /* of a request */
#define HTTP_REQUEST_MS 15000 /* a request must be here whole within this time */
#define HTTP_IDLE_S 60	      /* a client that takes nothing for so long has gone */
#define HTTP_STOP_MS 100      /* how often those who wait look whether they should stop */

#define HTTP_LENGTH_UNKNOWN UINT64_MAX

struct http_access;
struct http_connections;
struct http_marks;
struct http_states;
struct http_tls;

struct http {
	struct http_options options;
	char host[HTTP_HOST_MAX]; /* the address it listens on */
	uint16_t port;
	uint64_t started_ns; /* CLOCK_MONOTONIC */
	struct MHD_Daemon *daemon;
	struct http_connections *connections;
	struct http_tls *tls;	    /* NULL: plain */
	struct http_access *access; /* NULL: anybody may everything */
	struct http_marks *marks;   /* in calls that were looked at */
	struct http_states *states; /* of all devices, for those who follow */
	atomic_bool stopping;
	atomic_uint exports, live; /* now */
	atomic_uint turns;	   /* requests that decode now (http_turn.h) */
	atomic_ullong replies[6];  /* by the first digit of the status */
	pthread_mutex_t health_lock;
	bool has_health_lock;
	uint64_t commit_errors, commits_then; /* of the last look that found errors */
};

enum http_who_kind {
	WHO_STRANGER = 0, /* showed nothing; where there are no keys, anybody */
	WHO_LOGIN,
	WHO_TOKEN,
};

/* Who asks, as http_access.c found it. */
struct http_who {
	enum http_who_kind kind;
	enum people_role role, need; /* need: that of the route */
	char name[PEOPLE_NAME_MAX];
	uint8_t hash[32]; /* of the login's id, or the token */
	char proof[33];	  /* of a login */
};

struct http_asker {
	struct http_who state;
	atomic_ullong looked_ms; /* when it was looked whether it holds */
	atomic_bool is_over;
};

struct http_request {
	struct http *http;
	struct MHD_Connection *connection;
	const struct http_route *route;
	struct http_target target;
	const char *captured[HTTP_CAPTURES_MAX];
	bool head;   /* the answer's body is not wanted */
	bool judged; /* its head was looked at */
	char *raw;   /* the target as it came */
	struct http_asker *who;
	char *body; /* NULL: none */
	size_t body_len;
	char allow[64]; /* methods that the path takes, if not this one */
};

struct http_reply {
	unsigned int status;	/* 0: 200, or what the error says */
	const char *type;	/* media type */
	struct http_body *body; /* owned */
	uint64_t length;	/* HTTP_LENGTH_UNKNOWN: it is sent in chunks */
	bool may_code;		/* gzip and zstd make it smaller */
	bool coded;		/* it is there in an encoding; `coding` is that of the body */
	enum http_coding coding;
	bool takes_ranges;
	bool keeps;	    /* may be kept by the client and asked for again with its tag */
	const char *keep;   /* Cache-Control of what may be kept unasked; NULL: by `keeps` */
	const char *policy; /* Content-Security-Policy of a page that needs less than the general */
	const char *allow;  /* of a 405 */
	char etag[96];	    /* with its quotes; "" for none */
	char range[64];	    /* Content-Range */
	char file_name[160]; /* what to save it as; "" for none */
	char cookie[160];    /* Set-Cookie; "" for none */
	uint32_t retry_s;    /* of a 429 */
	char note[256];	     /* Kiseki-Note: what the format could not hold */
};

#define HTTP_REPLY_INIT                                                                            \
	{                                                                                          \
		.length = HTTP_LENGTH_UNKNOWN                                                      \
	}

enum http_need {
	NEED_BY_METHOD = 0, /* GET is for those who may view, all else for those who may control */
	NEED_NOTHING,	    /* for everybody, also without a login */
	NEED_VIEW,
	NEED_ADMIN,
};

struct http_route {
	const char *method; /* GET serves HEAD as well */
	const char *pattern;
	const char *params; /* that it takes, in blanks */
	int (*handle)(struct http_request *q, struct http_reply *reply, struct error *e);
	const char *summary;
	enum http_need need;
};

/* The role that a route needs; the one place where it is said. */
enum people_role http_route_role(const struct http_route *route);

/* The table; NULL beyond its end. */
const struct http_route *http_routes_get(size_t i);

/* Sets the request's route, and what its braces caught. -ENOENT; -EPERM if the path is known for other
 * methods only, which q->allow then lists. */
int http_routes_find(struct http_request *q, const char *method);

/* A header of the request, or NULL. */
const char *http_request_header(const struct http_request *q, const char *name);

/* The address of who asks, without its port; "" if it is not known. */
#define HTTP_PEER_MAX 64U
const char *http_request_peer(const struct http_request *q, char out[HTTP_PEER_MAX]);

/* The same with who it is, for what is kept: "ann@192.0.2.7". */
const char *http_request_asker(const struct http_request *q, char out[HTTP_PEER_MAX]);

/* Has the client closed its side, or should the server stop? Those who wait ask from time to time. */
bool http_request_is_over(const struct http_request *q);

/* Puts a document into the reply; takes it. NULL is out of memory. */
int http_reply_json(struct http_reply *reply, json_t *document, size_t flags, struct error *e);

/* Text that is taken. */
int http_reply_text(struct http_reply *reply, const char *type, char *text, size_t len,
		    struct error *e);

__attribute__((format(printf, 2, 3))) void http_log(const struct http *h, const char *fmt, ...);

/* The handlers, by file. */
int http_devices(struct http_request *q, struct http_reply *reply, struct error *e);
int http_device(struct http_request *q, struct http_reply *reply, struct error *e);
int http_instruct_start(struct http_request *q, struct http_reply *reply, struct error *e);
int http_instruct_stop(struct http_request *q, struct http_reply *reply, struct error *e);
int http_instruct_configure(struct http_request *q, struct http_reply *reply, struct error *e);
int http_instructions(struct http_request *q, struct http_reply *reply, struct error *e);
int http_alerts(struct http_request *q, struct http_reply *reply, struct error *e);
int http_work(struct http_request *q, struct http_reply *reply, struct error *e);
int http_fleet_top(struct http_request *q, struct http_reply *reply, struct error *e);
int http_fleet_tree(struct http_request *q, struct http_reply *reply, struct error *e);
int http_fleet_diff(struct http_request *q, struct http_reply *reply, struct error *e);
int http_fleet_diff_tree(struct http_request *q, struct http_reply *reply, struct error *e);
int http_fleet_machines(struct http_request *q, struct http_reply *reply, struct error *e);
int http_fleet_trend(struct http_request *q, struct http_reply *reply, struct error *e);
int http_labels(struct http_request *q, struct http_reply *reply, struct error *e);
int http_device_labels(struct http_request *q, struct http_reply *reply, struct error *e);
int http_label(struct http_request *q, struct http_reply *reply, struct error *e);
int http_group(struct http_request *q, struct http_reply *reply, struct error *e);
int http_runs(struct http_request *q, struct http_reply *reply, struct error *e);
int http_run(struct http_request *q, struct http_reply *reply, struct error *e);
int http_device_runs(struct http_request *q, struct http_reply *reply, struct error *e);
int http_ledger(struct http_request *q, struct http_reply *reply, struct error *e);
int http_formats(struct http_request *q, struct http_reply *reply, struct error *e);
int http_export(struct http_request *q, struct http_reply *reply, struct error *e);
int http_report_sched(struct http_request *q, struct http_reply *reply, struct error *e);
int http_report_latency(struct http_request *q, struct http_reply *reply, struct error *e);
int http_boot_html(struct http_request *q, struct http_reply *reply, struct error *e);
int http_boot_svg(struct http_request *q, struct http_reply *reply, struct error *e);
int http_boot_data(struct http_request *q, struct http_reply *reply, struct error *e);
int http_boot_json(struct http_request *q, struct http_reply *reply, struct error *e);
int http_boot_report(struct http_request *q, struct http_reply *reply, struct error *e);
int http_boot_diff(struct http_request *q, struct http_reply *reply, struct error *e);
int http_calls_report(struct http_request *q, struct http_reply *reply, struct error *e);
int http_calls_tree(struct http_request *q, struct http_reply *reply, struct error *e);
int http_calls_diff(struct http_request *q, struct http_reply *reply, struct error *e);
int http_calls_slices(struct http_request *q, struct http_reply *reply, struct error *e);
int http_profile_report(struct http_request *q, struct http_reply *reply, struct error *e);
int http_profile_tree(struct http_request *q, struct http_reply *reply, struct error *e);
int http_profile_diff(struct http_request *q, struct http_reply *reply, struct error *e);
int http_profile_timeline(struct http_request *q, struct http_reply *reply, struct error *e);
int http_vm_report(struct http_request *q, struct http_reply *reply, struct error *e);
int http_vm_steal(struct http_request *q, struct http_reply *reply, struct error *e);
int http_vm_correct(struct http_request *q, struct http_reply *reply, struct error *e);
int http_vm_tree(struct http_request *q, struct http_reply *reply, struct error *e);
int http_vm_slices(struct http_request *q, struct http_reply *reply, struct error *e);
int http_timeline(struct http_request *q, struct http_reply *reply, struct error *e);
int http_slices(struct http_request *q, struct http_reply *reply, struct error *e);
int http_events(struct http_request *q, struct http_reply *reply, struct error *e);
int http_chain(struct http_request *q, struct http_reply *reply, struct error *e);
int http_live(struct http_request *q, struct http_reply *reply, struct error *e);
int http_device_live(struct http_request *q, struct http_reply *reply, struct error *e);
int http_metrics(struct http_request *q, struct http_reply *reply, struct error *e);
int http_health(struct http_request *q, struct http_reply *reply, struct error *e);
int http_openapi(struct http_request *q, struct http_reply *reply, struct error *e);
int http_asset(struct http_request *q, struct http_reply *reply, struct error *e);
int http_login(struct http_request *q, struct http_reply *reply, struct error *e);
int http_logout(struct http_request *q, struct http_reply *reply, struct error *e);
int http_me(struct http_request *q, struct http_reply *reply, struct error *e);
int http_users(struct http_request *q, struct http_reply *reply, struct error *e);
int http_user_logout(struct http_request *q, struct http_reply *reply, struct error *e);
int http_enroll(struct http_request *q, struct http_reply *reply, struct error *e);
int http_revoke(struct http_request *q, struct http_reply *reply, struct error *e);
int http_page(struct http_request *q, struct http_reply *reply, struct error *e);

#endif
