// SPDX-License-Identifier: MIT
// calls: what the collector knows about calls of functions: docs/reports.md defines every figure.
//
// Answers are JSON as `kiseki func report | tree | diff --json` prints it. Only the edge is here; what is made of it
// is with the view.
import { getJson, type Query } from "./request";

/** Parts of local time; null where nothing that was recorded tells them. */
export interface Split {
	readonly local_ns: number;
	readonly running_ns: number | null;
	readonly user_ns: number | null;
	readonly kernel_ns: number | null;
	readonly preempted_ns: number | null;
	readonly blocked_ns: number | null;
	readonly unknown_ns: number;
}

export interface Figures extends Split {
	readonly calls: number;
	readonly total_ns: number;
	readonly unwound: number;
	readonly cut: number;
	readonly open: number;
}

export interface Named {
	readonly function: string;
	readonly object: string | null;
}

/** One function over all its calls. */
export interface FunctionFigures extends Figures, Named {
	readonly avg_ns: number | null;
	readonly min_ns: number | null;
	readonly max_ns: number | null;
}

/** One path: all calls with the same callers. */
export interface CallNode extends Figures, Named {
	readonly depth: number;
	/** Not a path but the sum of so many that were left out: those with the least time. */
	readonly others?: number;
}

/** What was read, and what is missing in it. */
export interface CallTotals {
	readonly from_ns: number;
	readonly to_ns: number;
	readonly threads: number;
	readonly threads_with_os: number;
	readonly calls: number;
	readonly unwound: number;
	readonly cut: number;
	readonly open: number;
	readonly exits_without_entry: number;
	readonly too_deep: number;
	readonly losses: number;
	readonly lost: number;
	readonly lost_uncounted: number;
	readonly os_losses: number;
}

export interface CallReport {
	readonly all: CallTotals;
	readonly all_functions: Split;
	readonly functions: readonly FunctionFigures[];
}

export interface CallTree {
	readonly all: CallTotals;
	readonly nodes: readonly CallNode[];
}

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
