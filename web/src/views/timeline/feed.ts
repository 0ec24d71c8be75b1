// SPDX-License-Identifier: MIT
// feed: a row's slices out of tiles into columns. Only what is in sight is touched: the first slice is found by
// halving, the last one ends the loop.
//
// Kinds of columns: below 16 a state, from 16 on 16 + the number of a task's name.
import { CALL_BEGAN_BEFORE, type Calls } from "./calls";
import { RUNNING, SLICE_KIND, SLICE_TASK, SLICE_UNKNOWN, type Detail } from "./decode";
import type { Overview } from "./overview";
import { CLASS_RUN, CLASS_UNKNOWN, classOf, findEnd, type Columns } from "./quantise";

export const KIND_NAME = 16;
export const STATE_UNKNOWN = 0;

/** What is to be filled, by the run's clock. */
export interface Window {
	/** The time at the first pixel. */
	origin: number;
	from: number;
	to: number;
	/** Pixels for a nanosecond. */
	scale: number;
}

/** Slices wide enough to write on, gathered while columns are filled; fixed in size. */
export class Labels {
	static readonly MAX = 600;
	n = 0;
	readonly x0 = new Float32Array(Labels.MAX);
	readonly x1 = new Float32Array(Labels.MAX);
	readonly y = new Float32Array(Labels.MAX);
	readonly name = new Int32Array(Labels.MAX);
	/** The pid; of calls a negative number. */
	readonly number = new Int32Array(Labels.MAX);

	/** The part of a call that a tile's border cut off: is there a label that it goes on with? Tiles place their calls by
	 * clocks that were compared in the middle of each, so two may be a hair apart. */
	goOn(x0: number, x1: number, y: number, name: number): boolean {
		const last = this.n - 1;
		if (last < 0 || this.name[last] !== name || this.y[last] !== y) return false;
		if (Math.abs((this.x1[last] ?? 0) - x0) > 1.5) return false;
		this.x1[last] = x1;
		return true;
	}

	put(x0: number, x1: number, y: number, name: number, number: number): void {
		/* The two parts of a slice that a tile's border cuts are one. */
		const last = this.n - 1;
		if (
			last >= 0 &&
			this.number[last] === number &&
			this.name[last] === name &&
			this.y[last] === y &&
			Math.abs((this.x1[last] ?? 0) - x0) < 0.5
		) {
			this.x1[last] = x1;
			return;
		}
		if (this.n >= Labels.MAX) return;
		this.x0[this.n] = x0;
		this.x1[this.n] = x1;
		this.y[this.n] = y;
		this.name[this.n] = name;
		this.number[this.n++] = number;
	}
}

export interface Feed {
	readonly columns: Columns;
	readonly edges: Uint8Array;
	readonly labels: Labels;
	/** Slices at least this wide get a label; and where the row is. */
	labelWidth: number;
	labelY: number;
}

/** CPU rows: names of tasks. `names`: of the tile's tasks. */
export function feedCpu(f: Feed, tile: Detail, names: Int32Array, cpu: number, w: Window): void {
	if (cpu >= tile.cpus) return;
	const hi = tile.cpuAt[cpu + 1] ?? 0;
	const lo = tile.cpuAt[cpu] ?? 0;
	const offset = tile.from - w.origin;
	const begin = Math.max(0, w.from - tile.from);
	const stop = w.to - tile.from;
	let i = findEnd(tile.sliceEnd, lo, hi, begin);
	let start = Math.max(begin, i > lo ? (tile.sliceEnd[i - 1] ?? 0) : 0);
	for (; i < hi && start < stop; i++) {
		const end = Math.min(stop, tile.sliceEnd[i] ?? 0);
		const kind = (tile.sliceKind[i] ?? 0) & SLICE_KIND;
		if (kind === SLICE_TASK) {
			const x0 = (start + offset) * w.scale;
			const x1 = (end + offset) * w.scale;
			const task = tile.sliceTask[i] ?? 0;
			const name = names[task] ?? 0;
			f.columns.put(x0, x1, KIND_NAME + name, CLASS_RUN);
			if (x1 - x0 >= 3 && start > begin) f.edges[Math.ceil(x0)] = 1;
			if (x1 - x0 >= f.labelWidth) f.labels.put(x0, x1, f.labelY, name, tile.pid[task] ?? 0);
		} else if (kind === SLICE_UNKNOWN)
			f.columns.put((start + offset) * w.scale, (end + offset) * w.scale, STATE_UNKNOWN, CLASS_UNKNOWN);
		start = end;
	}
}

/** Rows of tasks: their states. Of the head of a process `only` one of them: when any of its threads ran. */
export function feedTask(f: Feed, tile: Detail, task: number, w: Window, only = -1): void {
	const hi = tile.spanAt[task + 1] ?? 0;
	const lo = tile.spanAt[task] ?? 0;
	const offset = tile.from - w.origin;
	const begin = Math.max(0, w.from - tile.from);
	const stop = w.to - tile.from;
	let i = findEnd(tile.spanEnd, lo, hi, begin);
	let start = Math.max(begin, i > lo ? (tile.spanEnd[i - 1] ?? 0) : 0);
	for (; i < hi && start < stop; i++) {
		const end = Math.min(stop, tile.spanEnd[i] ?? 0);
		const state = tile.spanState[i] ?? 0;
		if (only < 0 || state === only)
			f.columns.put((start + offset) * w.scale, (end + offset) * w.scale, state, classOf(state));
		start = end;
	}
}

/** Numbers of a row in an overview: where they begin in `run`, of several tasks their sum. */
export interface Shares {
	run: Uint8Array;
	unknown: Uint8Array | null;
	readonly at: number[];
}

/** The most of the pieces of a column, over all tasks of the row. */
function mostOf(s: Shares, from: number, to: number): number {
	let most = 0;
	for (let i = from; i < to; i++) {
		let sum = 0;
		for (let k = 0; k < s.at.length; k++) sum += s.run[(s.at[k] ?? 0) + i] ?? 0;
		if (sum > most) most = sum;
	}
	return most;
}

/** Shares of the overview as bars. */
export function feedShares(f: Feed, o: Overview, s: Shares, w: Window): void {
	const { columns } = f;
	const first = Math.max(0, Math.floor((Math.max(o.from, w.from) - w.origin) * w.scale));
	const last = Math.min(columns.width, Math.ceil((Math.min(o.to, w.to) - w.origin) * w.scale));
	const step = 1 / (w.scale * o.pieceNs);
	const begin = (w.origin - o.from) / o.pieceNs;
	let done = -1;
	let most = 0;
	let lost = 0;
	for (let x = first; x < last; x++) {
		const i0 = Math.max(0, Math.floor(begin + x * step));
		const i1 = Math.min(o.pieces, Math.max(i0 + 1, Math.floor(begin + (x + 1) * step)));
		/* A piece is often many pixels wide. */
		if (i0 !== done || i1 - i0 > 1) {
			most = mostOf(s, i0, i1);
			lost = 0;
			if (s.unknown) for (let i = i0; i < i1; i++) lost = Math.max(lost, s.unknown[(s.at[0] ?? 0) + i] ?? 0);
			done = i0;
		}
		columns.putBar(x, most / 255, RUNNING, lost / 255);
	}
}

/** A lane of functions under a thread. `names`: of the tile's functions. */
export function feedLane(f: Feed, tile: Calls, names: Int32Array, lane: number, w: Window): void {
	const hi = tile.callAt[lane + 1] ?? 0;
	const offset = tile.from - w.origin;
	const begin = w.from - tile.from;
	const stop = w.to - tile.from;
	for (let i = findEnd(tile.end, tile.callAt[lane] ?? 0, hi, begin); i < hi; i++) {
		const from = tile.begin[i] ?? 0;
		if (from >= stop) return;
		const x0 = (Math.max(begin, from) + offset) * w.scale;
		const x1 = (Math.min(stop, tile.end[i] ?? 0) + offset) * w.scale;
		const name = names[tile.fn[i] ?? 0] ?? 0;
		f.columns.put(x0, x1, KIND_NAME + name, CLASS_RUN);
		if (x1 - x0 >= 3 && from > begin) f.edges[Math.ceil(x0)] = 1;
		const goesOn = ((tile.flags[i] ?? 0) & CALL_BEGAN_BEFORE) !== 0 && f.labels.goOn(x0, x1, f.labelY, name);
		if (!goesOn && x1 - x0 >= f.labelWidth) f.labels.put(x0, x1, f.labelY, name, -1 - i);
	}
}
