// SPDX-License-Identifier: MIT
// calls: what the collector knows about calls of functions: docs/reports.md defines every figure.
//
// Answers are JSON as `kiseki func report | tree | diff --json` prints it. Only the edge is here; what is made of it
// is with the view.
import { getJson, type Query } from "./request";
import type { CallReport, CallTree } from "./schema";

export type { CallReport, CallTree } from "./schema";

/** Parts of local time; null where nothing that was recorded tells them. */
export type Split = CallReport["all_functions"];

/** One function over all its calls. */
export type FunctionFigures = CallReport["functions"][number];

/** One path: all calls with the same callers; or, with `others`, the sum of so many that were left out. */
export type CallNode = CallTree["nodes"][number];

export type Named = Pick<CallNode, "function" | "object">;
export type Figures = Readonly<Omit<CallNode, "depth" | "others" | keyof Named>>;

/** Which calls: of one run, of some of its time, of some of its threads. */
export interface CallSelection {
	readonly run: number;
	readonly from: number | null;
	readonly to: number | null;
	/** Numbers and patterns of names, with commas; "" is all. */
	readonly process: string;
	readonly thread: string;
}

function queryOf(s: CallSelection): Query {
	return { from_ns: s.from, to_ns: s.to, process: s.process, thread: s.thread };
}

export function getCallReport(s: CallSelection, abort?: AbortSignal): Promise<CallReport> {
	return getJson<CallReport>(`runs/${s.run}/calls/report`, queryOf(s), abort);
}

/** The `limit` paths that took longest; the others as sums below their callers. */
export function getCallTree(s: CallSelection, limit: number, abort?: AbortSignal): Promise<CallTree> {
	return getJson<CallTree>(`runs/${s.run}/calls/tree`, { ...queryOf(s), limit }, abort);
}
