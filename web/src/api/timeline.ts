// SPDX-License-Identifier: MIT
// timeline: what the timeline asks the collector for, and what it says of a range. Times are nanoseconds of the
// run's clock. Binary answers and overviews come as bytes, because a worker takes them apart.
import { getBytes, getJson } from "./request";
import type { Run } from "./schema";

export interface Range {
	readonly from: number;
	readonly to: number;
}

/** The collector takes 64 bits; what lies near the end of them is nonsense anyway. */
const TIME_MAX = 9.2e18;

function rangeQuery(range: Range): { readonly from_ns: number; readonly to_ns: number } {
	const cut = (ns: number): number => Math.min(TIME_MAX, Math.max(0, ns));
	return { from_ns: cut(Math.floor(range.from)), to_ns: cut(Math.ceil(Math.max(range.to, 1))) };
}

export function getSlices(
	run: number,
	range: Range,
	limit: number,
	abort?: AbortSignal,
): Promise<Uint8Array> {
	return getBytes(`runs/${run}/slices`, { ...rangeQuery(range), limit }, abort);
}

/** `range` null: the whole run. */
export function getOverview(
	run: number,
	range: Range | null,
	size: { readonly width: number; readonly tasks: number },
	abort?: AbortSignal,
): Promise<Uint8Array> {
	return getBytes(`runs/${run}/timeline`, { ...(range ? rangeQuery(range) : {}), ...size }, abort);
}

/** The run's clock against real time; null where they were never compared. */
export interface RunClock {
	readonly real_offset_ns: number;
	readonly error_ns: number;
	readonly at_ns: number;
}

export function clockOf(run: Run): RunClock | null {
	const { clock } = run as { clock?: RunClock | null };
	return clock && Number.isFinite(clock.real_offset_ns) ? clock : null;
}

export function getCalls(
	run: number,
	range: Range,
	size: { readonly limit: number; readonly min_ns: number },
	abort?: AbortSignal,
): Promise<Uint8Array> {
	return getBytes(`runs/${run}/calls/slices`, { ...rangeQuery(range), ...size }, abort);
}

/** How the calls of a run lie on the clock of the scheduler's run; null: nobody knows. */
export interface CallsPlace {
	readonly from_ns: number;
	readonly to_ns: number;
	readonly sched: { readonly run: number; readonly offset_ns: number } | null;
}

export function callsOf(run: Run): CallsPlace | null {
	return (run as { calls?: CallsPlace | null }).calls ?? null;
}

/** One line of …/report/sched (docs/reports.md). */
export interface SchedTask {
	/** Several tasks have had a pid, one after the other: born_ns says which. */
	readonly pid: number;
	readonly born_ns: number;
	readonly first_comm: string;
	readonly tgid: number | null;
	readonly comm: string;
	readonly cpu_ns: number;
	readonly switches: number;
	readonly preemptions: number;
	readonly wakeups: number;
	readonly migrations: number;
	readonly waits: number;
	readonly wait_ns: number;
	readonly wait_max_ns: number;
	readonly waits_unknown: number;
	readonly preempted_ns: number;
	readonly preempted_max_ns: number;
}

export interface SchedCpu {
	readonly cpu: number;
	readonly busy_ns: number;
	readonly idle_ns: number;
	readonly unknown_ns: number;
	readonly events: number;
	readonly switches: number;
	readonly lost: number;
	readonly lost_uncounted: number;
}

export interface SchedReport {
	readonly from_ns: number;
	readonly to_ns: number;
	readonly cpus: readonly SchedCpu[];
	readonly tasks: readonly SchedTask[];
	readonly all_tasks: SchedTask;
}

export function getSched(
	run: number,
	range: Range,
	limit: number,
	abort?: AbortSignal,
): Promise<SchedReport> {
	return getJson(`runs/${run}/report/sched`, { ...rangeQuery(range), limit }, abort);
}

/** One of the longest waits of …/report/latency. */
export interface WorstWait {
	readonly pid: number;
	readonly comm: string;
	readonly cpu: number;
	readonly from_ns: number;
	readonly to_ns: number;
	readonly wait_ns: number;
	readonly waker: { readonly pid: number; readonly comm: string; readonly cpu: number | null };
	readonly ran_instead: readonly {
		readonly pid: number;
		readonly comm: string;
		readonly from_ns: number;
		readonly to_ns: number;
		readonly ns: number;
	}[];
	readonly others_ns: number;
	readonly idle_ns: number;
	readonly unknown_ns: number;
}

export interface LatencyReport {
	readonly from_ns: number;
	readonly to_ns: number;
	readonly worst: readonly WorstWait[];
}

export function getWaits(
	run: number,
	range: Range,
	worst: number,
	abort?: AbortSignal,
): Promise<LatencyReport> {
	return getJson(`runs/${run}/report/latency`, { ...rangeQuery(range), worst, limit: 1 }, abort);
}

/** One wakeup of …/chain. */
export interface ChainStep {
	readonly pid: number;
	readonly comm: string;
	readonly woken_ns: number;
	readonly ran_ns: number | null;
	readonly cpu: number | null;
	readonly state_before: string | number | null;
	readonly slept_ns: number | null;
	readonly waker_pid: number | null;
	readonly waker_comm: string | null;
	readonly waker_cpu: number | null;
}

export interface Chain {
	readonly steps: readonly ChainStep[];
	readonly ends: string;
}

export function getChain(run: number, pid: number, atNs: number, abort?: AbortSignal): Promise<Chain> {
	return getJson(`runs/${run}/chain`, { pid, at_ns: Math.floor(atNs) }, abort);
}
