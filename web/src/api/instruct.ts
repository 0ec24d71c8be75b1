// SPDX-License-Identifier: MIT
// instruct: tells devices to start, to stop, or what to trace, and says what became of it, device by device.
//
// One request may name many devices, but then its answer waits for the slowest. So the devices are split over a few
// requests: each answers when its own are done, and a device that hangs hides few others. The browser makes
// six connections at most, and the live stream has one of them.
import { post, Refused, Unreachable } from "./request";
import type { Config, Device, Results } from "./schema";

export type Verb = "start" | "stop" | "configure";

export type Fate = "waiting" | "done" | "later" | "failed" | "late";

export interface Outcome {
	readonly id: string;
	readonly name: string;
	readonly fate: Fate;
	/** The device's or the collector's own words. */
	readonly text: string;
}

const ETIMEDOUT = 110;
const REQUESTS = 20;
const DEVICES_MAX = 60; /* ids of 32 digits; the collector takes 4096 bytes of address */
const AT_ONCE = 4;

export function split<T>(list: readonly T[], parts: number, most: number): readonly (readonly T[])[] {
	const size = Math.min(most, Math.max(1, Math.ceil(list.length / parts)));
	const out: T[][] = [];
	for (let i = 0; i < list.length; i += size) out.push(list.slice(i, i + size));
	return out;
}

export function fateOf(result: Results["results"][number]): Fate {
	if (result.code === ETIMEDOUT) return "late";
	if (!result.ok) return "failed";
	return result.deferred ? "later" : "done";
}

function wordsOf(e: unknown): string {
	return e instanceof Refused || e instanceof Unreachable ? e.message : String(e);
}

/** `tell` gets all outcomes, in the order of the devices, whenever some are new. */
export async function instruct(
	verb: Verb,
	devices: readonly Pick<Device, "id" | "name">[],
	config: Config,
	tell: (outcomes: readonly Outcome[]) => void,
): Promise<void> {
	const table = new Map<string, Outcome>(
		devices.map((d) => [d.id, { id: d.id, name: d.name, fate: "waiting", text: "" }]),
	);
	const set = (id: string, fate: Fate, text: string): void => {
		const old = table.get(id);
		if (old) table.set(id, { ...old, fate, text });
	};
	const one = async (part: readonly Pick<Device, "id">[]): Promise<void> => {
		try {
			const path = `devices/${part.map((d) => d.id).join(",")}/${verb}`;
			const answer = await post<Results>(path, verb === "stop" ? {} : config);
			for (const r of answer.results) set(r.id, fateOf(r), r.text);
		} catch (e) {
			for (const d of part) set(d.id, "failed", wordsOf(e));
		}
		tell([...table.values()]);
	};
	tell([...table.values()]);
	const parts = [...split(devices, REQUESTS, DEVICES_MAX)];
	const worker = async (): Promise<void> => {
		for (let part = parts.shift(); part; part = parts.shift()) await one(part);
	};
	await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Where the fleet shows devices; null: in none. */
export async function setGroup(device: string, group: string | null): Promise<void> {
	await post(`devices/${device}/group`, { group });
}
