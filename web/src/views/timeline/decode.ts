// SPDX-License-Identifier: MIT
// decode: an answer of …/slices as arrays that can be searched and drawn (docs/format/slices.md).
//
// One array for each property, over all CPUs or all tasks one after the other, with where each of them begins: a
// tile is some twenty buffers whatever it holds, is handed from the worker without a copy, and its size is known to
// the byte. Times are offsets from the tile's beginning. Slices touch, so only their ends are kept.
import { Malformed, Reader } from "../../api/reader";

export const RUNNING = 1;
export const STATE_COUNT = 10;
export const SLICE_TASK = 0;
export const SLICE_IDLE = 1;
export const SLICE_UNKNOWN = 2;
export const SLICE_KIND = 3;
export const SLICE_INFERRED = 4;

export interface Detail {
	readonly kind: "detail";
	readonly bytes: number;
	readonly final: boolean;
	readonly from: number;
	readonly to: number;
	readonly cpus: number;
	readonly pid: Int32Array;
	readonly tgid: Int32Array;
	readonly parent: Int32Array;
	readonly comm: readonly string[];
	/** Of CPU c: slices cpuAt[c] to cpuAt[c + 1]. */
	readonly cpuAt: Uint32Array;
	readonly sliceEnd: Float64Array;
	readonly sliceTask: Int32Array;
	readonly sliceKind: Uint8Array;
	/** Of task t: spans spanAt[t] to spanAt[t + 1]. */
	readonly spanAt: Uint32Array;
	readonly spanEnd: Float64Array;
	readonly spanState: Uint8Array;
	readonly spanCpu: Int16Array;
	readonly wakeAt: Float64Array;
	readonly wakeRan: Float64Array; /* -1: not within the range */
	readonly waker: Int32Array; /* -1: none */
	readonly woken: Int32Array;
	readonly wakeCpu: Int16Array;
	readonly lossFrom: Float64Array;
	readonly lossTo: Float64Array;
	readonly lossEvents: Float64Array;
	readonly lossCpu: Int16Array;
	readonly lossCause: Uint8Array;
}

/** Numbers whose count is not known before; doubles when it is full. */
class Growing {
	n = 0;
	data: Float64Array;
	constructor(size: number) {
		this.data = new Float64Array(Math.max(size, 16));
	}
	push(value: number): void {
		if (this.n === this.data.length) {
			const larger = new Float64Array(2 * this.n);
			larger.set(this.data);
			this.data = larger;
		}
		this.data[this.n++] = value;
	}
	get used(): Float64Array {
		return this.data.subarray(0, this.n);
	}
}

function decodeTasks(r: Reader) {
	const n = r.count(4);
	const pid = new Int32Array(n);
	const tgid = new Int32Array(n);
	const parent = new Int32Array(n);
	const comm: string[] = [];
	for (let i = 0; i < n; i++) {
		pid[i] = r.signed();
		tgid[i] = r.signed();
		parent[i] = r.number() - 1;
		comm.push(r.string());
	}
	return { pid, tgid, parent, comm };
}

function checkTask(task: number, tasks: number): number {
	if (task >= tasks) throw new Malformed("the answer names a task that it does not list");
	return task;
}

function decodeSlices(r: Reader, cpus: number, tasks: number) {
	const cpuAt = new Uint32Array(cpus + 1);
	const end = new Growing(r.left >> 2);
	const what = new Growing(r.left >> 2);
	for (let c = 0; c < cpus; c++) {
		const n = r.count(2);
		let at = 0;
		for (let i = 0; i < n; i++) {
			what.push(r.number());
			at += r.number();
			end.push(at);
		}
		cpuAt[c + 1] = end.n;
	}
	const sliceTask = new Int32Array(what.n);
	const sliceKind = new Uint8Array(what.n);
	what.used.forEach((value, i) => {
		const kind = value % 8;
		sliceKind[i] = kind;
		sliceTask[i] = (kind & SLICE_KIND) === SLICE_TASK ? checkTask(Math.floor(value / 8), tasks) : -1;
	});
	return { cpuAt, sliceEnd: end.used.slice(), sliceTask, sliceKind };
}

function decodeSpans(r: Reader, tasks: number) {
	const spanAt = new Uint32Array(tasks + 1);
	const end = new Growing(r.left >> 2);
	const what = new Growing(r.left >> 2);
	for (let t = 0; t < tasks; t++) {
		const n = r.count(2);
		let at = 0;
		for (let i = 0; i < n; i++) {
			const state = r.number();
			if (state >= STATE_COUNT) throw new Malformed(`the answer has a state ${state}`);
			const cpu = state === RUNNING ? r.number() : -1;
			at += r.number();
			what.push(state + 16 * (cpu + 1));
			end.push(at);
		}
		spanAt[t + 1] = end.n;
	}
	const spanState = new Uint8Array(what.n);
	const spanCpu = new Int16Array(what.n);
	what.used.forEach((value, i) => {
		spanState[i] = value % 16;
		spanCpu[i] = Math.floor(value / 16) - 1;
	});
	return { spanAt, spanEnd: end.used.slice(), spanState, spanCpu };
}

function decodeWakeups(r: Reader, tasks: number) {
	const n = r.count(5);
	const wakeAt = new Float64Array(n);
	const wakeRan = new Float64Array(n);
	const waker = new Int32Array(n);
	const woken = new Int32Array(n);
	const wakeCpu = new Int16Array(n);
	let at = 0;
	for (let i = 0; i < n; i++) {
		at += r.number();
		wakeAt[i] = at;
		waker[i] = checkTask(r.number(), tasks + 1) - 1;
		woken[i] = checkTask(r.number(), tasks);
		wakeCpu[i] = r.number();
		const ran = r.number();
		wakeRan[i] = ran === 0 ? -1 : at + ran - 1;
	}
	return { wakeAt, wakeRan, waker, woken, wakeCpu };
}

function decodeLosses(r: Reader) {
	const n = r.count(5);
	const lossFrom = new Float64Array(n);
	const lossTo = new Float64Array(n);
	const lossEvents = new Float64Array(n);
	const lossCpu = new Int16Array(n);
	const lossCause = new Uint8Array(n);
	for (let i = 0; i < n; i++) {
		lossCpu[i] = r.number();
		const from = r.number();
		lossFrom[i] = from;
		lossTo[i] = from + r.number();
		lossEvents[i] = r.number();
		lossCause[i] = r.number();
	}
	return { lossFrom, lossTo, lossEvents, lossCpu, lossCause };
}

/** All buffers of a tile: what is handed over, and what it weighs. */
export function buffersOf(tile: object): ArrayBuffer[] {
	const buffers: ArrayBuffer[] = [];
	for (const value of Object.values(tile) as unknown[])
		if (ArrayBuffer.isView(value) && value.buffer instanceof ArrayBuffer) buffers.push(value.buffer);
	return buffers;
}

const PER_NAME = 64; /* bytes of a string in the page's memory, roughly */

export function weigh(tile: object, names: number): number {
	return buffersOf(tile).reduce((sum, b) => sum + b.byteLength, names * PER_NAME);
}

export function decodeSlicesAnswer(bytes: Uint8Array): Detail {
	const r = new Reader(bytes);
	r.magic("KSL1");
	const from = r.number();
	const to = r.number();
	const flags = r.number();
	const cpus = r.count(1);
	const tasks = decodeTasks(r);
	const n = tasks.pid.length;
	const arrays = {
		...tasks,
		...decodeSlices(r, cpus, n),
		...decodeSpans(r, n),
		...decodeWakeups(r, n),
		...decodeLosses(r),
	};
	return { kind: "detail", from, to, final: (flags & 1) !== 0, cpus, bytes: weigh(arrays, n), ...arrays };
}
