// SPDX-License-Identifier: MIT
// event_window: the part of all events that is in memory: pages around where somebody looks, in one list. It grows at
// either end and gives up at the other, so a run of any length takes the same memory. Without DOM.
//
// Whoever shows it has to move by what `shift` says when rows came or went above, so that what is in sight stays.
import type { EventPage, TraceEvent } from "../../api/events";

export const ROWS_MAX = 8000;

export interface Held {
	readonly rows: readonly TraceEvent[];
	/** How many rows of each page there are, so that whole pages are given up and their cursors are known. */
	readonly pages: readonly HeldPage[];
	/** Cursors to go on from; null: there is nothing more. */
	readonly prev: string | null;
	readonly next: string | null;
}

export interface HeldPage {
	readonly count: number;
	readonly first: string | null;
	readonly last: string | null;
}

export interface Moved {
	readonly held: Held;
	/** Rows that came (or, negative, went) above. */
	readonly shift: number;
}

export const NOTHING: Held = { rows: [], pages: [], prev: null, next: null };

function pageOf(page: EventPage): HeldPage[] {
	return page.events.length ? [{ count: page.events.length, first: page.first, last: page.last }] : [];
}

/** From a place on, in both directions. */
export function begin(before: EventPage, after: EventPage): Moved {
	return {
		held: {
			rows: [...before.events, ...after.events],
			pages: [...pageOf(before), ...pageOf(after)],
			prev: before.prev,
			next: after.next,
		},
		shift: before.events.length,
	};
}

function dropFirst(held: Held): Moved {
	const [gone, ...pages] = held.pages;
	if (!gone || held.rows.length <= ROWS_MAX || !pages.length) return { held, shift: 0 };
	const rest = { ...held, rows: held.rows.slice(gone.count), pages, prev: pages[0]?.first ?? held.prev };
	const more = dropFirst(rest);
	return { held: more.held, shift: more.shift - gone.count };
}

function dropLast(held: Held): Held {
	const gone = held.pages.at(-1);
	const pages = held.pages.slice(0, -1);
	if (!gone || held.rows.length <= ROWS_MAX || !pages.length) return held;
	const rows = held.rows.slice(0, held.rows.length - gone.count);
	return dropLast({ ...held, rows, pages, next: pages.at(-1)?.last ?? held.next });
}

export function append(held: Held, page: EventPage): Moved {
	return dropFirst({
		rows: [...held.rows, ...page.events],
		pages: [...held.pages, ...pageOf(page)],
		prev: held.prev,
		next: page.next,
	});
}

export function prepend(held: Held, page: EventPage): Moved {
	const grown = {
		rows: [...page.events, ...held.rows],
		pages: [...pageOf(page), ...held.pages],
		prev: page.prev,
		next: held.next,
	};
	return { held: dropLast(grown), shift: page.events.length };
}

/** Where to ask for what came since, at the end of a run that goes on. */
export function endOf(held: Held): string | null {
	return held.pages.at(-1)?.last ?? null;
}

/**
 * What came since, for somebody who looks at the end: appended; or, if it was more than one answer holds, null: then
 * the end itself is asked for, because nobody reads what would have to be fetched in between. An answer that
 * is short and has a next one has not found more yet.
 */
export function extend(held: Held, page: EventPage, limit: number): Moved | null {
	if (page.next !== null && page.events.length >= limit) return null;
	return append(held, { ...page, next: null });
}

/** The first row at or behind a time; as many as there are if there is none. */
export function rowAt(rows: readonly TraceEvent[], ns: number): number {
	let low = 0;
	let high = rows.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if ((rows[middle]?.ns ?? Infinity) < ns) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** An event in the address: its time, CPU and kind. */
export function formatEvent(e: Pick<TraceEvent, "ns" | "cpu" | "event">): string {
	return `${e.ns}.${e.cpu}.${e.event}`;
}

export function timeOf(text: string): number | null {
	const match = /^(\d{1,17})\.\d{1,6}\.\w+$/.exec(text);
	return match ? Number(match[1]) : null;
}

export function findEvent(rows: readonly TraceEvent[], text: string): number {
	const ns = timeOf(text);
	if (ns === null) return -1;
	for (let i = rowAt(rows, ns); rows[i]?.ns === ns; i++) {
		const e = rows[i];
		if (e && formatEvent(e) === text) return i;
	}
	return -1;
}
