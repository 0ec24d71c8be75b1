// SPDX-License-Identifier: MIT
// event_loader: keeps the window of events filled while somebody moves through it. A new question, or a jump,
// gives up what is under way; at each end one request at a time is out. The end of a run that goes on is asked for
// again and again by whoever follows it; what that finds is appended, or stands in for all if it is too much.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import {
	cursorBefore,
	cursorFrom,
	getEvents,
	type Direction,
	type EventPage,
	type EventQuestion,
} from "../../api/events";
import { isAbort } from "../../api/request";
import { append, begin, endOf, extend, NOTHING, prepend, type Held, type Moved } from "./event_window";

const PAGE = 500;
const FOLLOW_PAGE = 2000;
const EMPTY: EventPage = { events: [], first: null, last: null, prev: null, next: null };

/** A page with something in it: a filter that few events pass may take several answers to find one. */
async function getSome(
	q: EventQuestion,
	direction: Direction,
	cursor: string,
	abort: AbortSignal,
): Promise<EventPage> {
	for (;;) {
		const page = await getEvents(q, direction, cursor, PAGE, abort);
		const more = direction === "after" ? page.next : page.prev;
		if (page.events.length || more === null || more === cursor) return page;
		cursor = more;
	}
}

export interface Loader {
	readonly held: Held;
	readonly error: unknown;
	readonly waiting: boolean;
	/** Counts the changes of `held`; with `shift`, what the last one moved. */
	readonly change: { readonly count: number; readonly shift: number; readonly anew: boolean };
	/** To a time; null: to the end. */
	readonly jump: (ns: number | null) => void;
	readonly loadNext: () => void;
	readonly loadPrev: () => void;
	/**
	 * What came behind the end that is held, of a run that goes on; whether there was any. `isFollowed`, asked when the
	 * answers are there: too much of it may stand in for what is held.
	 */
	readonly extend: (isFollowed: () => boolean) => Promise<boolean>;
	readonly again: () => void;
}

interface State {
	readonly held: Held;
	readonly error: unknown;
	readonly waiting: boolean;
	readonly change: Loader["change"];
}

const START: State = {
	held: NOTHING,
	error: null,
	waiting: true,
	change: { count: 0, shift: 0, anew: true },
};

async function getAround(q: EventQuestion, ns: number | null, abort: AbortSignal): Promise<Moved> {
	if (ns === null) {
		const before = await getSome(q, "before", "", abort);
		return begin(before, EMPTY);
	}
	const [before, after] = await Promise.all([
		ns > (q.range.from ?? 0) ? getSome(q, "before", cursorBefore(ns), abort) : EMPTY,
		getSome(q, "after", cursorFrom(ns), abort),
	]);
	return begin(before, after);
}

/** `start` is where the list begins when the question changes: a time, or null for the end. */
export function useEvents(q: EventQuestion, start: number | null): Loader {
	const [state, setState] = useState<State>(START);
	const abort = useRef<AbortController>(new AbortController());
	const busy = useRef({ after: false, before: false });
	const held = useRef<Held>(NOTHING);
	/* Behind what was looked at; a filter may pass none of it. Null: nobody knows, or more follows that is known. */
	const tail = useRef<string | null>(null);
	const latest = useRef(q);
	latest.current = q;

	const set = useCallback((moved: Moved, anew: boolean) => {
		held.current = moved.held;
		tail.current = moved.held.next === null ? endOf(moved.held) : null;
		setState((old) => ({
			...{ held: moved.held, error: null, waiting: false },
			change: { count: old.change.count + 1, shift: moved.shift, anew },
		}));
	}, []);
	const fail = useCallback((error: unknown) => {
		if (!isAbort(error)) setState((old) => ({ ...old, error, waiting: false }));
	}, []);
	const jump = useCallback((ns: number | null) => {
		abort.current.abort();
		const { signal } = (abort.current = new AbortController());
		/* Until it is there, nothing is added to what is held: that is of another place. */
		busy.current = { after: true, before: true };
		tail.current = null;
		setState((old) => ({ ...old, waiting: true }));
		getAround(latest.current, ns, signal)
			.then((moved) => signal.aborted || set(moved, true), fail)
			.finally(() => {
				if (!signal.aborted) busy.current = { after: false, before: false };
			});
	}, []);
	const grow = useCallback(async (isFollowed: () => boolean): Promise<boolean> => {
		const cursor = tail.current ?? (held.current.rows.length ? null : "");
		const { signal } = abort.current;
		if (cursor === null || busy.current.after) return false;
		busy.current.after = true;
		try {
			const page = await getEvents(latest.current, "after", cursor, FOLLOW_PAGE, signal);
			const moved = extend(held.current, page, FOLLOW_PAGE);
			const end = moved ? null : await getAround(latest.current, null, signal);
			if (signal.aborted) return false;
			/* Whoever scrolled away meanwhile must not be taken back to the end. */
			if (end && isFollowed()) set(end, true);
			else if (page.events.length) set(moved ?? append(held.current, page), false);
			else setState((old) => (old.error ? { ...old, error: null } : old));
			if (moved) tail.current = page.next ?? tail.current;
			return page.events.length > 0 || page.next !== null;
		} catch (error) {
			fail(error);
			return false;
		} finally {
			if (!signal.aborted) busy.current.after = false;
		}
	}, []);
	const load = useCallback((direction: Direction) => {
		const cursor = direction === "after" ? held.current.next : held.current.prev;
		if (cursor === null || busy.current[direction]) return;
		const { signal } = abort.current;
		busy.current[direction] = true;
		getSome(latest.current, direction, cursor, signal)
			.then((page) => {
				if (signal.aborted) return;
				busy.current[direction] = false;
				set((direction === "after" ? append : prepend)(held.current, page), false);
			})
			.catch((error: unknown) => {
				if (!signal.aborted) busy.current[direction] = false;
				fail(error);
			});
	}, []);
	useEffect(() => {
		jump(start);
		return () => abort.current.abort();
	}, [q.run, q.range.from, q.range.to, q.filter.cpu, q.filter.pid, q.filter.comm, q.filter.event]);
	return {
		...state,
		jump,
		loadNext: useCallback(() => load("after"), []),
		loadPrev: useCallback(() => load("before"), []),
		extend: grow,
		again: () => jump(start),
	};
}
