// SPDX-License-Identifier: MIT
// extent: from when to when a run goes, and times of its clock as the API takes them everywhere.
//
// The address has nanoseconds of the run's own clock. "+2.5s", a length after the run's first event, is understood by
// every path of the API and by the commands of the shell, so that is what is sent: exact to the nanosecond, since
// differences of numbers below 2^53 are.
import { useLoaded, type Loaded } from "../parts/loaded";
import { parseTime } from "../app/address";
import { parseMark } from "../app/moment";
import { getJson } from "./request";
import type { Timeline } from "./schema";

export interface Extent {
	readonly fromNs: number;
	readonly toNs: number;
}

/** Of a run of the scheduler. */
export async function getExtent(run: number, abort?: AbortSignal): Promise<Extent> {
	const t = await getJson<Timeline>(`runs/${run}/timeline`, { width: 1, tasks: 0 }, abort);
	return { fromNs: t.run_from_ns, toNs: t.run_to_ns };
}

/** `round` asks again when it changes: a run that is still recorded grows. */
export function useExtent(run: number | null, round: unknown = 0): Loaded<Extent> {
	return useLoaded(run === null ? null : (abort) => getExtent(run, abort), [run, round]);
}

const NS = 1_000_000_000;

/** "+1.000000250s"; without digits that say nothing. */
export function formatAfterStart(ns: number): string {
	const part = String(ns % NS)
		.padStart(9, "0")
		.replace(/0+$/, "");
	return `+${Math.floor(ns / NS)}${part ? `.${part}` : ""}s`;
}

export interface Range {
	/** null: from the beginning, to the end. */
	readonly from: number | null;
	readonly to: number | null;
}

export const WHOLE: Range = { from: null, to: null };

/** The range that is marked in the timeline; else what is in sight there; else all. */
export function parseRange(params: ReadonlyMap<string, string>): Range {
	const mark = parseMark(params.get("mark") ?? "");
	if (mark) return mark;
	return { from: parseTime(params.get("from") ?? ""), to: parseTime(params.get("to") ?? "") };
}

/** As parameters `from` and `to`; what lies outside the run is left away, so that a live end stays open. */
export function queryOf(extent: Extent, range: Range): { from?: string; to?: string } {
	const { from, to } = range;
	return {
		...(from !== null && from > extent.fromNs ? { from: formatAfterStart(from - extent.fromNs) } : {}),
		...(to !== null && to >= extent.fromNs && to <= extent.toNs
			? { to: formatAfterStart(to - extent.fromNs) }
			: {}),
	};
}
