// SPDX-License-Identifier: MIT
// latency: the report of how long tasks waited (docs/reports.md), whose parts the API's description leaves open.
import type { Extent, Range } from "./extent";
import { queryOf } from "./extent";
import { getJson } from "./request";

export interface Bucket {
	readonly from_ns: number;
	readonly to_ns: number;
	readonly waits: number;
}

export interface Waits {
	readonly waits: number;
	readonly total_ns: number;
	readonly min_ns: number;
	readonly avg_ns: number;
	readonly p50_ns: number;
	readonly p90_ns: number;
	readonly p99_ns: number;
	readonly p999_ns: number;
	readonly max_ns: number;
	readonly unknown: number;
	readonly inferred: number;
	readonly never_ran: number;
	readonly unseen: number;
	/** Left out for the preempted waits of a task. */
	readonly histogram?: readonly Bucket[];
}

export interface TaskWaits {
	readonly pid: number;
	readonly born_ns: number;
	readonly tgid: number | null;
	readonly comm: string;
	readonly wakeup: Waits;
	readonly preempted: Waits;
}

export interface RanInstead {
	readonly pid: number;
	readonly comm: string;
	readonly from_ns: number;
	readonly to_ns: number;
	readonly ns: number;
}

export interface WorstCase {
	readonly pid: number;
	readonly comm: string;
	readonly cpu: number;
	readonly target_cpu: number | null;
	readonly from_ns: number;
	readonly to_ns: number;
	readonly wait_ns: number;
	readonly waker: { readonly pid: number; readonly comm: string; readonly cpu: number | null };
	readonly ran_instead: readonly RanInstead[];
	readonly others_ns: number;
	readonly idle_ns: number;
	readonly unknown_ns: number;
}

export interface LatencyReport {
	readonly from_ns: number;
	readonly to_ns: number;
	readonly wakeup: Waits;
	readonly preempted: Waits;
	readonly tasks: readonly TaskWaits[];
	readonly worst: readonly WorstCase[];
}

export type WaitKind = "wakeup" | "preempted";

export interface LatencyQuestion {
	readonly run: number;
	readonly extent: Extent;
	readonly range: Range;
	readonly pid?: number | null;
	readonly limit: number;
	readonly worst: number;
}

export function getLatency(q: LatencyQuestion, abort: AbortSignal): Promise<LatencyReport> {
	const { pid, limit, worst } = q;
	return getJson<LatencyReport>(
		`runs/${q.run}/report/latency`,
		{ ...queryOf(q.extent, q.range), pid, limit, worst },
		abort,
	);
}
