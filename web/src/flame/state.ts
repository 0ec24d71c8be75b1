// SPDX-License-Identifier: MIT
// state: what of a flame graph is in the address, with the same keys in every view that has one.
import { address, setParams } from "../app/address";

export interface FlameState {
	/** A flame grows from below, an icicle hangs from above. */
	readonly upward: boolean;
	/** Key of the box that has the whole width. */
	readonly zoom: string;
	/** Key of the box that the keyboard is at. */
	readonly at: string;
	readonly find: string;
}

export function readFlame(params: ReadonlyMap<string, string>): FlameState {
	const text = (key: string): string => params.get(key) ?? "";
	return { upward: text("grow") === "up", zoom: text("zoom"), at: text("at"), find: text("find") };
}

export function currentFlame(): FlameState {
	return readFlame(address.value.params);
}

/** The usual values are left out, so that addresses stay short. */
export function flameChanges(next: Partial<FlameState>): Record<string, string | null> {
	const changes: Record<string, string | null> = {};
	for (const key of ["zoom", "at", "find"] as const) {
		const value = next[key];
		if (value !== undefined) changes[key] = value || null;
	}
	if (next.upward !== undefined) changes["grow"] = next.upward ? "up" : null;
	return changes;
}

export function changeFlame(next: Partial<FlameState>, remember = true): void {
	setParams(flameChanges(next), remember);
}
