// SPDX-License-Identifier: MIT
// worst: one of the longest waits, for the eye: who had the CPU in it, and what part of the timeline shows it.
import type { WorstCase } from "../../api/latency";

export interface Share {
	readonly kind: "task" | "others" | "idle" | "unknown";
	readonly pid: number;
	readonly comm: string;
	readonly ns: number;
}

/** Who had the CPU, those with the most time first; their sum is the wait. */
export function sharesOf(c: WorstCase): readonly Share[] {
	const rest = (kind: Share["kind"], ns: number): Share => ({ kind, pid: 0, comm: "", ns });
	return [
		...c.ran_instead.map((r): Share => ({ kind: "task", pid: r.pid, comm: r.comm, ns: r.ns })),
		rest("others", c.others_ns),
		rest("idle", c.idle_ns),
		rest("unknown", c.unknown_ns),
	]
		.filter((s) => s.ns > 0)
		.sort((a, b) => b.ns - a.ns);
}

const LEAST_NS = 10_000;

/** The wait in the middle half of the picture. */
export function windowOf(c: Pick<WorstCase, "from_ns" | "to_ns">): { from: number; to: number } {
	const margin = Math.max(LEAST_NS, Math.round((c.to_ns - c.from_ns) / 2));
	return { from: Math.max(0, c.from_ns - margin), to: c.to_ns + margin };
}
