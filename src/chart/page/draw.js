// SPDX-License-Identifier: MIT
// draw: the two canvases: the head (axis, and the machine's rows where there is one boot) and the rows that scroll. Only
// what is in sight is drawn, pixel by pixel, so it does not matter how much there is.
import { AXIS, prepare, viewOf, xOf } from "./canvas.js";
import { axisStep, pixelsOf } from "./layout.js";
import { LINES, drawMachine } from "./machine.js";
import { drawForks, drawPath, drawRow } from "./rows.js";
import { fillOf, lineColour, signOf } from "./theme.js";
import { formatTime } from "./number.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Context2D} Context2D
 * @typedef {import("./types.js").Item} Item
 * @typedef {import("./types.js").View} View
 */

const STEP_LEAST = 90; // pixels between two lines of the axis

/** @param {View} view @param {number} base @param {number} step */
function ticksOf(view, base, step) {
	const out = [];
	for (let ns = Math.ceil((view.from - base) / step) * step; ns <= view.to - base; ns += step)
		out.push(ns);
	return out;
}

/** @param {Chart} chart @param {Context2D} ctx */
function drawAxis(chart, ctx) {
	const view = { ...chart.view, width: chart.plot }, step = axisStep(view.to - view.from, view.width, STEP_LEAST);
	ctx.font = chart.theme.small;
	ctx.textAlign = "center";
	ctx.fillStyle = chart.theme.soft;
	ctx.strokeStyle = chart.theme.line;
	for (const ns of ticksOf(view, 0, step)) {
		const x = chart.label + xOf(view, ns);
		ctx.fillText(formatTime(ns, step), Math.min(x, chart.label + chart.plot - 18), 15);
		ctx.fillRect(Math.round(x), 20, 1, 6);
	}
	ctx.textAlign = "left";
	ctx.fillStyle = chart.theme.faint;
	ctx.fillText(chart.say(chart.boots[0].base ? "sinceRecording" : "sinceKernel"), 12, 15);
}

/** Lines of the axis, and gaps, of one boot between two heights. @param {Chart} chart @param {Context2D} ctx @param {Boot} boot @param {number} y0 @param {number} y1 */
function drawGrid(chart, ctx, boot, y0, y1) {
	const view = viewOf(chart, boot), step = axisStep(view.to - view.from, view.width, STEP_LEAST);
	ctx.fillStyle = chart.theme.line;
	for (const ns of ticksOf(view, boot.base, step))
		ctx.fillRect(Math.round(chart.label + xOf(view, ns + boot.base)), y0, 1, y1 - y0);
	for (const gap of boot.gaps) {
		const px = pixelsOf(view, gap.from_ns, gap.to_ns);
		if (!px)
			continue;
		ctx.fillStyle = fillOf(chart, ctx, "gap");
		ctx.globalAlpha = .55;
		ctx.fillRect(chart.label + px[0], y0, px[1] - px[0], y1 - y0);
		ctx.globalAlpha = 1;
	}
}

/** Marks that concern everybody. @param {Chart} chart @param {Context2D} ctx @param {Boot} boot @param {number} y0 @param {number} y1 */
function drawLines(chart, ctx, boot, y0, y1) {
	const view = viewOf(chart, boot);
	for (const m of boot.marks) {
		if (!LINES.includes(m.type) || m.ns < view.from || m.ns > view.to)
			continue;
		const x = Math.round(chart.label + xOf(view, m.ns)) + .5;
		ctx.strokeStyle = lineColour(chart, m.type);
		ctx.lineWidth = m.type === "target" ? 1.6 : 1;
		ctx.setLineDash(signOf(chart, m.type).shape === "dash" ? [4, 3] : []);
		ctx.beginPath();
		ctx.moveTo(x, y0);
		ctx.lineTo(x, y1);
		ctx.stroke();
		ctx.setLineDash([]);
	}
}

/** @param {Chart} chart @param {Context2D} ctx @param {Item[]} items @param {number} top @param {number} height */
function drawItems(chart, ctx, items, top, height) {
	for (const item of items) {
		const y = item.y - top;
		if (y + item.h < 0 || y > height)
			continue;
		if (item.row)
			drawRow(chart, ctx, item.row, y);
		else
			drawMachine(chart, ctx, item, y);
	}
}

/** The pointer's time, through everything. @param {Chart} chart @param {Context2D} ctx @param {number} y0 @param {number} y1 */
function drawCursor(chart, ctx, y0, y1) {
	if (chart.cursor === null)
		return;
	const x = chart.label + xOf({ ...chart.view, width: chart.plot }, chart.cursor);
	if (x < chart.label)
		return;
	ctx.fillStyle = chart.theme.accent;
	ctx.globalAlpha = .5;
	ctx.fillRect(Math.round(x), y0, 1, y1 - y0);
	ctx.globalAlpha = 1;
}

/** @param {Chart} chart */
function drawHead(chart) {
	const height = AXIS + chart.pinnedHeight, ctx = prepare(chart.frame.head, chart.width, height);
	drawAxis(chart, ctx);
	if (chart.pinned.length)
		drawGrid(chart, ctx, chart.boots[0], AXIS, height);
	drawItems(chart, ctx, chart.pinned, -AXIS, height);
	if (chart.pinned.length)
		drawLines(chart, ctx, chart.boots[0], AXIS, height);
	drawCursor(chart, ctx, 20, height);
}

/** Draws within so many pixels beside the plot. @param {Chart} chart @param {Context2D} ctx @param {{ left: number, right: number, height: number }} room @param {() => void} put */
function clipped(chart, ctx, { left, right, height }, put) {
	ctx.save();
	ctx.beginPath();
	ctx.rect(chart.label - left, 0, chart.plot + left + right, height);
	ctx.clip();
	put();
	ctx.restore();
}

/** @param {Chart} chart */
function drawRows(chart) {
	const { scroll, rows } = chart.frame, height = scroll.clientHeight, top = scroll.scrollTop, ctx = prepare(rows, chart.width, height);
	for (const boot of chart.boots)
		drawGrid(chart, ctx, boot, Math.max(0, boot.top - top), Math.min(height, boot.bottom - top));
	clipped(chart, ctx, { left: 12, right: 18, height }, () => drawForks(chart, ctx, top, height));
	drawItems(chart, ctx, chart.items, top, height);
	for (const boot of chart.boots)
		drawLines(chart, ctx, boot, Math.max(0, boot.top - top), Math.min(height, boot.bottom - top));
	clipped(chart, ctx, { left: 2, right: 2, height }, () => drawPath(chart, ctx, top));
	drawCursor(chart, ctx, 0, height);
}

/** Draws everything with the next frame of the browser. @param {Chart} chart */
export function draw(chart) {
	if (chart.request)
		return;
	chart.request = requestAnimationFrame(() => {
		chart.request = 0;
		drawHead(chart);
		drawRows(chart);
		chart.drawn++;
	});
}
