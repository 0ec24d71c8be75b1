// SPDX-License-Identifier: MIT
// events: pages of a run's events, forward and backward from anywhere in it.
//
// A cursor "NS-ORDINAL" is a place between events: the time of one, and how many of the very same time are before it. So
// cursors for any time can be made here, too: before "NS-0" are those earlier than NS, behind "NS-" with a number
// that no time has are those later.
import type { Range } from "./extent";
import { getJson } from "./request";

export interface TraceEvent {
	readonly ns: number;
	readonly cpu: number;
	/** Who ran; null for a loss. */
	readonly pid: number | null;
	readonly comm: string | null;
	/** As the kernel calls it, or "lost". */
	readonly event: string;
	readonly text: string;
	readonly fields: Readonly<Record<string, unknown>>;
}

export interface EventPage {
	readonly events: readonly TraceEvent[];
	/** Cursors of the first and the last of them; null without any. */
	readonly first: string | null;
	readonly last: string | null;
	/** Where to go on; null where there is nothing more. */
	readonly prev: string | null;
	readonly next: string | null;
}

export interface EventFilter {
	readonly cpu: string;
	readonly pid: string;
	readonly comm: string;
	readonly event: string;
}

export interface EventQuestion {
	readonly run: number;
	readonly range: Range;
	readonly filter: EventFilter;
}

const BEYOND = 4_294_967_295;

export function cursorBefore(ns: number): string {
	return `${ns}-0`;
}

/** Behind everything that is earlier than ns. */
export function cursorFrom(ns: number): string {
	return ns > 0 ? `${ns - 1}-${BEYOND}` : "";
}

export type Direction = "after" | "before";

export function getEvents(
	q: EventQuestion,
	direction: Direction,
	cursor: string,
	limit: number,
	abort: AbortSignal,
): Promise<EventPage> {
	const { cpu, pid, comm, event } = q.filter;
	const range = { from_ns: q.range.from, to_ns: q.range.to };
	/* An empty "before" begins at the end, so it has to be in the address although it is empty. */
	const place = cursor || direction === "after" ? { [direction]: cursor } : { before: cursorBefore(2 ** 53) };
	return getJson<EventPage>(
		`runs/${q.run}/events`,
		{ ...range, cpu, pid, comm, event, limit, ...place },
		abort,
	);
}
