// SPDX-License-Identifier: MIT
// moment: a moment of a task in a recording, as the timeline's keys of the address say it, for views that lead there
// and for those that follow it. `sel` is "RUN.tPID@ns" (a thread) or "RUN.cCPU@ns"; `mark` a range, "from-to".
import { parseTime, type Changes } from "./address";

export interface Moment {
	readonly run: number;
	readonly pid: number | null;
	readonly ns: number;
}

/** What in the timeline shows the moment; `from` and `to` are what is in sight. */
export function momentChanges(m: Moment, from: number, to: number): Changes {
	const sel = m.pid === null ? null : `${m.run}.t${m.pid}@${m.ns}`;
	return { run: m.run, from: Math.max(0, Math.floor(from)), to: Math.ceil(to), sel, mark: null };
}

export function parseMoment(sel: string): Moment | null {
	const match = /^(\d{1,9})\.(d|[ctp]\d{1,10})@(\d{1,17})$/.exec(sel);
	const ns = parseTime(match?.[3] ?? "");
	if (!match || ns === null) return null;
	const row = match[2] ?? "";
	return { run: Number(match[1]), pid: row.startsWith("t") ? Number(row.slice(1)) : null, ns };
}

export function parseMark(mark: string): { readonly from: number; readonly to: number } | null {
	const match = /^(\d{1,17})-(\d{1,17})$/.exec(mark);
	const [from, to] = [Number(match?.[1]), Number(match?.[2])];
	return match && from < to ? { from, to } : null;
}
