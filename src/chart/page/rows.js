// SPDX-License-Identifier: MIT
// rows: how the rows of processes are drawn: names, bars, ends, what is folded, forks, the path, what differs.
import { BAR, INDENT, ROW, THIN, clipText, drawGlyph, drawWhisker, viewOf, xOf } from "./canvas.js";
import { eachRun, pixelsOf } from "./layout.js";
import { MS, RUNNING, SLEEPING, ZOMBIE } from "./model.js";
import { formatDelta } from "./number.js";
import { fillOf, lineColour, signOf, stateSign } from "./theme.js";

/**
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Context2D} Context2D
 * @typedef {import("./types.js").Item} Item
 * @typedef {import("./types.js").Process} Process
 * @typedef {import("./types.js").Row} Row
 * @typedef {import("./types.js").View} View
 */

/** Whether a row has something to fold or unfold. @param {Chart} chart @param {Row} row */
export function canFold(chart, row) {
	return row.children > 0 || chart.folded.has(row.process);
}

/** Where the name of a row begins. @param {Row} row */
export function labelLeft(row) {
	return 20 + row.depth * INDENT;
}

/** @param {Chart} chart @param {Context2D} ctx @param {Row} row @param {number} y */
function drawFold(chart, ctx, row, y) {
	const x = labelLeft(row);
	ctx.fillStyle = chart.theme.soft;
	ctx.beginPath();
	if (chart.folded.has(row.process)) {
		ctx.moveTo(x - 10, y + 6);
		ctx.lineTo(x - 4, y + 10);
		ctx.lineTo(x - 10, y + 14);
	} else {
		ctx.moveTo(x - 11, y + 7);
		ctx.lineTo(x - 3, y + 7);
		ctx.lineTo(x - 7, y + 13);
	}
	ctx.fill();
}

/** @param {Chart} chart @param {Context2D} ctx @param {Row} row @param {number} y */
function drawLabel(chart, ctx, row, y) {
	const p = row.process, base = y + 14, hit = chart.hits.has(p), { theme } = chart;
	let x = labelLeft(row);
	const room = () => chart.label - 12 - x;
	if (hit || p === chart.selected) {
		ctx.fillStyle = hit ? theme.hit : theme.row;
		ctx.fillRect(0, y, chart.label - 2, ROW);
	}
	if (p === chart.selected) {
		ctx.fillStyle = theme.accent;
		ctx.fillRect(0, y, 3, ROW);
	}
	if (canFold(chart, row))
		drawFold(chart, ctx, row, y);
	ctx.textAlign = "left";
	ctx.font = p.is_kernel ? "italic " + theme.font : theme.bold;
	ctx.fillStyle = p.is_self ? lineColour(chart, "self") : p.is_kernel ? lineColour(chart, "kernel") : theme.text;
	x += clipText(ctx, (p.is_self ? "◉ " : "") + (p.is_kernel ? "[" + p.comm + "]" : p.comm), x, base, room()) + 6;
	ctx.font = theme.small;
	ctx.fillStyle = theme.faint;
	x += clipText(ctx, String(p.pid), x, base, room()) + 6;
	if (row.folded.length) {
		ctx.fillStyle = signOf(chart, "folded").colour;
		x += clipText(ctx, "+" + row.folded.length, x, base, room()) + 6;
	}
	ctx.fillStyle = theme.soft;
	clipText(ctx, p.args, x, base, room());
}

/** @param {Chart} chart @param {Context2D} ctx @param {View} view @param {Process} p @param {number} y */
function drawBar(chart, ctx, view, p, y) {
	eachRun(view, p, (a, b, state, level) => {
		const h = state === SLEEPING || state === ZOMBIE ? THIN : BAR;
		ctx.fillStyle = state === RUNNING ? chart.ramp[level] : fillOf(chart, ctx, stateSign(state));
		ctx.fillRect(chart.label + a, y + (ROW - h) / 2, b - a, h);
		if (state === ZOMBIE && chart.theme.dark) {
			ctx.strokeStyle = "#8a8a8a";
			ctx.lineWidth = 1;
			ctx.strokeRect(chart.label + a + .5, y + (ROW - h) / 2 + .5, Math.max(0, b - a - 1), h - 1);
		}
	});
}

/** How far a start or an end may be off. @param {Chart} chart @param {Context2D} ctx @param {{ view: View, ns: number, error: number }} of @param {number} y */
function drawError(chart, ctx, { view, ns, error }, y) {
	const half = error / (view.to - view.from) * view.width, x = xOf(view, ns);
	if (half < 2 || x < 0 || x > view.width)
		return;
	drawWhisker(chart, ctx, chart.label + Math.max(0, x - half), chart.label + Math.min(view.width, x + half), y + ROW / 2);
}

/** @param {Chart} chart @param {Context2D} ctx @param {View} view @param {Process} p @param {number} y */
function drawEnds(chart, ctx, view, p, y) {
	const px = pixelsOf(view, p.from, p.to);
	if (!px)
		return;
	if (p.was_there && p.from >= view.from)
		drawGlyph(chart, ctx, "before", chart.label + px[0] - 8, y);
	else if (!p.was_there)
		drawError(chart, ctx, { view, ns: p.from, error: p.from_error_ns }, y);
	if (p.is_alive) {
		if (p.to <= view.to)
			drawGlyph(chart, ctx, "alive", chart.label + px[1] + 1, y);
		return;
	}
	drawError(chart, ctx, { view, ns: p.to, error: p.to_error_ns }, y);
	if (p.exit_code > 0 && p.to <= view.to)
		drawGlyph(chart, ctx, "failed", chart.label + px[1] + 2, y);
}

/** Where the same process was in the first boot. @param {Chart} chart @param {Context2D} ctx @param {Row} row @param {number} y */
function drawGhost(chart, ctx, row, y) {
	const pair = chart.pairOf[1].get(row.process.index), first = pair && chart.boots[0].processes[pair.a];
	if (!first)
		return;
	const off = row.boot.base - chart.boots[0].base, ghost = pixelsOf(viewOf(chart, row.boot), first.from + off, first.to + off);
	if (!ghost)
		return;
	ctx.strokeStyle = signOf(chart, "ghost").colour;
	ctx.lineWidth = 1;
	ctx.setLineDash([2, 2]);
	ctx.strokeRect(chart.label + ghost[0] + .5, y + 2.5, ghost[1] - ghost[0], ROW - 5);
	ctx.setLineDash([]);
}

/** @param {Chart} chart @param {Context2D} ctx @param {Row} row @param {number} y */
function drawDifference(chart, ctx, row, y) {
	const pair = chart.pairOf[row.boot.index ? 1 : 0].get(row.process.index), { from } = row.process, view = viewOf(chart, row.boot);
	if (!pair)
		return;
	if (pair.a < 0 || pair.b < 0) {
		drawGlyph(chart, ctx, pair.a < 0 ? "new" : "gone", chart.label - 13, y);
		return;
	}
	if (!row.boot.index)
		return;
	drawGhost(chart, ctx, row, y);
	if (Math.abs(pair.start) < Math.max(MS, 2 * (view.to - view.from) / view.width))
		return;
	const px = pixelsOf(view, Math.min(from, from - pair.start), Math.max(from, from - pair.start));
	ctx.fillStyle = signOf(chart, pair.start > 0 ? "later" : "earlier").colour;
	if (px)
		ctx.fillRect(chart.label + px[0], y + ROW - 4, px[1] - px[0], 3);
	ctx.font = chart.theme.small;
	ctx.textAlign = "right";
	ctx.fillText(formatDelta(pair.start), chart.label - 8, y + 14);
	ctx.textAlign = "left";
}

/** @param {Chart} chart @param {Context2D} ctx @param {Row} row @param {number} y */
function drawFolded(chart, ctx, row, y) {
	const view = viewOf(chart, row.boot);
	ctx.fillStyle = signOf(chart, "folded").colour;
	for (const p of row.folded) {
		const px = pixelsOf(view, p.from, p.to);
		if (px)
			ctx.fillRect(chart.label + px[0], y + ROW - 3, px[1] - px[0], 2);
	}
}

/** Lines from a process to its parent. @param {Chart} chart @param {Context2D} ctx @param {number} top @param {number} height */
export function drawForks(chart, ctx, top, height) {
	ctx.strokeStyle = chart.theme.fork;
	ctx.lineWidth = 1;
	ctx.setLineDash([1, 2]);
	ctx.beginPath();
	for (const row of chart.processRows) {
		if (!row.item || !row.above || row.process.was_there)
			continue;
		const view = viewOf(chart, row.boot), x = xOf(view, row.process.from), a = row.above.y - top + ROW / 2, b = row.item.y - top + ROW / 2;
		if (x < 0 || x > view.width || Math.max(a, b) < 0 || Math.min(a, b) > height)
			continue;
		ctx.moveTo(Math.round(chart.label + x) + .5, a);
		ctx.lineTo(Math.round(chart.label + x) + .5, b);
	}
	ctx.stroke();
	ctx.setLineDash([]);
}

/** @param {Chart} chart @param {Context2D} ctx @param {number} top */
export function drawPath(chart, ctx, top) {
	const { path } = chart;
	if (!path)
		return;
	const view = viewOf(chart, path.boot);
	/** @type {Item | null} */
	let last = null;
	ctx.strokeStyle = lineColour(chart, "path");
	ctx.lineWidth = 2;
	for (const step of path.steps) {
		const item = path.boot.rows[path.boot.rowOf[step.process.index]]?.item ?? null, px = pixelsOf(view, step.from, step.to);
		if (item && px) {
			const y = item.y - top;
			ctx.setLineDash(step.inferred ? [4, 3] : []);
			ctx.strokeRect(chart.label + px[0], y + 2, px[1] - px[0], ROW - 4);
			if (last && last !== item) {
				ctx.beginPath();
				ctx.moveTo(chart.label + px[0], last.y - top + ROW / 2);
				ctx.lineTo(chart.label + px[0], y + ROW / 2);
				ctx.stroke();
			}
		}
		last = item || last;
	}
	ctx.setLineDash([]);
}

/** @param {Chart} chart @param {Context2D} ctx @param {Row} row @param {number} y */
export function drawRow(chart, ctx, row, y) {
	const view = viewOf(chart, row.boot), p = row.process;
	if (p === chart.selected || chart.hits.has(p)) {
		ctx.fillStyle = p === chart.selected ? chart.theme.row : chart.theme.hit;
		ctx.globalAlpha = .6;
		ctx.fillRect(chart.label, y, chart.plot, ROW);
		ctx.globalAlpha = 1;
	}
	drawBar(chart, ctx, view, p, y);
	drawFolded(chart, ctx, row, y);
	drawEnds(chart, ctx, view, p, y);
	drawLabel(chart, ctx, row, y);
	if (chart.boots.length > 1)
		drawDifference(chart, ctx, row, y);
}
