// SPDX-License-Identifier: MIT
// related: the run that a view means when the address names one of another kind: who looks at what a device's scheduler
// did and opens the functions wants the calls of the same device and time, not an error.
import type { RunKind } from "./runs";
import type { Run } from "./schema";

/** While only its description came, a run is of no kind yet: it may become one of any. */
export function isOfKind(run: Pick<Run, "kinds">, kind: RunKind): boolean {
	return !run.kinds.length || run.kinds.includes(kind);
}

const time = (text: string | null): number => (text ? Date.parse(text) : 0);

/** How long both lasted together, in ms; negative: so far apart. */
function sharedMs(a: Run, b: Run): number {
	return Math.min(time(a.last), time(b.last)) - Math.max(time(a.first), time(b.first));
}

/** Of the runs of a kind, the one of the same device that shares most time with it, else the latest of all. */
export function relatedRun(of: Run, runs: readonly Run[]): Run | undefined {
	const same = runs.filter((r) => r.device_id === of.device_id);
	if (!same.length) return runs[0];
	return same.reduce((best, r) => (sharedMs(r, of) > sharedMs(best, of) ? r : best));
}
