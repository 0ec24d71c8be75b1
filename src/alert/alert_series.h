/* SPDX-License-Identifier: MIT */
/*
 * alert_series: one number a minute, and whether the last of them are out of line with those before.
 *
 * What is usual is the median of the last hour, how far it strays the median of the distances from it: one wild minute changes
 * neither. Nothing is less sure than the number of samples behind it lets it be, so counting noise is part of the spread. A minute is
 * out when it lies many spreads above the usual, and is larger by a part and by an amount that somebody would care for. One minute
 * that is far out says so at once, two in a row that are out say it together; one alone says nothing.
 *
 * While it is out, minutes are not added to what is usual. When it stays there for long, the new level is the usual one. What has come
 * and gone before is no news either: the highest that was seen fades within days, and a minute that is hardly above it is not out.
 *
 * Where there are days of it, the same hour of those days is a second opinion: what is usual at this time is not out, whatever the hour
 * before was like.
 */
#ifndef KISEKI_ALERT_ALERT_SERIES_H
#define KISEKI_ALERT_ALERT_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#define ALERT_PAST 60U	/* minutes that are usual */
#define ALERT_LEAST 10U /* … that must be known before anything is out, if no limit says more */
#define ALERT_STAYS 30U /* minutes after which a new level is the usual one */
#define ALERT_CALM 3U	/* minutes in line after which it is over */
#define ALERT_SAME_HOURS 3U /* of earlier days that make a second opinion */

struct alert_limits {
	double once, twice;  /* spreads above the usual: of one minute, of each of two */
	double least_part;   /* larger by this part of the usual */
	double least_amount; /* … and by this, in the unit of the values */
	unsigned int
		least_past; /* minutes that must be known before anything is out; 0: ALERT_LEAST */
};
extern const struct alert_limits alert_limits_default;

struct alert_point {
	double value;
	double noise; /* its standard deviation by counting alone */
	/* The same hour of earlier days: their median; has_hour: there are enough of them. */
	bool has_hour;
	double hour;
};

enum alert_state {
	ALERT_QUIET = 0,
	ALERT_SUSPECT = 1, /* one minute was out */
	ALERT_OUT = 2,
};

struct alert_series {
	float past[ALERT_PAST];
	uint8_t n, at; /* of the past; where the next goes */
	uint8_t state; /* enum alert_state */
	uint8_t calm;  /* minutes in line since it was out */
	uint16_t out;  /* minutes since the first that was */
	float peak;    /* the highest, fading */
	float level[ALERT_STAYS];
};

struct alert_verdict {
	enum alert_state before, now;
	double usual, spread;
	double distance;  /* spreads above it */
	bool is_out;	  /* this minute */
	bool has_settled; /* it was out for so long that it is usual now */
};

/* Judges a minute, and takes it in. A zeroed struct is a series without past. */
void alert_series_put(struct alert_series *s, const struct alert_point *p,
		      const struct alert_limits *limits, struct alert_verdict *ret);

/* Whether it would be out, as far as its own past goes. */
bool alert_series_peek(const struct alert_series *s, const struct alert_point *p,
		       const struct alert_limits *limits);

/* Minutes of which nothing is known: a break in the recording. Suspicion ends; what is usual stays. */
void alert_series_skip(struct alert_series *s);

/* Nothing will come any more, as far as is known: it is not out any longer, and if it is when something comes, that is news. */
void alert_series_end(struct alert_series *s);

/* It is not what it was: what was usual is not known any more. */
void alert_series_restart(struct alert_series *s);

#endif
