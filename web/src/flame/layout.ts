// SPDX-License-Identifier: MIT
// layout: where the boxes of a flame graph are: level by level, and from 0 to 1 in width.
//
// A box that is zoomed into has the whole width, and so has everything above it; children stand in the order
// of their values, the largest first, and what is left of their parent's width is its own. Boxes narrower than
// `least` are left out with all below them, so that the work depends on what can be seen and not on the trace.
import type { Box, Forest } from "./forest";

export interface Placed {
	readonly box: Box;
	readonly x0: number;
	readonly x1: number;
	readonly level: number;
	/** A caller of what is zoomed into: its width says nothing. */
	readonly above: boolean;
}

export interface Layout {
	/** By level, and in each from left to right. */
	readonly levels: readonly (readonly Placed[])[];
	readonly places: ReadonlyMap<Box, Placed>;
}

export type ChildOrder = "value" | "name";

function ordered(children: readonly Box[], values: Float64Array, order: ChildOrder): readonly Box[] {
	const value = (b: Box): number => values[b.index] ?? 0;
	return children.toSorted((a, b) =>
		order === "name" ? (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) : value(b) - value(a),
	);
}

export function layOut(
	forest: Forest,
	values: Float64Array,
	zoom: Box | null,
	least: number,
	order: ChildOrder = "value",
): Layout {
	const levels: Placed[][] = [];
	const places = new Map<Box, Placed>();
	const put = (placed: Placed): void => {
		(levels[placed.level] ??= []).push(placed);
		places.set(placed.box, placed);
	};
	const top = zoom ?? forest.root;
	for (let b = top.parent; b; b = b.parent) put({ box: b, x0: 0, x1: 1, level: b.depth, above: true });
	put({ box: top, x0: 0, x1: 1, level: top.depth, above: false });
	// Level by level: the lists come out from left to right, and a deep trace needs no deep stack.
	for (let level = top.depth; levels[level]?.length; level++)
		for (const { box, x0, x1 } of levels[level] ?? []) {
			const scale = (x1 - x0) / (values[box.index] || 1);
			let x = x0;
			for (const child of ordered(box.children, values, order)) {
				const width = (values[child.index] ?? 0) * scale;
				if (width < least || width <= 0) continue;
				put({ box: child, x0: x, x1: x + width, level: level + 1, above: false });
				x += width;
			}
		}
	return { levels, places };
}

/** The box at a place; by halving, since a level may have thousands. */
export function findAt(layout: Layout, level: number, x: number): Placed | null {
	const list = layout.levels[level];
	if (!list) return null;
	let from = 0;
	let to = list.length;
	while (from < to) {
		const middle = (from + to) >> 1;
		const placed = list[middle];
		if (!placed) return null;
		if (x >= placed.x1) from = middle + 1;
		else to = middle;
	}
	const found = list[from];
	return found && x >= found.x0 && x < found.x1 ? found : null;
}

export type Direction = "parent" | "child" | "left" | "right" | "first" | "last";

/** Where a key leads from a box; the box itself if there is nothing. */
export function stepFrom(layout: Layout, from: Box, to: Direction): Box {
	const here = layout.places.get(from);
	if (!here) return layout.levels.find((l) => l?.length)?.[0]?.box ?? from;
	const list = layout.levels[here.level] ?? [];
	const at = list.indexOf(here);
	switch (to) {
		case "parent":
			return from.parent ?? from;
		case "child":
			return (layout.levels[here.level + 1] ?? []).find((p) => p.box.parent === from)?.box ?? from;
		case "left":
			return list[at - 1]?.box ?? from;
		case "right":
			return list[at + 1]?.box ?? from;
		case "first":
			return list[0]?.box ?? from;
		case "last":
			return list[list.length - 1]?.box ?? from;
	}
}
