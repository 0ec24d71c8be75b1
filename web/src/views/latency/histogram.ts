// SPDX-License-Identifier: MIT
// histogram: where bars, lines and labels of a histogram of waits lie. Without DOM, so that it can be tested.
//
// The time axis is logarithmic, as the buckets are: from a whole power of two below the shortest wait to one above the
// longest. Counts are logarithmic too unless asked otherwise, because it is the few long waits that matter; a bar of one
// wait then still has a height, since the axis begins below 1.
import type { Bucket, Waits } from "../../api/latency";
import { formatLength } from "../../parts/format";

export interface Box {
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly height: number;
}

export interface Axis {
	readonly fromNs: number;
	readonly toNs: number;
	readonly most: number;
	readonly logarithmic: boolean;
	readonly box: Box;
}

const LEAST = 0.5; /* where the logarithmic axis of counts begins */

export function axisOf(all: readonly Bucket[], longestNs: number, logarithmic: boolean, box: Box): Axis {
	const first = all[0]?.from_ns ?? 1;
	const last = Math.max(all.at(-1)?.to_ns ?? 2, longestNs);
	return {
		fromNs: Math.max(1, 2 ** Math.floor(Math.log2(Math.max(first, 1)))),
		toNs: 2 ** Math.ceil(Math.log2(Math.max(last, 2))),
		most: Math.max(1, ...all.map((b) => b.waits)),
		logarithmic,
		box,
	};
}

export function xOf(a: Axis, ns: number): number {
	const share = Math.log2(Math.max(ns, a.fromNs) / a.fromNs) / Math.log2(a.toNs / a.fromNs);
	return a.box.x + Math.min(share, 1) * a.box.width;
}

export function nsAt(a: Axis, x: number): number {
	return a.fromNs * (a.toNs / a.fromNs) ** ((x - a.box.x) / a.box.width);
}

export function yOf(a: Axis, waits: number): number {
	const share = a.logarithmic
		? Math.log(Math.max(waits, LEAST) / LEAST) / Math.log(a.most / LEAST)
		: waits / a.most;
	return a.box.y + a.box.height * (1 - share);
}

export interface Bar extends Box {
	readonly bucket: Bucket;
}

export function barsOf(a: Axis, buckets: readonly Bucket[]): readonly Bar[] {
	return buckets.map((bucket) => {
		const x = xOf(a, bucket.from_ns);
		const y = yOf(a, bucket.waits);
		return {
			bucket,
			x: x + 0.5,
			y,
			width: Math.max(1, xOf(a, bucket.to_ns) - x - 1),
			height: a.box.y + a.box.height - y,
		};
	});
}

/** 1, 10, 100 … of ns that lie on the axis. */
export function timeTicks(a: Axis): readonly number[] {
	const ticks: number[] = [];
	for (let t = 1; t <= a.toNs; t *= 10) if (t >= a.fromNs) ticks.push(t);
	return ticks;
}

export function countTicks(a: Axis): readonly number[] {
	if (!a.logarithmic) {
		const raw = a.most / 4;
		const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
		const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((s) => s >= raw) ?? power);
		return Array.from({ length: Math.floor(a.most / step) + 1 }, (_, i) => i * step);
	}
	const ticks: number[] = [];
	for (let n = 1; n <= a.most; n *= 10) ticks.push(n);
	return ticks;
}

export interface Mark {
	readonly text: string;
	readonly x: number;
	/** Where its label begins: right of the line, or left of it where it would leave the picture. */
	readonly left: number;
	/** Row of its label, 0 at the top: labels in one row do not touch. */
	readonly row: number;
}

const MARK_ROWS = 5; /* one for each at most */
const MARK_PX = 4;

/** Percentiles, with places for their labels in a picture of this width. */
export function marksOf(
	a: Axis,
	waits: Waits,
	width: number,
	measure: (text: string) => number,
): readonly Mark[] {
	if (!waits.waits) return [];
	const list: readonly (readonly [string, number])[] = [
		["p50", waits.p50_ns],
		["p90", waits.p90_ns],
		["p99", waits.p99_ns],
		["p99.9", waits.p999_ns],
		["max", waits.max_ns],
	];
	const ends: number[] = Array.from({ length: MARK_ROWS }, () => -Infinity);
	return list.map(([label, ns]) => {
		const x = xOf(a, ns);
		const text = `${label} ${formatLength(ns)}`;
		const long = measure(text);
		const left = x + MARK_PX + long > width ? x - MARK_PX - long : x + MARK_PX;
		const free = ends.findIndex((end) => end <= Math.min(left, x));
		const row = free < 0 ? ends.indexOf(Math.min(...ends)) : free;
		ends[row] = Math.max(x, left + long) + MARK_PX;
		return { text, x, left, row };
	});
}

export function bucketAt(a: Axis, buckets: readonly Bucket[], x: number): Bucket | undefined {
	if (x < a.box.x || x > a.box.x + a.box.width) return undefined;
	const ns = nsAt(a, x);
	return buckets.find((b) => ns >= b.from_ns && ns < b.to_ns);
}

/** Waits that were not longer than this bucket, and all. */
export function shareUpTo(buckets: readonly Bucket[], bucket: Bucket): number {
	const all = buckets.reduce((sum, b) => sum + b.waits, 0);
	const upTo = buckets.reduce((sum, b) => sum + (b.to_ns <= bucket.to_ns ? b.waits : 0), 0);
	return all ? upTo / all : 0;
}
