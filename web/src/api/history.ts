// SPDX-License-Identifier: MIT
// history: how devices did since the page was opened: events per second, and the CPU that their agents use.
//
// It is fed by every state that comes, whichever view is shown. The device says how much CPU time it used in
// all; the share of one CPU is what it grew by over the last seconds, so an agent that was started again shows nothing
// until it has said it twice.
import { effect } from "@preact/signals";

import { Series, type Point } from "../parts/series";
import { devices } from "./devices";
import type { Device } from "./schema";

const OVER_MS = 10_000;
const USED_MAX = 64;

interface Use {
	readonly atMs: number;
	readonly cpuUs: number;
}

interface Past {
	readonly rate: Series;
	used: Use[];
	/** The state that was taken last: the same object comes again when only others have changed. */
	seen: Device | null;
}

const pasts = new Map<string, Past>();

/** What is needed to say what share of a CPU it is: all of the last seconds, and one from before them. */
export function trimUses(used: readonly Use[], nowMs: number): Use[] {
	const recent = used.findIndex((u) => nowMs - u.atMs <= OVER_MS);
	const from = recent < 0 ? used.length - 1 : Math.max(recent - 1, 0);
	return used.slice(Math.max(from, used.length - USED_MAX, 0));
}

/** Share of one CPU; null while it is not known. */
export function shareOf(used: readonly Use[]): number | null {
	const first = used[0];
	const last = used.at(-1);
	if (!first || !last || last.atMs - first.atMs < 500 || last.cpuUs < first.cpuUs) return null;
	return (last.cpuUs - first.cpuUs) / (1000 * (last.atMs - first.atMs));
}

function take(device: Device, nowMs: number): void {
	const past = pasts.get(device.id) ?? { rate: new Series(), used: [], seen: null };
	pasts.set(device.id, past);
	if (past.seen === device) return;
	past.seen = device;
	past.rate.push(nowMs, device.online ? device.received.events_per_s : 0);
	const last = past.used.at(-1);
	if (!device.online || (last && device.status.cpu_us < last.cpuUs)) past.used = [];
	if (!device.online || last?.cpuUs === device.status.cpu_us) return;
	past.used = trimUses([...past.used, { atMs: nowMs, cpuUs: device.status.cpu_us }], nowMs);
}

export function followHistory(): void {
	effect(() => {
		for (const device of devices.value) take(device, performance.now());
	});
}

export function ratesOf(id: string): readonly Point[] {
	return pasts.get(id)?.rate.points ?? [];
}

export function cpuShareOf(id: string): number | null {
	return shareOf(pasts.get(id)?.used ?? []);
}
