/* SPDX-License-Identifier: MIT */
/*
 * alert_watch: every function, process, task and virtual machine of every device against its own recent past.
 *
 * Facts come minute by minute, as workers make them. Each thing of a device that ever took a part of the time worth looking at has a
 * series (alert_series.h). What is said when one is out of line:
 *
 * - a function, if it takes more than before for each second of the rest of its process, and more of the machine: it got slower. Load
 *   comes and goes, but that relation is steady, so a little more is seen at once, and by how much it got slower it rises;
 * - a process, if it does as a whole: there is more to do. Its alert names the function that grew most;
 * - what was stolen from a virtual machine, with who took it; what the VMM took, with the exit it was for.
 *
 * One cause gives one alert: functions of a process that is out as a whole, and is not because of one of them, are not said. For half
 * an hour after a new build of an object its functions are looked at more closely, and an alert says which build it was. A function
 * that comes when others of its object go, as when they get names or other ones, is none that got slower.
 */
#ifndef KISEKI_ALERT_ALERT_WATCH_H
#define KISEKI_ALERT_ALERT_WATCH_H

#include "alert/alert_series.h"
#include "alert/alert_view.h"
#include "base/cleanup.h"

#define ALERT_TEXT 256U
#define ALERT_SERIES_MAX (1U << 20) /* of all devices; then the stalest go */
#define ALERT_DEVICES_MAX (1U << 20)

/* Why an alert is over. */
enum alert_end {
	ALERT_GOES_ON = 0,
	ALERT_IN_LINE = 1, /* it is as it was */
	ALERT_USUAL = 2,   /* it stayed as it is, and that is usual now */
	ALERT_SILENT = 3,  /* the device has sent nothing for a while */
	ALERT_ENDS,
};
extern const char *const alert_end_words[ALERT_ENDS + 1];

struct alert {
	uint64_t number; /* from 1 on, in the order in which they were told */
	struct message_id device;
	uint8_t kind; /* enum alert_kind */
	char scope[ALERT_TEXT], name[ALERT_TEXT], object[ALERT_TEXT];
	char cause[ALERT_TEXT]; /* who took it, which exit, which function; "": nobody */
	char build[2 * FACT_BUILD_ID_MAX + 1]; /* that is new since shortly before; "": none */
	uint64_t since_s;		       /* the first minute that was out */
	uint64_t told_s;		       /* the minute with which it was known */
	uint64_t until_s;		       /* 0: it goes on */
	uint8_t end;			       /* enum alert_end */
	double usual, value, peak;	       /* share, or seconds */
	double distance;		       /* in spreads, when it was told */
};

struct alert_watch_options {
	struct alert_limits limits; /* zeros: the usual ones */
	/* An alert begins, or ends. */
	void (*tell)(void *context, const struct alert *a);
	/* What the thing had in the same hour of earlier days: how many, and their median. May be NULL. */
	unsigned int (*same_hour)(void *context, const struct alert *like, uint64_t minute_s,
				  double *ret);
	void *context;
};

struct alert_watch;

int alert_watch_new(struct alert_watch **ret, const struct alert_watch_options *o); /* -ENOMEM */
void alert_watch_free(struct alert_watch *w);
DEFINE_CLEANUP(alert_watch, alert_watch_free)

/* A minute of a device; one that is not later than the last of its kind is passed over. `is_past`: only to learn from it what is usual;
 * nothing is told. -ENOMEM. By one thread at a time. */
int alert_watch_put(struct alert_watch *w, const struct fact_set *s, bool is_past);

/* Ends the alerts of devices of which nothing was put since well before `now_s`; what is behind on the way here must not be behind
 * it. By the thread that puts. */
void alert_watch_expire(struct alert_watch *w, uint64_t now_s);

struct alert_watch_counters {
	uint64_t devices, series, minutes, told, open;
};
void alert_watch_count(const struct alert_watch *w, struct alert_watch_counters *ret);

/* "nginx: function memcpy (libc.so.6) takes 12.1 % of the machine, 3.0 % before, since 12:31". */
const char *alert_format(const struct alert *a, char *text, size_t room);

#endif
