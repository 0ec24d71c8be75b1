/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exporter_link: the exporter's connection: between the socket (link.h) and the protocol
 * (core/session.h).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/utsname.h>

#include "device/driver/exporter.h"

#define CONNECT_MS 10000U
#define LOGGED_MOST 3U
#define PIECES_MAX 32	 /* read in one turn */
#define ACK_FRAME_MOST 8 /* bytes, up to 2^42 frames; a PING has more in the first minute already */

/* --- ending --- */

void exporter_drop(struct exporter *e, const char *why)
{
	strscpy(e->why, why, sizeof(e->why));
	/* A collector that is away, or mad, is worth a few lines, not one for each attempt. */
	if (why[0] && strcmp(why, e->logged) && e->n_logged < LOGGED_MOST) {
		strscpy(e->logged, why, sizeof(e->logged));
		pr_notice_ratelimited("%s\n", why);
		if (++e->n_logged == LOGGED_MOST)
			pr_notice_ratelimited("tries on, and says so when it is connected\n");
	}
	link_close(&e->link);
	session_close(&e->session, e->now_ms);
	e->is_connecting = e->was_welcome = false;
	e->rest_at = e->rest_len = 0;
}

static void forget_failures(struct exporter *e)
{
	e->logged[0] = e->why[0] = 0;
	e->n_logged = 0;
}

static void drop_for(struct exporter *e, const char *what, int r)
{
	char why[SESSION_WHY_LEN];

	snprintf(why, sizeof(why), "cannot %s the collector%s%s: %pe", what,
		 e->link.is_handed ? "" : " ", e->link.is_handed ? "" : e->collector, ERR_PTR(r));
	exporter_drop(e, why);
}

int exporter_set_collector(struct exporter *e, const char *text)
{
	if (text[0] && !link_is_address(text))
		return -EINVAL;
	strscpy(e->collector, text, sizeof(e->collector));
	e->is_new_address = true;
	return 0;
}

void exporter_hand(struct exporter *e, struct socket *sock)
{
	if (e->handed)
		link_put_handed(e->handed);
	e->handed = sock;
}

/* --- opening --- */

static struct message_text text_of(const char *s)
{
	return (struct message_text){ s, (u32)min_t(size_t, strlen(s), MESSAGE_TEXT_MAX) };
}

static void say_hello(struct exporter *e)
{
	const struct controller *c = &e->controller;
	struct message_hello m = {
		.version = PROTOCOL_VERSION,
		.device = *identity_get_device(&e->identity),
		.boot = e->identity.boot,
		.name = text_of(e->identity.name),
		.agent = text_of(KISEKI_VERSION),
		.kernel = text_of(init_utsname()->release),
		.machine = text_of(init_utsname()->machine),
		.cpus = c->cpus,
		.origins = 1U << ORIGIN_DRIVER,
		.state = (u8)controller_state(c),
		.n_runs = c->n_runs,
	};
	u32 i;

	for (i = 0; i < c->n_runs; i++) {
		m.runs[i] = c->runs[i].id;
		e->hello_runs[i] = c->runs[i].number;
	}
	e->is_connecting = e->lacks_network = false;
	exporter_rewind(e);
	session_open(&e->session, &m, e->now_ms);
}

static bool is_no_way(int r)
{
	return r == -ENODEV || r == -ENETUNREACH || r == -EHOSTUNREACH || r == -ENETDOWN ||
	       r == -EADDRNOTAVAIL || r == -EAFNOSUPPORT;
}

static void connected_or_not(struct exporter *e, int r)
{
	if (!r) {
		say_hello(e);
		return;
	}
	if (r == -EINPROGRESS && e->now_ms < e->connect_ms)
		return;
	e->lacks_network = is_no_way(r);
	drop_for(e, "reach", r == -EINPROGRESS ? -ETIMEDOUT : r);
}

/* A socket that somebody handed over takes the place of any connection. */
static void take_handed(struct exporter *e)
{
	struct socket *sock = e->handed;

	e->handed = NULL;
	if (!link_is_closed(&e->link))
		exporter_drop(e, "");
	link_adopt(&e->link, sock);
	say_hello(e);
}

static void take_new_address(struct exporter *e)
{
	e->is_new_address = false;
	if (!link_is_closed(&e->link)) {
		session_bye(&e->session, BYE_DONE, "it goes to another collector");
		exporter_send(e);
		exporter_drop(e, "");
	}
	forget_failures(e);
	retry_init(&e->session.retry, get_random_u32());
}

static int connect_anew(struct exporter *e)
{
	struct sockaddr_storage address;
	int r = link_resolve(&address, e->collector);

	return r < 0 ? r : link_connect(&e->link, &address);
}

static void go_on_to_connect(struct exporter *e)
{
	if (e->handed) {
		take_handed(e);
		return;
	}
	if (e->is_new_address)
		take_new_address(e);
	if (e->is_connecting) {
		connected_or_not(e, link_check(&e->link));
		return;
	}
	if (!link_is_closed(&e->link) || !e->collector[0] || e->is_ending ||
	    e->now_ms < session_next(&e->session))
		return;
	e->is_connecting = true;
	e->connect_ms = e->now_ms + CONNECT_MS;
	connected_or_not(e, connect_anew(e));
}

/* --- reading --- */

/* False: the connection is over. */
static bool read_link(struct exporter *e)
{
	int i, n, r = session_push(&e->session, 0, e->now_ms);
	u8 *room;
	u32 len;

	for (i = 0; r >= 0 && i < PIECES_MAX; i++) {
		room = session_room(&e->session, &len);
		n = len ? link_receive(&e->link, room, len) : -EAGAIN;
		if (n == -EAGAIN)
			return true;
		if (!n)
			exporter_drop(e, "the collector closed the connection");
		else if (n == -EKEYREJECTED)
			exporter_drop(e, "TLS asks for what a socket in the kernel cannot do");
		else if (n < 0)
			drop_for(e, "read from", n);
		if (n <= 0)
			return false;
		r = session_push(&e->session, (u32)n, e->now_ms);
	}
	if (r >= 0) {
		exporter_signal(e, SIGNAL_GO_ON);
		return true;
	}
	exporter_send(e); /* the reason, if it goes at once */
	exporter_drop(e, e->session.why);
	return false;
}

/* While turns come anyway, an ACK need not wake the thread; unless blocks wait for it. */
static void set_low_mark(struct exporter *e)
{
	bool patient = controller_state(&e->controller) == DEVICE_TRACING && !e->is_starved &&
		       !e->is_ending && e->session.phase == SESSION_WELCOME;

	link_set_low_mark(&e->link, patient ? ACK_FRAME_MOST + 1 : 1);
}

/* A collector compares the device's clock with its own for as long as a connection lasts. */
static void drop_for_clock(struct exporter *e)
{
	u32 clock = e->controller.counter->generation;

	if (clock != e->clock && !link_is_closed(&e->link))
		exporter_drop(e, "the clock is another one");
	e->clock = clock;
}

void exporter_turn_link(struct exporter *e)
{
	drop_for_clock(e);
	go_on_to_connect(e);
	if (link_is_closed(&e->link) || e->is_connecting || !read_link(e))
		return;
	if (session_is_silent(&e->session, e->now_ms)) {
		exporter_drop(e, "the collector is silent");
		return;
	}
	if (e->session.phase == SESSION_WELCOME && !e->was_welcome) {
		e->was_welcome = true;
		e->counts.connections++;
		forget_failures(e);
		e->status_ms = e->tick_ms = e->now_ms;
		pr_info_ratelimited("connected to %s as session %llu\n",
				    e->link.is_handed ? "a collector by a given socket"
						      : e->collector,
				    (unsigned long long)e->session.number);
	}
}

void exporter_turn_send(struct exporter *e)
{
	int r;

	if (link_is_closed(&e->link) || e->is_connecting)
		return;
	r = exporter_send(e);
	if (r < 0)
		drop_for(e, "send to", r);
	else
		set_low_mark(e);
}

u64 exporter_next_link(const struct exporter *e)
{
	if (e->is_connecting)
		return e->connect_ms;
	if (link_is_closed(&e->link) && !e->collector[0])
		return U64_MAX;
	return session_next(&e->session);
}
