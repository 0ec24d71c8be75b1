// SPDX-License-Identifier: MIT
// state: what the view shows, as the address has it (app/address.ts); a value that means nothing is the usual one.
//
// `from` and `to` are what is in sight, `mark` the range that is chosen, `sel` the moment of a row, as the timeline has
// them: "RUN.tTID@ns" for a virtual CPU's thread, "RUN.cCPU@ns" for a physical CPU.
import type { GuestBy, VmPart } from "../../api/vm";
import { address, parseTime, setParams } from "../../app/address";
import { parseMark } from "../../app/moment";
import { flameChanges, readFlame, type FlameState } from "../../flame/state";
import type { Span } from "../../parts/scale";

export type Tab = "machines" | "guests" | "steal" | "exits" | "graph" | "legend";
export const TABS: readonly Tab[] = ["machines", "guests", "steal", "exits", "graph", "legend"];
export const GUEST_BY: readonly GuestBy[] = ["function", "thread", "process"];

export interface Chosen {
	readonly lane: string;
	readonly ns: number;
}

export interface State extends FlameState {
	readonly tab: Tab;
	readonly by: GuestBy;
	readonly span: Span | null;
	readonly mark: Span | null;
	readonly chosen: Chosen | null;
	readonly follow: boolean;
	/** Idle time is in the flame graph. */
	readonly idle: boolean;
	readonly sort: string;
}

export function parseChosen(sel: string): Chosen | null {
	const match = /^\d{1,9}\.([ct]\d{1,10})@(\d{1,17})$/.exec(sel);
	return match ? { lane: match[1] ?? "", ns: Number(match[2]) } : null;
}

export function readState(params: ReadonlyMap<string, string>): State {
	const text = (key: string): string => params.get(key) ?? "";
	const from = parseTime(text("from"));
	const to = parseTime(text("to"));
	return {
		...readFlame(params),
		tab: TABS.find((t) => t === text("tab")) ?? "machines",
		by: GUEST_BY.find((b) => b === text("by")) ?? "function",
		span: from !== null && to !== null && from < to ? { from, to } : null,
		mark: parseMark(text("mark")),
		chosen: parseChosen(text("sel")),
		follow: text("follow") === "1",
		idle: text("idle") !== "0",
		sort: text("sort"),
	};
}

export function currentState(): State {
	return readState(address.value.params);
}

type Change = Partial<Omit<State, "chosen" | "span" | "mark">>;

/** The usual values are left out, so that addresses stay short. */
export function change(next: Change, remember = true): void {
	const changes: Record<string, string | null> = flameChanges(next);
	if (next.tab !== undefined) {
		changes["tab"] = next.tab === "machines" ? null : next.tab;
		changes["sort"] = null;
	}
	if (next.by !== undefined) changes["by"] = next.by === "function" ? null : next.by;
	if (next.follow !== undefined) changes["follow"] = next.follow ? "1" : null;
	if (next.idle !== undefined) changes["idle"] = next.idle ? null : "0";
	if (next.sort !== undefined) changes["sort"] = next.sort || null;
	setParams(changes, remember);
}

export function choose(run: number, chosen: Chosen | null, remember = true): void {
	setParams({ sel: chosen && `${run}.${chosen.lane}@${Math.max(0, Math.round(chosen.ns))}` }, remember);
}

/** What the tables are about: the range that is marked, else what is in sight, else all. While a run is followed, the address does not
 *  have what is in sight. */
export function spanOf(s: State, sight: Span | null): Span | null {
	return s.mark ?? (s.follow ? sight : s.span);
}

export function partOf(span: Span | null, run: number): VmPart {
	return { run, from: span?.from ?? null, to: span?.to ?? null };
}
