// SPDX-License-Identifier: MIT
// calls: an answer of …/calls/slices as arrays (docs/format/calls-slices.md). Calls of a thread are put into lanes by
// how deep they are nested: within a lane none overlaps another, so they are found by halving and painted as slices
// are. Times are taken to the clock of the scheduler's run by the offset that comes with them.
import { Malformed, Reader } from "../../api/reader";
import { weigh } from "./decode";

export const CALL_BEGAN_BEFORE = 1;
export const CALL_ENDS_LATER = 2;
export const LANES_MAX = 24;

export interface Calls {
	readonly kind: "calls";
	readonly bytes: number;
	readonly final: boolean;
	/** By the clock of the scheduler's run. */
	readonly from: number;
	readonly to: number;
	readonly schedRun: number;
	readonly offset: number;
	readonly leftOut: number;
	readonly functions: readonly string[];
	readonly tid: Int32Array;
	/** Of thread t: lanes laneAt[t] to laneAt[t + 1]; of lane l: calls callAt[l] to callAt[l + 1]. */
	readonly laneAt: Uint32Array;
	readonly callAt: Uint32Array;
	readonly begin: Float64Array; /* after `from` */
	readonly end: Float64Array;
	readonly fn: Int32Array;
	readonly flags: Uint8Array;
}

interface Call {
	readonly fn: number;
	readonly begin: number;
	readonly end: number;
	readonly flags: number;
}

function decodeThread(r: Reader, functions: number): Call[][] {
	const lanes: Call[][] = [];
	const n = r.count(4);
	let begin = 0;
	for (let i = 0; i < n; i++) {
		const fn = r.number();
		if (fn >= functions) throw new Malformed("the answer names a function that it does not list");
		begin += r.number();
		const length = r.number();
		const last = r.number();
		const depth = Math.floor(last / 8);
		if (depth >= LANES_MAX) continue;
		while (lanes.length <= depth) lanes.push([]);
		lanes[depth]?.push({ fn, begin, end: begin + length, flags: last % 8 });
	}
	return lanes;
}

function pack(threads: readonly { readonly tid: number; readonly lanes: Call[][] }[]) {
	const lanes = threads.flatMap((t) => t.lanes);
	const n = lanes.reduce((sum, lane) => sum + lane.length, 0);
	const arrays = {
		tid: Int32Array.from(threads, (t) => t.tid),
		laneAt: new Uint32Array(threads.length + 1),
		callAt: new Uint32Array(lanes.length + 1),
		begin: new Float64Array(n),
		end: new Float64Array(n),
		fn: new Int32Array(n),
		flags: new Uint8Array(n),
	};
	threads.forEach((t, i) => (arrays.laneAt[i + 1] = (arrays.laneAt[i] ?? 0) + t.lanes.length));
	let at = 0;
	lanes.forEach((lane, l) => {
		for (const call of lane) {
			arrays.begin[at] = call.begin;
			arrays.end[at] = call.end;
			arrays.fn[at] = call.fn;
			arrays.flags[at++] = call.flags;
		}
		arrays.callAt[l + 1] = at;
	});
	return arrays;
}

export function decodeCalls(bytes: Uint8Array): Calls {
	const r = new Reader(bytes);
	r.magic("KCL1");
	const from = r.number();
	const to = r.number();
	const flags = r.number();
	const schedRun = r.number();
	const offset = r.signed();
	r.number(); /* shorter calls are left out */
	const leftOut = r.number();
	const functions: string[] = [];
	for (let n = r.count(2); n > 0; n--) {
		functions.push(r.string());
		r.string(); /* the object it is in */
	}
	const threads: { readonly tid: number; readonly lanes: Call[][] }[] = [];
	for (let n = r.count(6); n > 0; n--) {
		r.signed(); /* its process */
		const tid = r.signed();
		r.signed(); /* its CPU, if it is none's */
		r.number(); /* whether its functions are the kernel's */
		r.string(); /* its name: rows have it already */
		threads.push({ tid, lanes: decodeThread(r, functions.length) });
	}
	const arrays = pack(threads.filter((t) => t.tid > 0));
	return {
		kind: "calls",
		bytes: weigh(arrays, functions.length),
		final: (flags & 1) !== 0,
		from: from + offset,
		to: to + offset,
		schedRun,
		offset,
		leftOut,
		functions,
		...arrays,
	};
}
