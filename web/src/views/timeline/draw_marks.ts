// SPDX-License-Identifier: MIT
// draw_marks: what is chosen: the frame around a slice, the marked range, the line at the pointer, and where a run
// begins, ends or has not come yet.
import { CALL_HEIGHT } from "./layout";
import type { Slice } from "./hit";
import { cssOf } from "./names";
import { rowY, type Picture } from "./picture";
import { toX, type Span } from "../../parts/scale";

function drawOutside(c: CanvasRenderingContext2D, p: Picture): void {
	let from = Infinity;
	let to = -Infinity;
	for (const s of p.sources) {
		if (!s.end) continue;
		from = Math.min(from, s.start + s.shift);
		to = Math.max(to, s.end + s.shift);
	}
	if (to < from) return;
	c.fillStyle = cssOf(p.line);
	c.globalAlpha = 0.35;
	const x0 = toX(p.span, p.width, from);
	const x1 = toX(p.span, p.width, to);
	if (x0 > 0) c.fillRect(0, 0, Math.min(p.width, x0), p.height);
	if (x1 < p.width) c.fillRect(Math.max(0, x1), 0, p.width - x1, p.height);
	c.globalAlpha = 1;
}

function drawRange(c: CanvasRenderingContext2D, p: Picture, mark: Span): void {
	const x0 = toX(p.span, p.width, mark.from);
	const x1 = toX(p.span, p.width, mark.to);
	c.fillStyle = p.accent;
	c.globalAlpha = 0.12;
	c.fillRect(x0, 0, x1 - x0, p.height);
	c.globalAlpha = 1;
	c.fillRect(x0, 0, p.ratio, p.height);
	c.fillRect(x1 - p.ratio, 0, p.ratio, p.height);
}

function drawSlice(c: CanvasRenderingContext2D, p: Picture, slice: Slice): void {
	const row = p.layout.byId.get(slice.rowId);
	if (!row) return;
	const y = rowY(p, row);
	if (!row.pinned && y + row.height < p.layout.pinnedHeight) return;
	const x0 = Math.max(-4, toX(p.span, p.width, slice.from));
	const x1 = Math.min(p.width + 4, toX(p.span, p.width, slice.to));
	const own = row.height - row.depth * CALL_HEIGHT;
	const h = (slice.depth === null ? own : CALL_HEIGHT) * p.ratio;
	const top = (y + (slice.depth === null ? 0 : own + slice.depth * CALL_HEIGHT)) * p.ratio;
	c.strokeStyle = p.accent;
	c.lineWidth = 2 * p.ratio;
	c.strokeRect(x0 - p.ratio, top + p.ratio, Math.max(3 * p.ratio, x1 - x0 + 2 * p.ratio), h - 2 * p.ratio);
}

export interface Marks {
	readonly mark: Span | null;
	readonly slice: Slice | null;
	readonly cursor: number | null;
}

export function drawMarks(c: CanvasRenderingContext2D, p: Picture, m: Marks): void {
	drawOutside(c, p);
	if (m.mark) drawRange(c, p, m.mark);
	if (m.slice) drawSlice(c, p, m.slice);
	if (m.cursor === null) return;
	c.fillStyle = p.accent;
	c.globalAlpha = 0.6;
	c.fillRect(Math.round(toX(p.span, p.width, m.cursor)), 0, 1, p.height);
	c.globalAlpha = 1;
}
