// SPDX-License-Identifier: MIT
// paint: columns into pixels. Rows are painted straight into memory and shown at once, because a million pixels are
// written in a few milliseconds, while tens of thousands of rectangles are not, least of all without a GPU.
import { KIND_NAME } from "./feed";
import { mix } from "./names";
import { SIDE } from "../../parts/pattern";
import type { Inks } from "./patterns";
import {
	CLASS_BLOCKED,
	CLASS_PREEMPTED,
	CLASS_RUN,
	CLASS_UNKNOWN,
	CLASS_WAIT,
	CLASSES,
	NOTHING,
	SHARED,
	type Columns,
} from "./quantise";

export interface Paper {
	readonly pixels: Uint32Array;
	readonly width: number;
	readonly height: number;
}

const EDGE = 0.62;
const NARROW = 24;
/** From the bottom of a bar to its top: the class and the state whose ink it has. */
const STACK: readonly (readonly [number, number])[] = [
	[CLASS_RUN, 1],
	[CLASS_PREEMPTED, 3],
	[CLASS_WAIT, 2],
	[CLASS_BLOCKED, 5],
	[CLASS_UNKNOWN, 0],
];

/** One colour over a rectangle, cut to the paper. */
export function paintBox(p: Paper, x0: number, x1: number, y0: number, y1: number, colour: number): void {
	x0 = Math.max(0, x0);
	x1 = Math.min(p.width, x1);
	if (x1 <= x0) return;
	const { pixels, width } = p;
	const last = Math.min(p.height, y1);
	/* A call for a handful of pixels costs more than the pixels. */
	if (x1 - x0 < NARROW)
		for (let y = Math.max(0, y0); y < last; y++)
			for (let at = y * width + x0, end = y * width + x1; at < end; at++) pixels[at] = colour;
	else for (let y = Math.max(0, y0); y < last; y++) pixels.fill(colour, y * width + x0, y * width + x1);
}

function paintPattern(
	p: Paper,
	inks: Inks,
	state: number,
	x0: number,
	x1: number,
	y0: number,
	y1: number,
): void {
	for (let y = Math.max(0, y0); y < Math.min(p.height, y1); y++) {
		const row = state * SIDE * SIDE + (y & (SIDE - 1)) * SIDE;
		const at = y * p.width;
		for (let x = x0; x < x1; x++) p.pixels[at + x] = inks.pixels[row + (x & (SIDE - 1))] ?? 0;
	}
}

function paintState(p: Paper, inks: Inks, state: number, x0: number, x1: number, y: number, h: number): void {
	const share = inks.height[state] ?? 0;
	if (share <= 0) return;
	const top = y + h - Math.max(1, Math.round(share * h));
	if (inks.isSolid[state]) paintBox(p, x0, x1, top, y + h, inks.colour[state] ?? 0);
	else paintPattern(p, inks, state, x0, x1, top, y + h);
}

/** Where bars of the same height end. */
function endOfBar(c: Columns, x: number): number {
	let end = x + 1;
	for (; end < c.width && c.lookAt(end) === SHARED && c.most[end] === c.most[x]; end++)
		for (let k = 0; k < CLASSES; k++) if (c.sum[end * CLASSES + k] !== c.sum[x * CLASSES + k]) return end;
	return end;
}

function paintBar(
	p: Paper,
	inks: Inks,
	c: Columns,
	box: { readonly x: number; readonly end: number; readonly y: number; readonly h: number },
	names: Uint32Array,
): void {
	const { x, end, y, h } = box;
	const most = (c.most[x] ?? NOTHING) - 1;
	let bottom = y + h;
	for (const [cls, state] of STACK) {
		const share = c.sum[x * CLASSES + cls] ?? 0;
		if (share <= 0) continue;
		const top = Math.max(y, bottom - Math.max(1, Math.round(Math.min(1, share) * h)));
		if (cls === CLASS_RUN && most >= KIND_NAME)
			paintBox(p, x, end, top, bottom, names[most - KIND_NAME] ?? 0);
		else if (cls === CLASS_RUN) paintBox(p, x, end, top, bottom, inks.colour[state] ?? 0);
		else paintPattern(p, inks, state, x, end, top, bottom);
		bottom = top;
		if (bottom <= y) return;
	}
}

/** A row of columns, h pixels high. */
export function paintColumns(
	p: Paper,
	inks: Inks,
	c: Columns,
	edges: Uint8Array,
	names: Uint32Array,
	box: { readonly y: number; readonly h: number },
): void {
	const { y, h } = box;
	const bar = { x: 0, end: 0, y, h };
	for (let x = 0; x < c.width;) {
		const look = c.lookAt(x);
		if (look === NOTHING) {
			x++;
			continue;
		}
		let end = x + 1;
		if (look === SHARED) {
			end = endOfBar(c, x);
			bar.x = x;
			bar.end = end;
			paintBar(p, inks, c, bar, names);
			x = end;
			continue;
		}
		while (end < c.width && c.lookAt(end) === look && !edges[end]) end++;
		const kind = look - 1;
		if (kind < KIND_NAME) paintState(p, inks, kind, x, end, y, h);
		else {
			const colour = names[kind - KIND_NAME] ?? 0;
			paintBox(p, x, end, y, y + h, colour);
			if (edges[x]) paintBox(p, x, x + 1, y, y + h, mix(colour, inks.ground, EDGE));
		}
		x = end;
	}
}
