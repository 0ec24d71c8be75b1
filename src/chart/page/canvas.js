// SPDX-License-Identifier: MIT
// canvas: what everything that draws needs: a canvas that fits its place, times as pixels, words that end in time.
import { contextOf, lineColour, signOf } from "./theme.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Context2D} Context2D
 * @typedef {import("./types.js").View} View
 */

export const ROW = 20, BAR = 12, THIN = 4, AXIS = 26, INDENT = 12, GAP = 7, LANE = 14, LANES = 5;

/** Fits a canvas to its place and to the screen's pixels. @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function prepare(canvas, width, height) {
	const ratio = devicePixelRatio || 1, w = Math.round(width * ratio), h = Math.round(height * ratio);
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	const ctx = contextOf(canvas);
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.clearRect(0, 0, width, height);
	return ctx;
}

/** The part of the time that is in sight, on the clock of one boot. @param {Chart} chart @param {Boot} boot @returns {View} */
export function viewOf(chart, boot) {
	return { from: chart.view.from + boot.base, to: chart.view.to + boot.base, width: chart.plot };
}

/** @param {View} view @param {number} ns */
export function xOf(view, ns) {
	return (ns - view.from) / (view.to - view.from) * view.width;
}

/** The axis' time at a pixel of the chart. @param {Chart} chart @param {number} x */
export function timeAt(chart, x) {
	return chart.view.from + (x - chart.label) / chart.plot * (chart.view.to - chart.view.from);
}

/**
 * Text that is at most so wide; returns how wide it is.
 * @param {Context2D} ctx @param {string} text @param {number} x @param {number} y @param {number} width
 */
export function clipText(ctx, text, x, y, width) {
	if (width < 8)
		return 0;
	let wide = ctx.measureText(text).width;
	if (wide > width) {
		let n = Math.floor(text.length * width / wide);
		while (n > 0 && ctx.measureText(text.slice(0, n) + "…").width > width)
			n--;
		text = text.slice(0, n) + "…";
		wide = ctx.measureText(text).width;
	}
	ctx.fillText(text, x, y);
	return wide;
}

/** @param {Chart} chart @param {Context2D} ctx @param {string} key @param {number} x @param {number} y of its row */
export function drawGlyph(chart, ctx, key, x, y) {
	ctx.font = chart.theme.font;
	ctx.textAlign = "left";
	ctx.fillStyle = lineColour(chart, key);
	ctx.fillText(signOf(chart, key).glyph, x, y + 14);
}

/** @param {Chart} chart @param {Context2D} ctx @param {number} a @param {number} b @param {number} y */
export function drawWhisker(chart, ctx, a, b, y) {
	ctx.strokeStyle = lineColour(chart, "error");
	ctx.lineWidth = 1;
	ctx.beginPath();
	ctx.moveTo(a + .5, y - 3);
	ctx.lineTo(a + .5, y + 3);
	ctx.moveTo(a, y);
	ctx.lineTo(b, y);
	ctx.moveTo(b - .5, y - 3);
	ctx.lineTo(b - .5, y + 3);
	ctx.stroke();
}
