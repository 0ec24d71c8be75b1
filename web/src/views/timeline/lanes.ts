// SPDX-License-Identifier: MIT
// lanes: which thread of a tile of calls is which, and what its functions are called, as numbers. Made once for a tile
// and forgotten with it.
import type { Calls } from "./calls";
import { nameId } from "./names";
import { findEnd } from "./quantise";

export interface CallIndex {
	readonly thread: ReadonlyMap<number, number>;
	readonly names: Int32Array;
}

const indexes = new WeakMap<Calls, CallIndex>();

export function indexCalls(tile: Calls): CallIndex {
	let index = indexes.get(tile);
	if (!index) {
		const thread = new Map<number, number>();
		tile.tid.forEach((tid, i) => thread.set(tid, i));
		index = { thread, names: Int32Array.from(tile.functions, nameId) };
		indexes.set(tile, index);
	}
	return index;
}

export interface CallAt {
	readonly name: string;
	/** By the clock of the scheduler's run. */
	readonly from: number;
	readonly to: number;
	readonly flags: number;
}

/** The call of a thread at a depth and a time. */
export function callAt(tile: Calls, tid: number, depth: number, ns: number): CallAt | null {
	const thread = indexCalls(tile).thread.get(tid);
	if (thread === undefined) return null;
	const lane = (tile.laneAt[thread] ?? 0) + depth;
	if (lane >= (tile.laneAt[thread + 1] ?? 0)) return null;
	const hi = tile.callAt[lane + 1] ?? 0;
	const at = ns - tile.from;
	const i = findEnd(tile.end, tile.callAt[lane] ?? 0, hi, at);
	if (i >= hi || (tile.begin[i] ?? 0) > at) return null;
	return {
		name: tile.functions[tile.fn[i] ?? 0] ?? "",
		from: tile.from + (tile.begin[i] ?? 0),
		to: tile.from + (tile.end[i] ?? 0),
		flags: tile.flags[i] ?? 0,
	};
}
