// SPDX-License-Identifier: MIT
// state: what the view shows, as the address has it (app/address.ts); a value that means nothing is the usual one.
import type { CallSelection } from "../../api/calls";
import { address, parseTime, setParams } from "../../app/address";
import { flameChanges, readFlame, type FlameState } from "../../flame/state";
import { MEASURES, type Measure } from "./forest";

export type Tab = "graph" | "tree" | "table";
export const TABS: readonly Tab[] = ["graph", "tree", "table"];

export interface State extends FlameState {
	readonly tab: Tab;
	readonly by: Measure;
	/** Column of the table, with '-' in front if it falls. */
	readonly sort: string;
	/** The function whose figures stand beside it: NAME@FILE. */
	readonly fn: string;
	/** Keys of the tree's nodes that are not as they are by themselves. */
	readonly turned: string;
	readonly process: string;
	readonly thread: string;
	readonly from: number | null;
	readonly to: number | null;
	/** Compared with this run, if there is one. */
	readonly base: number | null;
	readonly baseFrom: number | null;
	readonly baseTo: number | null;
	/** Parts of the whole are compared, not times. */
	readonly shares: boolean;
}

export function readState(params: ReadonlyMap<string, string>): State {
	const text = (key: string): string => params.get(key) ?? "";
	const one = <T extends string>(key: string, values: readonly T[], usual: T): T =>
		values.find((v) => v === text(key)) ?? usual;
	return {
		tab: one("tab", TABS, "graph"),
		by: one("by", MEASURES, "total"),
		...readFlame(params),
		sort: text("sort"),
		fn: text("fn"),
		turned: text("turned"),
		process: text("process"),
		thread: text("thread"),
		from: parseTime(text("from")),
		to: parseTime(text("to")),
		base: parseTime(text("base")),
		baseFrom: parseTime(text("basefrom")),
		baseTo: parseTime(text("baseto")),
		shares: text("shares") === "1",
	};
}

export function currentState(): State {
	return readState(address.value.params);
}

/** The usual values are left out, so that addresses stay short. */
export function change(next: Partial<Omit<State, "from" | "to">>, remember = true): void {
	const changes: Record<string, string | number | null> = flameChanges(next);
	const keep = (key: string, value: string | undefined, usual: string): void => {
		if (value !== undefined) changes[key] = value === usual ? null : value;
	};
	keep("tab", next.tab, "graph");
	keep("by", next.by, "total");
	keep("sort", next.sort, "");
	keep("fn", next.fn, "");
	keep("turned", next.turned, "");
	keep("process", next.process, "");
	keep("thread", next.thread, "");
	if (next.shares !== undefined) changes["shares"] = next.shares ? "1" : null;
	if (next.base !== undefined) changes["base"] = next.base;
	if (next.baseFrom !== undefined) changes["basefrom"] = next.baseFrom;
	if (next.baseTo !== undefined) changes["baseto"] = next.baseTo;
	setParams(changes, remember);
}

export function selectionOf(s: State, run: number): CallSelection {
	return { run, from: s.from, to: s.to, process: s.process, thread: s.thread };
}

/** What is compared with; the same threads, unless it is another run: its threads have other numbers. */
export function baseOf(s: State, run: number): CallSelection | null {
	if (s.base === null) return null;
	const same = s.base === run;
	return {
		run: s.base,
		from: s.baseFrom,
		to: s.baseTo,
		process: same ? s.process : "",
		thread: same ? s.thread : "",
	};
}
