// SPDX-License-Identifier: MIT
// legend: which signs the chart can show now, and what they mean.
import { THIN, drawWhisker, prepare } from "./canvas.js";
import { element, pageOf } from "./frame.js";
import { RESOURCES } from "./machine.js";
import { fadeOf, fillOf, lineColour, messageSign, stateSign } from "./theme.js";
import { wordOfData } from "./words.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Row} Row
 * @typedef {import("./types.js").Sign} Sign
 */

const LINE_SHAPES = ["glyph", "line", "dash", "tick", "frame"];

/** A legend's picture of a sign. @param {Chart} chart @param {HTMLCanvasElement} canvas @param {Sign} sign */
function drawSwatch(chart, canvas, sign) {
	const ctx = prepare(canvas, 54, 14);
	ctx.fillStyle = ctx.strokeStyle = LINE_SHAPES.includes(sign.shape) ? lineColour(chart, sign.key) : sign.colour;
	ctx.lineWidth = 1.4;
	ctx.font = chart.theme.bold;
	ctx.textAlign = "center";
	switch (sign.shape) {
	case "ramp":
		chart.ramp.forEach((colour, i) => {
			ctx.fillStyle = colour;
			ctx.fillRect(1 + i * 3.25, 1, 3.25, 12);
		});
		break;
	case "thin":
		ctx.fillRect(1, 5, 52, THIN);
		break;
	case "line":
	case "dash":
		ctx.setLineDash(sign.shape === "dash" ? [4, 3] : sign.key === "fork" ? [1, 2] : []);
		ctx.beginPath();
		ctx.moveTo(1, 7);
		ctx.lineTo(53, 7);
		ctx.stroke();
		break;
	case "tick":
		ctx.fillRect(26, 2, 2, 10);
		break;
	case "whisker":
		drawWhisker(chart, ctx, 14, 40, 7);
		break;
	case "glyph":
		ctx.fillText(sign.glyph, 27, 11);
		break;
	case "frame":
		ctx.setLineDash(sign.key === "ghost" ? [2, 2] : []);
		ctx.strokeRect(2, 1.5, 50, 11);
		break;
	default:
		ctx.globalAlpha = fadeOf(chart, sign.key);
		ctx.fillStyle = fillOf(chart, ctx, sign.key);
		ctx.fillRect(1, 1, 52, 12);
	}
}

// --- what is in use ---

/** @param {Row} row @param {Set<string>} used */
function addRow(row, used) {
	const p = row.process, flags = { before: p.was_there, alive: p.is_alive, failed: !p.is_alive && p.exit_code > 0, kernel: p.is_kernel, self: p.is_self };
	for (const state of new Set(p.spans.state))
		used.add(stateSign(state));
	if (row.parent >= 0 && !p.was_there)
		used.add("fork");
	if (p.from_error_ns || p.to_error_ns)
		used.add("error");
	if (row.folded.length)
		used.add("folded");
	for (const [key, on] of Object.entries(flags))
		if (on)
			used.add(key);
}

/** @param {Boot} boot @param {Set<string>} used */
function addBoot(boot, used) {
	const p = boot.points, any = (/** @type {string} */ key) => p[key].some(v => v > 0);
	for (const row of boot.rows)
		addRow(row, used);
	for (const k of ["user", "system", "irq", "steal", "iowait"])
		if (p.ns.length > 1 && any(k + "_ns"))
			used.add("cpu-" + k);
	for (const k of ["used", "cached", "free"])
		if (any(`memory_${k}_kib`))
			used.add("memory-" + k);
	if (any("swap_used_kib"))
		used.add("swap");
	for (const part of ["some", "full"])
		if (RESOURCES.some(k => any(`${k}_${part}_ns`)))
			used.add(part);
	for (const d of boot.disks.filter(disk => !disk.is_part))
		for (const [key, sign] of [["read_bytes", "disk-read"], ["written_bytes", "disk-write"], ["busy_ns", "disk-busy"]])
			if (d.points[key].some(v => v > 0))
				used.add(sign);
	for (const m of boot.marks)
		used.add(m.type === "kernel" ? messageSign(m.level) : m.type);
	if (boot.gaps.length)
		used.add("gap");
}

/** @param {Chart} chart */
function signsInUse(chart) {
	/** @type {Set<string>} */
	const used = new Set();
	for (const boot of chart.boots)
		addBoot(boot, used);
	if (chart.path)
		used.add("path");
	if (chart.path?.steps.some(s => s.inferred))
		used.add("inferred");
	for (const pair of chart.pairOf[1].values()) {
		used.add(pair.a < 0 ? "new" : "ghost");
		if (pair.a >= 0 && pair.start)
			used.add(pair.start > 0 ? "later" : "earlier");
	}
	if ([...chart.pairOf[0].values()].some(pair => pair.b < 0))
		used.add("gone");
	return used;
}

/** @param {Chart} chart @param {Sign} sign */
function explain(chart, sign) {
	const canvas = element("canvas", ""), text = element("dd", "", wordOfData(chart, "signs", sign.key, sign.text));
	drawSwatch(chart, canvas, sign);
	text.dataset.sign = sign.key;
	return [element("dt", "", canvas), text];
}

/** @param {Chart} chart */
export function fillLegend(chart) {
	const used = signsInUse(chart);
	/** @type {Map<string, Sign[]>} */
	const groups = new Map();
	for (const sign of chart.signs.values())
		if (used.has(sign.key))
			groups.set(sign.group, [...(groups.get(sign.group) ?? []), sign]);
	pageOf(chart, "legend").replaceChildren(...[...groups].flatMap(([group, signs]) => [
		element("h3", "", wordOfData(chart, "groups", group, group[0].toUpperCase() + group.slice(1))), element("dl", "key", ...signs.flatMap(sign => explain(chart, sign)))]),
	element("h3", "", chart.say("onePixel")), element("p", "soft", chart.say("onePixelText")));
}
