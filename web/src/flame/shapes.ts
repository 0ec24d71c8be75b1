// SPDX-License-Identifier: MIT
// shapes: a flame graph as a list of rectangles with colours, patterns and words. The canvas draws it, and so does
// the picture that is taken away; neither decides anything by itself.
import { inkOn } from "../parts/ink";
import type { Change } from "./change";
import { colorOfChange, SIGNS } from "./change";
import type { Box } from "./forest";
import type { Layout, Placed } from "./layout";

export const LEVEL_PX = 20;
export const FONT = "12px system-ui, 'Noto Sans JP', sans-serif";
const PAD_PX = 4;
const LEAST_TEXT_PX = 18;

export interface Shape {
	readonly box: Box;
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly fill: string;
	readonly ink: string;
	readonly text: string;
	/** Lines over the ground: rising, where something grew; falling, where it shrank; none. */
	readonly pattern: "rise" | "fall" | null;
	readonly dim: boolean;
	readonly found: boolean;
}

export interface Drawing {
	readonly layout: Layout;
	/** Levels from `from` on are drawn, as many as `height` has room for. */
	readonly from: number;
	readonly rows: number;
	readonly width: number;
	/** Levels in all, for one that grows from below. */
	readonly levels: number;
	readonly upward: boolean;
	/** A box's name as it is shown. */
	readonly title: (box: Box) => string;
	/** What is behind the name where there is room for both. */
	readonly figure: (box: Box) => string;
	readonly dark: boolean;
	readonly color: (box: Box) => string;
	readonly measureText: (text: string) => number;
	readonly found: ReadonlySet<Box> | null;
	readonly change: ((box: Box) => Change) | null;
}

/** Cut by halving: measuring is the expensive part. */
export function fitText(text: string, width: number, measureText: (t: string) => number): string {
	if (width < LEAST_TEXT_PX) return "";
	if (measureText(text) <= width) return text;
	const letters = [...text];
	let fits = 0;
	for (let step = 1 << Math.floor(Math.log2(letters.length || 1)); step >= 1; step >>= 1)
		if (fits + step < letters.length && measureText(`${letters.slice(0, fits + step).join("")}…`) <= width)
			fits += step;
	return fits ? `${letters.slice(0, fits).join("")}…` : "";
}

/** A level's row on the screen: a flame grows from below, an icicle from above. */
export function rowOf(level: number, levels: number, upward: boolean): number {
	return upward ? levels - 1 - level : level;
}

function textOf(d: Drawing, name: string, box: Box, width: number): string {
	const text = fitText(name, width, d.measureText);
	if (text !== name) return text;
	const both = `${name}   ${d.figure(box)}`;
	return d.measureText(both) <= width ? both : name;
}

function shapeOf(d: Drawing, placed: Placed): Shape {
	const { box } = placed;
	const change = d.change?.(box) ?? null;
	const found = d.found?.has(box) ?? false;
	const neutral = d.dark ? "#4a525b" : "#dfe4e9";
	const fill = change ? colorOfChange(change, d.dark) : box.parent && !box.others ? d.color(box) : neutral;
	const x = placed.x0 * d.width;
	const width = (placed.x1 - placed.x0) * d.width;
	const sign = change && change.kind !== "same" ? `${SIGNS[change.kind]} ` : "";
	const name = `${sign}${d.title(box)}`;
	return {
		box,
		x,
		y: (rowOf(placed.level, d.levels, d.upward) - d.from) * LEVEL_PX,
		width,
		fill,
		ink: inkOn(fill),
		text: textOf(d, name, box, width - 2 * PAD_PX),
		pattern: !change || change.kind === "same" ? null : change.degree > 0 ? "rise" : "fall",
		dim: placed.above || (d.found !== null && !found),
		found,
	};
}

export function shapesOf(d: Drawing): readonly Shape[] {
	const shapes: Shape[] = [];
	for (let row = Math.max(0, d.from); row < Math.min(d.levels, d.from + d.rows); row++) {
		const level = d.upward ? d.levels - 1 - row : row;
		for (const placed of d.layout.levels[level] ?? []) shapes.push(shapeOf(d, placed));
	}
	return shapes;
}
