// SPDX-License-Identifier: MIT
// draw_arrows: wakeups as arrows from whoever woke to whoever was woken: from the waker's row at that moment to the
// row of the woken task where it ran. Thousands of them would say nothing, so above a number only those of the
// chosen task are drawn.
import type { ChainStep } from "../../api/timeline";
import type { Detail } from "./decode";
import type { Row } from "./layout";
import { rowY, type Picture } from "./picture";
import { findEnd } from "./quantise";
import { toX } from "./scale";
import type { Source } from "./source";

export const ARROWS_MAX = 250;
export type Arrows = "near" | "all" | "none";

export interface Ends {
	x0: number;
	y0: number;
	x1: number;
	y1: number;
}
const ends: Ends = { x0: 0, y0: 0, x1: 0, y1: 0 };

export function drawArrow(c: CanvasRenderingContext2D, e: Ends, ratio: number): void {
	const dy = e.y1 - e.y0;
	const bend = Math.min(24 * ratio, Math.max(6 * ratio, Math.abs(e.x1 - e.x0) / 2));
	c.beginPath();
	c.moveTo(e.x0, e.y0);
	c.bezierCurveTo(e.x0 + bend, e.y0 + dy * 0.2, e.x1 - bend, e.y1 - dy * 0.2, e.x1, e.y1);
	c.stroke();
	const size = 4 * ratio;
	c.beginPath();
	c.moveTo(e.x1 + size / 2, e.y1);
	c.lineTo(e.x1 - size, e.y1 - size);
	c.lineTo(e.x1 - size, e.y1 + size);
	c.fill();
}

function middleOf(p: Picture, row: Row): number {
	return (rowY(p, row) + Math.min(row.height, 22) / 2) * p.ratio;
}

function isInSight(p: Picture, row: Row): boolean {
	const y = rowY(p, row);
	return row.pinned || (y + row.height > p.layout.pinnedHeight && y < p.height / p.ratio);
}

/** The row of a task; if it is hidden, that of its process; else its CPU. */
function rowOf(p: Picture, source: Source, pid: number, cpu: number): Row | undefined {
	const { byId } = p.layout;
	const run = source.run.run;
	const task = byId.get(`${run}.t${pid}`);
	if (task) return task;
	const tgid = source.tasks.byPid.get(pid)?.tgid ?? pid;
	return byId.get(`${run}.p${tgid}`) ?? byId.get(`${run}.c${cpu}`);
}

function countWakeups(p: Picture): number {
	let sum = 0;
	p.covers.forEach((cover, i) => {
		const source = p.sources[i];
		if (!source) return;
		for (const { tile, from, to } of cover.details) {
			const lo = Math.max(p.span.from - source.shift, from) - tile.from;
			const hi = Math.min(p.span.to - source.shift, to) - tile.from;
			sum +=
				findEnd(tile.wakeAt, 0, tile.wakeAt.length, hi) - findEnd(tile.wakeAt, 0, tile.wakeAt.length, lo);
		}
	});
	return sum;
}

function drawTile(
	c: CanvasRenderingContext2D,
	p: Picture,
	source: Source,
	tile: Detail,
	range: { from: number; to: number },
	only: number,
): void {
	const last = findEnd(tile.wakeAt, 0, tile.wakeAt.length, range.to - tile.from);
	let drawn = 0;
	for (let i = findEnd(tile.wakeAt, 0, tile.wakeAt.length, range.from - tile.from); i < last; i++) {
		const woken = tile.pid[tile.woken[i] ?? 0] ?? -1;
		const waker = (tile.waker[i] ?? -1) < 0 ? -1 : (tile.pid[tile.waker[i] ?? 0] ?? -1);
		if (only >= 0 && woken !== only && waker !== only) continue;
		const cpu = tile.wakeCpu[i] ?? 0;
		const fromRow = rowOf(p, source, waker, cpu);
		const toRow = rowOf(p, source, woken, cpu);
		if (!fromRow || !toRow || fromRow === toRow || !(isInSight(p, fromRow) && isInSight(p, toRow))) continue;
		const at = tile.from + (tile.wakeAt[i] ?? 0) + source.shift;
		const ran = tile.wakeRan[i] ?? -1;
		ends.x0 = toX(p.span, p.width, at);
		ends.y0 = middleOf(p, fromRow);
		ends.x1 = toX(p.span, p.width, ran < 0 ? at : tile.from + ran + source.shift);
		ends.y1 = middleOf(p, toRow);
		drawArrow(c, ends, p.ratio);
		if (++drawn >= ARROWS_MAX) return;
	}
}

/** `chosen`: source and pid of the selected task, if there is one. */
export function drawArrows(
	c: CanvasRenderingContext2D,
	p: Picture,
	mode: Arrows,
	chosen: { source: number; pid: number } | null,
): void {
	if (mode === "none") return;
	const few = mode === "all" && countWakeups(p) <= ARROWS_MAX;
	if (!few && !chosen) return;
	c.strokeStyle = c.fillStyle = p.text;
	c.globalAlpha = 0.75;
	c.lineWidth = p.ratio;
	p.covers.forEach((cover, i) => {
		const source = p.sources[i];
		if (!source || (!few && chosen?.source !== i)) return;
		for (const piece of cover.details) {
			const range = {
				from: Math.max(p.span.from - source.shift, piece.from),
				to: Math.min(p.span.to - source.shift, piece.to),
			};
			drawTile(c, p, source, piece.tile, range, few ? -1 : (chosen?.pid ?? -1));
		}
	});
	c.globalAlpha = 1;
}

/** The wakeups that led to a moment, in the accent's colour and numbered as in the list. */
export function drawChain(
	c: CanvasRenderingContext2D,
	p: Picture,
	source: Source,
	steps: readonly ChainStep[],
): void {
	c.strokeStyle = c.fillStyle = p.accent;
	c.lineWidth = 2 * p.ratio;
	c.font = p.font;
	c.textBaseline = "middle";
	steps.forEach((step, i) => {
		const toRow = rowOf(p, source, step.pid, step.cpu ?? -1);
		const fromRow = rowOf(p, source, step.waker_pid ?? -1, step.waker_cpu ?? -1);
		if (!toRow || !fromRow) return;
		ends.x0 = toX(p.span, p.width, step.woken_ns + source.shift);
		ends.x1 = toX(p.span, p.width, (step.ran_ns ?? step.woken_ns) + source.shift);
		if (ends.x1 < -50 || ends.x0 > p.width + 50) return;
		ends.y0 = middleOf(p, fromRow);
		ends.y1 = middleOf(p, toRow);
		drawArrow(c, ends, p.ratio);
		c.fillText(String(i + 1), ends.x1 + 6 * p.ratio, ends.y1 - 6 * p.ratio);
	});
}
