// SPDX-License-Identifier: MIT
// event_list: every event of a range, one row each, however many there are.
//
// Only the rows in sight are in the page, and only some pages of them in memory (event_window.ts); reaching an end of those
// asks for more. The slider below knows the whole range by time. `ev` of the address is the event that is chosen;
// without it, the list begins at what is selected in the timeline, or where the range does.
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { Extent } from "../../api/extent";
import { parseRange } from "../../api/extent";
import type { Run } from "../../api/schema";
import { address, setParams } from "../../app/address";
import { useKeys, type Key } from "../../app/keys";
import { parseMoment } from "../../app/moment";
import { Problem } from "../../parts/problem";
import { ROW_PX } from "../../parts/table";
import { useVisible, type Visible } from "../../parts/visible";
import { EventDetails, timelineOf } from "./event_details";
import { FilterBar, filterOf } from "./event_filter";
import {
	FollowButton,
	isFollowing,
	liveDevice,
	startFollowing,
	stopFollowing,
	useEnd,
	useFollowing,
	type EndKeeping,
} from "./event_follow";
import { useEvents, type Loader } from "./event_loader";
import { COLUMNS, EventRow, formatExact } from "./event_row";
import { findEvent, formatEvent, rowAt, timeOf } from "./event_window";
import { say } from "./words";

const NEAR = 120; /* rows from an end at which more is asked for */
const JUMP_STEPS = 1000;

function get(key: string): string {
	return address.value.params.get(key) ?? "";
}

/** Where the list begins; null: at its end. */
function placeOf(run: number, fromNs: number): number | null {
	if (isFollowing()) return null;
	const moment = parseMoment(get("sel"));
	return timeOf(get("ev")) ?? (moment?.run === run ? moment.ns : null) ?? fromNs;
}

interface ListProps {
	readonly run: Run;
	readonly extent: Extent;
}

/**
 * Keeps what is in sight where it is when rows come or go above it, and shows the place after a jump. Returns what is
 * in sight once that is done, so that the very first drawing is right already.
 */
function usePlacing(loader: Loader, seen: Visible, aim: { current: number | null }): Visible {
	const placed = useRef(0);
	/* From before the rows change: with fewer of them, the browser would have moved it already. */
	const before = seen.box.current?.scrollTop ?? 0;
	useLayoutEffect(() => {
		const box = seen.box.current;
		const { count, shift, anew } = loader.change;
		if (!box || !count) return;
		if (!anew) box.scrollTop = before + shift * ROW_PX;
		else if (aim.current === null) box.scrollTop = box.scrollHeight;
		else {
			const row = rowAt(loader.held.rows, aim.current);
			box.scrollTop = Math.max(0, row * ROW_PX - box.clientHeight / 3);
		}
		placed.current = count;
		seen.onScroll();
	}, [loader.change.count]);
	const by = placed.current === loader.change.count || loader.change.anew ? 0 : loader.change.shift;
	const clamp = (row: number): number => Math.min(loader.held.rows.length, Math.max(0, row));
	return by ? { ...seen, from: clamp(seen.from + by), to: clamp(seen.to + by) } : seen;
}

function Jump({
	loader,
	extent,
	first,
	go,
}: {
	loader: Loader;
	extent: Extent;
	first: number;
	go: (ns: number) => void;
}) {
	const range = parseRange(address.value.params);
	const from = Math.max(range.from ?? extent.fromNs, extent.fromNs);
	/* A run that goes on is longer than it was when it was asked how long it is. */
	const end = Math.max(extent.toNs, loader.held.rows.at(-1)?.ns ?? 0);
	const to = Math.max(from + 1, range.to ?? end);
	const at = loader.held.rows[first]?.ns ?? from;
	const step = Math.round((JUMP_STEPS * (at - from)) / (to - from));
	return (
		<input
			type="range"
			class="jump"
			aria-label={say("jump")}
			title={say("jump")}
			aria-valuetext={`${formatExact(at - extent.fromNs)} s`}
			min={0}
			max={JUMP_STEPS}
			value={step}
			onChange={(e) => go(Math.round(from + (Number(e.currentTarget.value) * (to - from)) / JUMP_STEPS))}
		/>
	);
}

function Heads() {
	const hints: Partial<Record<(typeof COLUMNS)[number], string>> = {
		time: say("timeHint"),
		delta: say("deltaHint"),
		task: say("taskHint"),
	};
	return (
		<thead>
			<tr>
				{COLUMNS.map((c) => (
					<th
						key={c}
						scope="col"
						class={["time", "delta", "cpu", "pid"].includes(c) ? "n" : ""}
						title={hints[c]}
					>
						{say(c)}
					</th>
				))}
			</tr>
		</thead>
	);
}

function Space({ rows }: { rows: number }) {
	if (rows <= 0) return null;
	return (
		<tr aria-hidden="true" ref={(tr) => tr?.style.setProperty("height", `${rows * ROW_PX}px`)}>
			<td colSpan={COLUMNS.length} />
		</tr>
	);
}

function Rows({
	loader,
	seen,
	extent,
	chosen,
	select,
	end,
}: {
	loader: Loader;
	seen: Visible;
	end: EndKeeping;
	extent: Extent;
	chosen: number;
	select: (index: number) => void;
}) {
	const { rows } = loader.held;
	return (
		<div
			class="table events"
			ref={seen.box}
			onScroll={end.onScroll}
			onWheel={end.onWheel}
			tabIndex={0}
			data-rows={rows.length}
		>
			<table aria-label={say("events")}>
				<Heads />
				<tbody>
					<Space rows={seen.from} />
					{rows.slice(seen.from, seen.to).map((event, i) => {
						const index = seen.from + i;
						return (
							<EventRow
								key={index}
								event={event}
								before={rows[index - 1]}
								startNs={extent.fromNs}
								selected={index === chosen}
								index={index}
								select={select}
							/>
						);
					})}
					<Space rows={rows.length - seen.to} />
				</tbody>
			</table>
			{!rows.length && !loader.waiting && !loader.error && <p class="quiet">{say("noEvents")}</p>}
		</div>
	);
}

function keysOf(
	step: (by: number) => void,
	page: () => number,
	ends: (last: boolean) => void,
	show: () => void,
): readonly Key[] {
	return [
		{ keys: ["arrowdown", "j"], what: () => say("keyNext"), run: () => step(1) },
		{ keys: ["arrowup", "k"], what: () => say("keyBefore"), run: () => step(-1) },
		{
			keys: ["pagedown", "pageup"],
			what: () => say("keyPage"),
			run: (e) => step(e.key === "PageUp" ? -page() : page()),
		},
		{ keys: ["home", "end"], what: () => say("keyEnds"), run: (e) => ends(e.key === "End") },
		{ keys: ["t", "enter"], what: () => say("keyShow"), run: show },
		{
			...{ keys: ["/"], what: () => say("keyFilter") },
			run: () => document.querySelector<HTMLInputElement>("input[data-first]")?.focus(),
		},
		{
			keys: ["l"],
			what: () => say("keyFollow"),
			run: () => (isFollowing() ? stopFollowing() : startFollowing()),
		},
		{ keys: ["escape"], what: () => say("keyClose"), run: () => setParams({ ev: null }) },
	];
}

export function EventList({ run, extent }: ListProps) {
	const range = parseRange(address.value.params);
	const from = Math.max(range.from ?? extent.fromNs, extent.fromNs);
	const aim = useRef<number | null>(placeOf(run.run, from));
	const question = { run: run.run, range, filter: filterOf() };
	/* Another question begins where it begins, wherever somebody went in the last one. */
	const asked = useRef("");
	const key = JSON.stringify(question);
	if (asked.current !== key) aim.current = placeOf(run.run, from);
	asked.current = key;
	const loader = useEvents(question, placeOf(run.run, from));
	const { rows } = loader.held;
	const seen = useVisible(rows.length, ROW_PX, ROW_PX);
	const chosen = findEvent(rows, get("ev"));
	const event = rows[chosen];
	const show = (ns: number | null): void => {
		aim.current = ns;
		loader.jump(ns);
	};
	const go = (ns: number | null): void => {
		stopFollowing();
		show(ns);
	};
	const select = (index: number): void => {
		const row = rows[index];
		if (!row) return;
		setParams({ ev: formatEvent(row), follow: null });
		seen.reveal(index);
	};
	const last = rows.length - 1;
	const live = useRef({ chosen, select, seen, event, last });
	live.current = { chosen, select, seen, event, last };
	const inSight = usePlacing(loader, seen, aim);
	const end = useEnd(seen);
	useFollowing(run, loader, () => show(null));
	const received = liveDevice(run)?.received.events ?? 0;
	useEffect(() => {
		/* Where it is now, and again when a load that was under way has ended: what was in sight when this was drawn may
		 * have moved since. */
		const top = (seen.box.current?.scrollTop ?? 0) / ROW_PX;
		const bottom = top + (seen.box.current?.clientHeight ?? 0) / ROW_PX;
		if (top < NEAR) loader.loadPrev();
		if (bottom > rows.length - NEAR) loader.loadNext();
		/* The end is where the device goes on, also for who only looks at it. */
		if (received && bottom > rows.length - NEAR && !isFollowing()) void loader.extend(() => false);
	}, [seen.from, seen.to, loader.change.count, received]);
	useKeys(
		useMemo(() => {
			const step = (by: number): void => {
				const { chosen: now, seen: s, select: choose } = live.current;
				const top = Math.ceil((s.box.current?.scrollTop ?? 0) / ROW_PX);
				const first = isFollowing() ? live.current.last : Math.min(top, live.current.last);
				choose(Math.max(0, now < 0 ? first : now + by));
			};
			const page = (): number =>
				Math.max(1, Math.floor((seen.box.current?.clientHeight ?? 300) / ROW_PX) - 2);
			const showThere = (): void => {
				if (live.current.event) location.hash = timelineOf(live.current.event, run.run);
			};
			return keysOf(step, page, (toLast) => go(toLast ? null : from), showThere);
		}, [run.run, from]),
	);
	const top = Math.max(0, Math.floor((seen.box.current?.scrollTop ?? 0) / ROW_PX));
	return (
		<>
			<div class="bar">
				<FilterBar />
				<span class="moves">
					<button type="button" onClick={() => go(from)}>
						{say("first")}
					</button>
					<button type="button" onClick={() => go(null)}>
						{say("last")}
					</button>
					<FollowButton run={run} />
					<span class="fine" role="status">
						{loader.waiting ? say("reading") : ""}
					</span>
				</span>
			</div>
			{loader.error ? <Problem error={loader.error} retry={loader.again} /> : null}
			<div class="log-body">
				<div class="log-list">
					<Rows loader={loader} seen={inSight} end={end} extent={extent} chosen={chosen} select={select} />
					<Jump loader={loader} extent={extent} first={top} go={go} />
				</div>
				{event && (
					<EventDetails
						event={event}
						run={run.run}
						startNs={extent.fromNs}
						close={() => setParams({ ev: null })}
					/>
				)}
			</div>
		</>
	);
}
