// SPDX-License-Identifier: MIT
// picture: all that one frame is drawn from. It is the same object in every frame; whoever changes something sets
// its fields. Sizes are in pixels of the device, which is what canvases are painted in.
import type { Calls } from "./calls";
import type { Detail } from "./decode";
import type { Layout, Row } from "./layout";
import { rowAt } from "./layout";
import type { Overview } from "./overview";
import type { Inks } from "./patterns";
import type { Span } from "../../parts/scale";
import type { Source } from "./source";
import { coverSpan, levelOf, tileLength, type Piece } from "./tiles";

/** What a source is drawn with; kept until the view leaves these tiles or a new one comes. */
export interface Cover {
	details: readonly Piece<Detail>[];
	overviews: readonly Piece<Overview>[];
	calls: readonly Piece<Calls>[];
	/** Details leave nothing of the view to the overview. */
	isWhole: boolean;
}

export interface Picture {
	span: Span;
	width: number;
	height: number;
	ratio: number; /* pixels of the device for one of the style sheet */
	scrollTop: number; /* of the style sheet */
	layout: Layout;
	sources: readonly Source[];
	covers: readonly Cover[];
	inks: Inks;
	raised: number;
	line: number;
	text: string;
	quiet: string;
	accent: string;
	font: string;
}

function isWhole(details: readonly Piece<Detail>[], view: Span): boolean {
	let at = view.from;
	for (const piece of details) {
		if (piece.from > at) return false;
		at = Math.max(at, Math.min(piece.to, piece.tile.to));
	}
	return at >= view.to;
}

export function makeCover(source: Source, axis: Span): Cover {
	const view = source.local(axis);
	const level = levelOf(view.to - view.from);
	const clipped = { from: Math.max(view.from, source.start), to: Math.min(view.to, source.end) };
	if (clipped.to <= clipped.from) return { details: [], overviews: [], calls: [], isWhole: true };
	const details = coverSpan(source.details, clipped, level);
	const whole = isWhole(details, clipped);
	const overviews = whole ? [] : [...coverSpan(source.overviews, clipped, level)];
	if (source.whole && !whole)
		overviews.unshift({ from: source.start, to: source.end + 1, tile: source.whole });
	const calls = source.calls.flatMap((c) => coverSpan(c.tiles, clipped, level));
	return { details, overviews, calls, isWhole: whole };
}

/** Says when covers have to be made again: the tiles in sight, as one text. */
export function coverKey(source: Source, axis: Span, arrivals: number): string {
	const view = source.local(axis);
	const level = levelOf(view.to - view.from);
	const length = tileLength(level);
	return `${level}/${Math.floor(view.from / length)}/${Math.ceil(view.to / length)}/${arrivals}`;
}

/** Where a row is, in pixels of the style sheet below the canvas's top. */
export function rowY(p: Picture, row: Row): number {
	return row.pinned ? row.top : p.layout.pinnedHeight + row.top - p.scrollTop;
}

/** Calls for every row in sight: the pinned ones, then the others. */
export function forRows(p: Picture, call: (row: Row, y: number) => void): void {
	for (const row of p.layout.pinned) call(row, row.top);
	const { rows, pinnedHeight } = p.layout;
	const bottom = p.height / p.ratio;
	for (let i = Math.max(0, rowAt(rows, p.scrollTop)); i < rows.length; i++) {
		const row = rows[i];
		if (!row) break;
		const y = pinnedHeight + row.top - p.scrollTop;
		if (y >= bottom) break;
		call(row, y);
	}
}

/** The row at a height of the canvas, in pixels of the style sheet. */
export function rowUnder(p: Picture, y: number): Row | undefined {
	const { layout } = p;
	if (y < layout.pinnedHeight) return layout.pinned[rowAt(layout.pinned, y)];
	return layout.rows[rowAt(layout.rows, y - layout.pinnedHeight + p.scrollTop)];
}
