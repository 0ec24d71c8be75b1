// SPDX-License-Identifier: MIT
// devices: all devices as they are now, kept up to date by the collector's stream of events.
//
// The browser reconnects an EventSource by itself, but not when the answer is an error, nor when a proxy says
// goodbye for good: so a closed one is opened again here, with growing pauses. `connection` is what the
// frame shows.
import { computed, signal } from "@preact/signals";

import { checkMe } from "./me";
import { reachable, urlOf } from "./request";
import type { Device } from "./schema";

export type Connection = "connecting" | "live" | "lost";
export const connection = signal<Connection>("connecting");

const table = signal<ReadonlyMap<string, Device>>(new Map());

/** By name. */
export const devices = computed(() => [...table.value.values()].sort((a, b) => a.name.localeCompare(b.name)));

/**
 * Changes whenever an instruction was given to a device or one came to something, and when the stream is there again
 * after it was not: what was listed before may be old.
 */
export const instructionChanges = signal(0);

export function deviceOf(id: string): Device | undefined {
	return table.value.get(id);
}

const PAUSE_MS = 500;
const PAUSE_MAX_MS = 10_000;
let pauseMs = PAUSE_MS;

/* Many devices send their states at once; one drawing for all of them is enough. */
const waiting = new Map<string, Device>();
let scheduled = false;

function take(device: Device): void {
	waiting.set(device.id, device);
	if (scheduled) return;
	scheduled = true;
	setTimeout(() => {
		scheduled = false;
		table.value = new Map([...table.value, ...waiting]);
		waiting.clear();
	}, 50);
}

export function followDevices(): void {
	const stream = new EventSource(urlOf("live"));
	stream.addEventListener("state", (e: MessageEvent<string>) => take(JSON.parse(e.data) as Device));
	stream.addEventListener("instructions", () => (instructionChanges.value += 1));
	stream.onopen = () => {
		connection.value = "live";
		reachable.value = true;
		pauseMs = PAUSE_MS;
	};
	stream.onerror = () => {
		connection.value = "lost";
		if (stream.readyState !== EventSource.CLOSED) return;
		void checkMe().catch(() => undefined); // which may be why
		setTimeout(followDevices, pauseMs);
		pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS);
	};
}
