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
	/** The tile that it is from. */
	readonly tile: Calls;
}

/** Where the calls of a thread at a depth are in the tile's arrays. */
function laneOf(
	tile: Calls,
	tid: number,
	depth: number,
): { readonly lo: number; readonly hi: number } | null {
	const thread = indexCalls(tile).thread.get(tid);
	if (thread === undefined) return null;
	const lane = (tile.laneAt[thread] ?? 0) + depth;
	if (lane >= (tile.laneAt[thread + 1] ?? 0)) return null;
	return { lo: tile.callAt[lane] ?? 0, hi: tile.callAt[lane + 1] ?? 0 };
}

function callOf(tile: Calls, i: number): CallAt {
	return {
		name: tile.functions[tile.fn[i] ?? 0] ?? "",
		from: tile.from + (tile.begin[i] ?? 0),
		to: tile.from + (tile.end[i] ?? 0),
		flags: tile.flags[i] ?? 0,
		tile,
	};
}

/** The call of a thread at a depth and a time. */
export function callAt(tile: Calls, tid: number, depth: number, ns: number): CallAt | null {
	const lane = laneOf(tile, tid, depth);
	if (!lane) return null;
	const at = ns - tile.from;
	const i = findEnd(tile.end, lane.lo, lane.hi, at);
	return i >= lane.hi || (tile.begin[i] ?? 0) > at ? null : callOf(tile, i);
}

/** The first call of a lane, or the last. */
export function callAtEdge(tile: Calls, tid: number, depth: number, isFirst: boolean): CallAt | null {
	const lane = laneOf(tile, tid, depth);
	return lane && lane.hi > lane.lo ? callOf(tile, isFirst ? lane.lo : lane.hi - 1) : null;
}

/** The longest of the outermost calls, and whose it is. */
export function longestCall(tile: Calls): { readonly tid: number; readonly call: CallAt } | null {
	let longest: { tid: number; call: CallAt } | null = null;
	tile.tid.forEach((tid, thread) => {
		const lane = tile.laneAt[thread] ?? 0;
		if (lane >= (tile.laneAt[thread + 1] ?? 0)) return;
		for (let i = tile.callAt[lane] ?? 0; i < (tile.callAt[lane + 1] ?? 0); i++) {
			const call = callOf(tile, i);
			if (!longest || call.to - call.from > longest.call.to - longest.call.from) longest = { tid, call };
		}
	});
	return longest;
}
