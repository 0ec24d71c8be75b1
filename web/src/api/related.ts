// SPDX-License-Identifier: MIT
// related: the run that a view means when the address names one of another kind: who looks at what a device's scheduler
// did and opens the functions wants the calls of the same device and time, not an error.
import type { RunKind } from "./runs";
import type { Run } from "./schema";

/** While only its description came, a run is of no kind yet: it may become one of any. */
export function isOfKind(run: Pick<Run, "kinds">, kind: RunKind): boolean {
	return !run.kinds.length || run.kinds.includes(kind);
}

/** A time of a device in seconds since 1970, as links to what happened then have it. */
export interface DeviceTime {
	readonly device: string;
	readonly since: number;
	readonly until: number;
}

export function parseDeviceTime(params: ReadonlyMap<string, string>): DeviceTime | null {
	const number = (key: string): number =>
		/^\d{1,12}$/.test(params.get(key) ?? "") ? Number(params.get(key)) : NaN;
	const [device, since, until] = [params.get("device") ?? "", number("since"), number("until")];
	return device && since < until ? { device, since, until } : null;
}

/** The run of the device at that time, and the time by its clock; no times where nobody knows the clock. */
export function placeOf(
	at: DeviceTime,
	runs: readonly Run[],
): { run: number; from: number | null; to: number | null } | null {
	const same = runs.filter((r) => r.device_id === at.device);
	const [begin, end] = [1000 * at.since, 1000 * at.until];
	const shared = (r: Run): number => Math.min(time(r.last), end) - Math.max(time(r.first), begin);
	const best = same.length ? same.reduce((a, b) => (shared(b) > shared(a) ? b : a)) : undefined;
	if (!best) return null;
	const offset = best.clock?.real_offset_ns;
	if (offset === undefined) return { run: best.run, from: null, to: null };
	const local = (s: number): number => Math.max(0, s * 1e9 - offset);
	return { run: best.run, from: local(at.since), to: local(at.until) };
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

/**
 * The runs to look at instead, where a device goes on in another than the one that is shown: `now` says what it sends,
 * null for nothing. Undefined: all are as they were.
 */
export function runsNow(
	runs: readonly Pick<Run, "run" | "device_id">[],
	now: (device: string) => number | null,
): readonly number[] | undefined {
	const numbers = runs.map((r) => now(r.device_id) ?? r.run);
	if (numbers.every((n, i) => n === runs[i]?.run)) return undefined;
	return numbers.filter((n, i) => numbers.indexOf(n) === i);
}
