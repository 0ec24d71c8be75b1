// SPDX-License-Identifier: MIT
// quantise: a row's slices as columns of pixels.
//
// A column that one slice fills has what it is. One that several share has the sum of each kind, so that it can be
// drawn as a stacked bar: nothing shorter than a pixel disappears, and a hundred thousand slices cost no more to
// paint than the screen is wide. All arrays are made once for a width and used for every row of every frame.

export const NOTHING = 0;
/** Values of `what`: 1 + the slice's kind (a state, or a name's number). */
export const SHARED = -1;

/** Kinds that are summed up in shared columns. */
export const CLASSES = 5;
export const CLASS_RUN = 0;
export const CLASS_WAIT = 1;
export const CLASS_PREEMPTED = 2;
export const CLASS_BLOCKED = 3;
export const CLASS_UNKNOWN = 4;
/** Sleeping, idle: what remains is empty. */
export const CLASS_NONE = 5;

const CLASS_OF_STATE = Uint8Array.from([
	CLASS_UNKNOWN,
	CLASS_RUN,
	CLASS_WAIT,
	CLASS_PREEMPTED,
	CLASS_NONE,
	CLASS_BLOCKED,
	CLASS_NONE,
	CLASS_NONE,
	CLASS_NONE,
	CLASS_NONE,
]);

export function classOf(state: number): number {
	return CLASS_OF_STATE[state] ?? CLASS_NONE;
}

export class Columns {
	readonly what: Int32Array;
	readonly count: Uint16Array;
	/** sum[column * CLASSES + class], in columns. */
	readonly sum: Float32Array;
	/** What has most of a shared column, and how much. */
	readonly most: Int32Array;
	private readonly mostWeight: Float32Array;

	constructor(readonly width: number) {
		this.what = new Int32Array(width);
		this.count = new Uint16Array(width);
		this.sum = new Float32Array(width * CLASSES);
		this.most = new Int32Array(width);
		this.mostWeight = new Float32Array(width);
	}

	clear(): void {
		this.what.fill(NOTHING);
		this.count.fill(0);
		this.sum.fill(0);
		this.most.fill(NOTHING);
		this.mostWeight.fill(0);
	}

	/** A slice from x0 to x1, in pixels; `kind` is kept as it is, `cls` is what it is summed up as. */
	put(x0: number, x1: number, kind: number, cls: number): void {
		if (x0 < 0) x0 = 0;
		if (x1 > this.width) x1 = this.width;
		if (!(x1 > x0)) return;
		let first = Math.floor(x0);
		const last = Math.floor(x1);
		if (first === last) {
			this.share(first, x1 - x0, kind, cls);
			return;
		}
		if (x0 > first) {
			this.share(first, first + 1 - x0, kind, cls);
			first++;
		}
		if (last - first === 1) this.what[first] = kind + 1;
		else if (last > first) this.what.fill(kind + 1, first, last);
		if (x1 > last) this.share(last, x1 - last, kind, cls);
	}

	private share(column: number, weight: number, kind: number, cls: number): void {
		this.what[column] = SHARED;
		const n = this.count[column] ?? 0;
		if (n < 0xffff) this.count[column] = n + 1;
		if (cls < CLASSES) {
			const at = column * CLASSES + cls;
			this.sum[at] = (this.sum[at] ?? 0) + weight;
		}
		/* What sleeps is seen only where nothing else is. */
		const importance = cls < CLASSES ? weight : weight / 64;
		if (importance > (this.mostWeight[column] ?? 0)) {
			this.mostWeight[column] = importance;
			this.most[column] = kind + 1;
		}
	}

	/** A column that is a bar from the beginning: of an overview. Takes the place of what was there. */
	putBar(column: number, run: number, kind: number, unknown: number): void {
		const isEmpty = run <= 0 && unknown <= 0;
		this.what[column] = isEmpty ? NOTHING : SHARED;
		this.count[column] = Columns.FEW + 1;
		this.most[column] = kind + 1;
		const at = column * CLASSES;
		this.sum[at + CLASS_RUN] = run;
		this.sum[at + CLASS_UNKNOWN] = unknown;
	}

	/** Forgets columns: something finer is going to be put there. */
	erase(from: number, to: number): void {
		this.what.fill(NOTHING, from, to);
		this.count.fill(0, from, to);
		this.sum.fill(0, from * CLASSES, to * CLASSES);
		this.most.fill(NOTHING, from, to);
		this.mostWeight.fill(0, from, to);
	}

	/** Up to this many slices, a shared column looks like what has most of it. */
	static readonly FEW = 2;

	/** What the column looks like: NOTHING, kind + 1, or SHARED if it is to be drawn as a bar. */
	lookAt(column: number): number {
		const what = this.what[column] ?? NOTHING;
		if (what !== SHARED) return what;
		return (this.count[column] ?? 0) <= Columns.FEW ? (this.most[column] ?? NOTHING) : SHARED;
	}
}

/** The first of the ends in [lo, hi) that lies behind `at`; hi if there is none. */
export function findEnd(ends: Float64Array, lo: number, hi: number, at: number): number {
	while (lo < hi) {
		const middle = (lo + hi) >>> 1;
		if ((ends[middle] ?? 0) > at) hi = middle;
		else lo = middle + 1;
	}
	return lo;
}
