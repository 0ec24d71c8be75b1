// SPDX-License-Identifier: MIT
// draw_arrows: wakeups as arrows from whoever woke to whoever was woken: from the waker's row at that moment to the
// row of the woken task where it ran. Thousands of them would say nothing, so above a number only those of the
// chosen task are drawn.
import type { ChainStep } from "../../api/timeline";
import type { Detail } from "./decode";
import type { Row } from "./layout";
import { rowY, type Picture } from "./picture";
import { findEnd } from "./quantise";
import { toX, type Span } from "../../parts/scale";
import type { Source } from "./source";

export const ARROWS_MAX = 250;
/** Up to this many of the chosen task are drawn; of more only those of the chosen slice. */
export const OWN_MAX = 60;
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

/** Wakeups in sight: all (-1), or those of a task. */
function countWakeups(p: Picture, pid: number): number {
	let sum = 0;
	p.covers.forEach((cover, k) => {
		const source = p.sources[k];
		if (!source) return;
		for (const { tile, from, to } of cover.details) {
			const lo = Math.max(p.span.from - source.shift, from) - tile.from;
			const hi = Math.min(p.span.to - source.shift, to) - tile.from;
			const first = findEnd(tile.wakeAt, 0, tile.wakeAt.length, lo);
			const last = findEnd(tile.wakeAt, 0, tile.wakeAt.length, hi);
			if (pid < 0) sum += last - first;
			else
				for (const task of source.index(tile).byPid.get(pid) ?? [])
					for (let i = first; i < last; i++) if (tile.woken[i] === task || tile.waker[i] === task) sum++;
		}
	});
	return sum;
}

/** Whose arrows are drawn: -1: all. With a slice: those that led to it, and those that start in it. */
export interface Choice {
	readonly pid: number;
	readonly slice: Span | null;
}

export function isChosen(source: Source, tile: Detail, i: number, choice: Choice): boolean {
	if (choice.pid < 0) return true;
	const woken = tile.pid[tile.woken[i] ?? 0];
	const waker = (tile.waker[i] ?? -1) < 0 ? -1 : tile.pid[tile.waker[i] ?? 0];
	const { slice } = choice;
	if (!slice) return woken === choice.pid || waker === choice.pid;
	const origin = tile.from + source.shift;
	const at = origin + (tile.wakeAt[i] ?? 0);
	if (waker === choice.pid) return at >= slice.from && at < slice.to;
	const ran = (tile.wakeRan[i] ?? -1) < 0 ? -1 : origin + (tile.wakeRan[i] ?? 0);
	return woken === choice.pid && (ran === slice.from || at === slice.from);
}

function drawTile(
	c: CanvasRenderingContext2D,
	p: Picture,
	source: Source,
	piece: { readonly tile: Detail } & Span,
	choice: Choice,
): void {
	const { tile } = piece;
	const last = findEnd(
		tile.wakeAt,
		0,
		tile.wakeAt.length,
		Math.min(p.span.to - source.shift, piece.to) - tile.from,
	);
	const first = Math.max(p.span.from - source.shift, piece.from) - tile.from;
	let drawn = 0;
	for (let i = findEnd(tile.wakeAt, 0, tile.wakeAt.length, first); i < last; i++) {
		if (!isChosen(source, tile, i, choice)) continue;
		const waker = tile.waker[i] ?? -1;
		const cpu = tile.wakeCpu[i] ?? 0;
		const fromRow = rowOf(p, source, waker < 0 ? -1 : (tile.pid[waker] ?? -1), cpu);
		const toRow = rowOf(p, source, tile.pid[tile.woken[i] ?? 0] ?? -1, cpu);
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

/** `chosen`: source, pid and place of the selected slice, if there is one. */
export function drawArrows(
	c: CanvasRenderingContext2D,
	p: Picture,
	mode: Arrows,
	chosen: { readonly source: number; readonly pid: number; readonly slice: Span } | null,
): void {
	if (mode === "none") return;
	const few = mode === "all" && countWakeups(p, -1) <= ARROWS_MAX;
	if (!few && !chosen) return;
	const own = !few && chosen ? countWakeups(p, chosen.pid) : 0;
	const choice: Choice = {
		pid: few ? -1 : (chosen?.pid ?? -1),
		slice: own > OWN_MAX ? (chosen?.slice ?? null) : null,
	};
	c.strokeStyle = c.fillStyle = p.text;
	c.globalAlpha = 0.75;
	c.lineWidth = p.ratio;
	p.covers.forEach((cover, i) => {
		const source = p.sources[i];
		if (!source || (!few && chosen?.source !== i)) return;
		for (const piece of cover.details) drawTile(c, p, source, piece, choice);
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
