// SPDX-License-Identifier: MIT
// state: what the view shows, as the address has it (app/address.ts); a value that means nothing is the usual one.
import type { Groups, ProfileBy, ProfileSelection } from "../../api/profile";
import { address, parseTime, setParams } from "../../app/address";
import { flameChanges, readFlame, type FlameState } from "../../flame/state";

/** The flame graph, or a table by one of these. */
export type Tab = "graph" | ProfileBy;
export const TABS: readonly Tab[] = ["graph", "function", "process", "thread", "object", "cpu"];
export const GROUPS: readonly Groups[] = ["process", "thread", "none"];
export const SELECTS = ["user", "kernel", "guest", "idle"] as const;

export interface State extends FlameState {
	readonly tab: Tab;
	readonly groups: Groups;
	/** Stacks are turned around: who led to what was seen. */
	readonly callers: boolean;
	/** Samples are counted, instead of what they stand for. */
	readonly samples: boolean;
	readonly process: string;
	readonly thread: string;
	readonly cpu: string;
	readonly mode: string;
	readonly from: number | null;
	readonly to: number | null;
	/** Compared with this run, if there is one. */
	readonly base: number | null;
	readonly baseFrom: number | null;
	readonly baseTo: number | null;
	/** Column of the table, with '-' in front if it falls. */
	readonly sort: string;
}

export function readState(params: ReadonlyMap<string, string>): State {
	const text = (key: string): string => params.get(key) ?? "";
	const one = <T extends string>(key: string, values: readonly T[], usual: T): T =>
		values.find((v) => v === text(key)) ?? usual;
	return {
		...readFlame(params),
		tab: one("tab", TABS, "graph"),
		groups: one("groups", GROUPS, "process"),
		callers: text("callers") === "1",
		samples: text("value") === "samples",
		process: text("process"),
		thread: text("thread"),
		cpu: text("cpu"),
		mode: one("mode", ["", ...SELECTS], ""),
		from: parseTime(text("from")),
		to: parseTime(text("to")),
		base: parseTime(text("base")),
		baseFrom: parseTime(text("basefrom")),
		baseTo: parseTime(text("baseto")),
		sort: text("sort"),
	};
}

export function currentState(): State {
	return readState(address.value.params);
}

/** The usual values are left out, so that addresses stay short. */
export function change(next: Partial<State>, remember = true): void {
	const changes: Record<string, string | number | null> = flameChanges(next);
	const keep = (key: string, value: string | undefined, usual = ""): void => {
		if (value !== undefined) changes[key] = value === usual ? null : value;
	};
	keep("tab", next.tab, "graph");
	keep("groups", next.groups, "process");
	keep("process", next.process);
	keep("thread", next.thread);
	keep("cpu", next.cpu);
	keep("mode", next.mode);
	keep("sort", next.sort);
	if (next.callers !== undefined) changes["callers"] = next.callers ? "1" : null;
	if (next.samples !== undefined) changes["value"] = next.samples ? "samples" : null;
	const times = { from: "from", to: "to", base: "base", baseFrom: "basefrom", baseTo: "baseto" } as const;
	for (const [field, key] of Object.entries(times)) {
		const value = next[field as keyof typeof times];
		if (value !== undefined) changes[key] = value;
	}
	setParams(changes, remember);
}

export function selectionOf(s: State, run: number): ProfileSelection {
	const { from, to, process, thread, cpu, mode } = s;
	return { run, from, to, process, thread, cpu, mode };
}

/** What is compared with; the same threads, unless it is another run: its threads have other numbers. */
export function baseOf(s: State, run: number): ProfileSelection | null {
	if (s.base === null) return null;
	const same = s.base === run;
	return {
		run: s.base,
		from: s.baseFrom,
		to: s.baseTo,
		process: same ? s.process : "",
		thread: same ? s.thread : "",
		cpu: same ? s.cpu : "",
		mode: s.mode,
	};
}
