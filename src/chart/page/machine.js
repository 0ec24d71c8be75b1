// SPDX-License-Identifier: MIT
// machine: the rows that are not processes: CPU, disks, memory, pressure, and marks; which there are, how they are drawn,
// and what they say at a moment.
import { GAP, LANE, LANES, clipText, timeAt, viewOf, xOf } from "./canvas.js";
import { element } from "./frame.js";
import { factsOf, titleOf } from "./heading.js";
import { seriesOf } from "./layout.js";
import { formatBytes, formatTime } from "./number.js";
import { markText } from "./reason.js";
import { fadeOf, fillOf, lineColour, messageSign, signOf } from "./theme.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Context2D} Context2D
 * @typedef {import("./types.js").Item} Item
 * @typedef {import("./types.js").Mark} Mark
 * @typedef {import("./types.js").Word} Word
 * @typedef {{ y: number, h: number, most: number }} Plot
 */

const HEIGHTS = { cpu: 46, disk: 32, memory: 32, pressure: 15, section: 34 };
export const RESOURCES = ["cpu", "io", "memory", "irq"];
/** @type {Word[]} */
const RESOURCE_WORDS = ["ofCpu", "ofDisk", "ofMemory", "ofInterrupts"];

/** Marks that are lines through everything. */
export const LINES = ["target", "stop", "clock", "missing"];

// --- which there are ---

/** @param {string} kind @param {Boot} boot @param {number} h @param {Partial<Item>} more @returns {Item} */
export function makeItem(kind, boot, h, more = {}) {
	return { kind, boot, y: 0, h, row: null, points: boot.points, name: kind, resource: 0, lanes: 0, swap: 0, ...more };
}

/** @param {number[]} list */
function anyOf(list) {
	return list.some(v => v > 0);
}

/** @param {Boot} boot @param {boolean} two */
export function machineItems(boot, two) {
	const out = two ? [makeItem("section", boot, HEIGHTS.section)] : [], p = boot.points;
	const flags = boot.marks.filter(m => LINES.includes(m.type)).length, phases = boot.marks.filter(m => m.type === "phase").length;
	if (p.ns.length > 1)
		out.push(makeItem("cpu", boot, HEIGHTS.cpu));
	for (const { is_part, points, name } of boot.disks)
		if (!is_part && points.ns.length > 1)
			out.push(makeItem("disk", boot, HEIGHTS.disk, { points, name }));
	if (anyOf(p.memory_used_kib))
		out.push(makeItem("memory", boot, HEIGHTS.memory, { swap: p.swap_used_kib.reduce((a, b) => Math.max(a, b), 0) }));
	RESOURCES.forEach((k, resource) => {
		if (anyOf(p[k + "_some_ns"]) || anyOf(p[k + "_full_ns"]))
			out.push(makeItem("pressure", boot, HEIGHTS.pressure, { resource, name: "pressure " + k }));
	});
	if (flags)
		out.push(makeItem("flags", boot, LANE * Math.min(2, flags) + 2, { lanes: Math.min(2, flags) }));
	if (phases)
		out.push(makeItem("phases", boot, LANE * Math.min(3, phases) + 2, { lanes: Math.min(3, phases) }));
	if (boot.marks.some(m => m.type === "kernel"))
		out.push(makeItem("messages", boot, LANE));
	return out;
}

/** Puts items below each other; returns where the last ends. @param {Item[]} items @param {number} y */
export function stackItems(items, y) {
	for (const item of items) {
		item.y = y;
		y += item.h + (item.row ? 0 : GAP);
	}
	return y;
}

// --- how they are drawn ---

/** @param {Chart} chart @param {Context2D} ctx @param {string} name @param {string} about @param {number} y */
function drawName(chart, ctx, name, about, y) {
	ctx.textAlign = "left";
	ctx.font = chart.theme.bold;
	ctx.fillStyle = chart.theme.text;
	const used = clipText(ctx, name, 12, y, chart.label - 24);
	ctx.font = chart.theme.small;
	ctx.fillStyle = chart.theme.faint;
	ctx.textAlign = "right";
	if (about && used < chart.label - 110)
		ctx.fillText(about, chart.label - 10, y);
	ctx.textAlign = "left";
}

/** @param {Chart} chart @param {Context2D} ctx @param {string} key @param {[Float64Array, Float64Array]} between @param {Plot} plot */
function drawArea(chart, ctx, key, [low, high], { y, h, most }) {
	ctx.fillStyle = fillOf(chart, ctx, key);
	ctx.globalAlpha = fadeOf(chart, key);
	for (let x = 0; x < high.length;) {
		let end = x + 1;
		while (end < high.length && high[end] === high[x] && low[end] === low[x])
			end++;
		if (high[x] > low[x]) {
			const top = y + h * (1 - Math.min(1, high[x] / most));
			ctx.fillRect(chart.label + x, top, end - x, y + h * (1 - Math.min(1, low[x] / most)) - top);
		}
		x = end;
	}
	ctx.globalAlpha = 1;
}

/** @param {Chart} chart @param {Context2D} ctx @param {string} key @param {Float64Array} values @param {Plot} plot */
function drawCurve(chart, ctx, key, values, { y, h, most }) {
	let on = false;
	ctx.strokeStyle = signOf(chart, key).colour;
	ctx.lineWidth = 1;
	ctx.beginPath();
	for (let x = 0; x < values.length; x++) {
		const at = y + h * (1 - Math.min(1, values[x] / most));
		if (isNaN(values[x])) {
			on = false;
			continue;
		}
		if (on)
			ctx.lineTo(chart.label + x, at);
		else
			ctx.moveTo(chart.label + x, at);
		ctx.lineTo(chart.label + x + 1, at);
		on = true;
	}
	ctx.stroke();
}

/** Areas on top of each other. @param {Chart} chart @param {Context2D} ctx @param {[string, Float64Array][]} parts @param {Plot} plot */
function drawStack(chart, ctx, parts, plot) {
	let low = new Float64Array(chart.plot);
	for (const [key, values] of parts) {
		const high = values.map((v, x) => isNaN(v) ? low[x] : low[x] + v);
		drawArea(chart, ctx, key, [low, high], plot);
		low = high;
	}
}

/** @param {Chart} chart @param {Context2D} ctx @param {number} y @param {number} h */
function drawFrame(chart, ctx, y, h) {
	ctx.fillStyle = chart.theme.frame;
	ctx.fillRect(chart.label, y, chart.plot, h);
	ctx.strokeStyle = chart.theme.line;
	ctx.lineWidth = 1;
	ctx.strokeRect(chart.label - .5, y + .5, chart.plot + 1, h);
}

/** What was counted up to each point, per nanosecond. @param {number[]} ns @param {number[]} values @returns {(i: number) => number} */
function rate(ns, values) {
	return i => values[i] / ((ns[i] - ns[i - 1]) || 1);
}

/** Marks with their words beside them, in the first lane where they cover no other. @param {Chart} chart @param {Context2D} ctx @param {Item} item @param {number} y @param {boolean} ticks */
function drawTexts(chart, ctx, item, y, ticks) {
	const view = viewOf(chart, item.boot), ends = new Array(LANES).fill(-1e9);
	ctx.font = chart.theme.small;
	for (const m of item.boot.marks) {
		const x = xOf(view, m.ns);
		if ((ticks ? m.type !== "phase" : !LINES.includes(m.type)) || x < 0 || x > chart.plot)
			continue;
		const text = markText(chart, m), wide = Math.min(ctx.measureText(text).width, 260) + 12, left = x + wide > chart.plot ? x - wide : x;
		const lane = ends.findIndex((end, i) => i < item.lanes && end <= left);
		ctx.fillStyle = lineColour(chart, m.type);
		if (ticks)
			ctx.fillRect(chart.label + Math.round(x), y, 1, lane < 0 ? LANE : (lane + 1) * LANE - 2);
		if (lane < 0)
			continue;
		ends[lane] = left + wide;
		clipText(ctx, text, chart.label + left + 4, y + lane * LANE + 11, 260);
	}
}

/** Ways to draw, by kind. @type {Record<string, (chart: Chart, ctx: Context2D, item: Item, y: number) => void>} */
const draws = {
	cpu(chart, ctx, item, y) {
		const view = viewOf(chart, item.boot), p = item.points, { cpus } = item.boot;
		const all = (/** @type {number} */ i) => p.user_ns[i] + p.system_ns[i] + p.irq_ns[i] + p.steal_ns[i] + p.iowait_ns[i] + p.idle_ns[i] || 1;
		drawFrame(chart, ctx, y, item.h);
		drawStack(chart, ctx, ["user", "system", "irq", "steal", "iowait"].map(k => ["cpu-" + k, seriesOf(view, p.ns, i => p[k + "_ns"][i] / all(i))]), { y, h: item.h, most: 1 });
		drawName(chart, ctx, chart.say("cpuRow"), chart.say(cpus === 1 ? "oneCpu" : "cpus", { n: cpus }), y + 13);
	},
	disk(chart, ctx, item, y) {
		const view = viewOf(chart, item.boot), p = item.points;
		const read = seriesOf(view, p.ns, rate(p.ns, p.read_bytes)), written = seriesOf(view, p.ns, rate(p.ns, p.written_bytes));
		const most = read.reduce((m, v, x) => Math.max(m, (v || 0) + (written[x] || 0)), 0);
		drawFrame(chart, ctx, y, item.h);
		drawStack(chart, ctx, [["disk-read", read], ["disk-write", written]], { y, h: item.h, most: most || 1 });
		drawCurve(chart, ctx, "disk-busy", seriesOf(view, p.ns, rate(p.ns, p.busy_ns)), { y, h: item.h, most: 1 });
		drawName(chart, ctx, item.name, chart.say("upTo", { size: formatBytes(most * 1e9) + "/s" }), y + 13);
	},
	memory(chart, ctx, item, y) {
		const view = viewOf(chart, item.boot), p = item.points;
		const all = (/** @type {number} */ i) => p.memory_used_kib[i] + p.memory_cached_kib[i] + p.memory_free_kib[i] || 1;
		drawFrame(chart, ctx, y, item.h);
		drawStack(chart, ctx, ["used", "cached", "free"].map(k => ["memory-" + k, seriesOf(view, p.ns, i => p[`memory_${k}_kib`][i] / all(i))]), { y, h: item.h, most: 1 });
		if (item.swap)
			drawCurve(chart, ctx, "swap", seriesOf(view, p.ns, i => p.swap_used_kib[i]), { y, h: item.h, most: item.swap * 1.2 });
		drawName(chart, ctx, chart.say("memoryRow"), formatBytes(all(p.ns.length - 1) * 1024), y + 13);
	},
	pressure(chart, ctx, item, y) {
		const view = viewOf(chart, item.boot), p = item.points, k = RESOURCES[item.resource], none = new Float64Array(chart.plot);
		drawFrame(chart, ctx, y, item.h);
		for (const part of ["some", "full"])
			drawArea(chart, ctx, part, [none, seriesOf(view, p.ns, rate(p.ns, p[`${k}_${part}_ns`]))], { y, h: item.h, most: 1 });
		drawName(chart, ctx, chart.say("pressureRow", { of: chart.say(RESOURCE_WORDS[item.resource]) }), "", y + 12);
	},
	section(chart, ctx, item, y) {
		const { boot } = item, { say } = chart;
		ctx.fillStyle = chart.theme.row;
		ctx.fillRect(0, y, chart.label + chart.plot + 20, item.h - 6);
		ctx.font = chart.theme.bold;
		ctx.fillStyle = chart.theme.text;
		const used = clipText(ctx, say(boot.index ? "second" : "first", { text: titleOf(say, boot) }), 12, y + 18, chart.label);
		ctx.font = chart.theme.small;
		ctx.fillStyle = chart.theme.soft;
		clipText(ctx, factsOf(say, boot).map(([word, text]) => say(word) + " " + text).join("   "), 28 + used, y + 18, chart.label + chart.plot - used - 40);
	},
	flags(chart, ctx, item, y) {
		drawTexts(chart, ctx, item, y, false);
	},
	phases(chart, ctx, item, y) {
		drawName(chart, ctx, chart.say("phasesRow"), "", y + 11);
		drawTexts(chart, ctx, item, y, true);
	},
	messages(chart, ctx, item, y) {
		const view = viewOf(chart, item.boot), worst = new Map();
		for (const m of item.boot.marks) {
			if (m.type !== "kernel" || m.ns < view.from || m.ns > view.to)
				continue;
			const x = Math.floor(xOf(view, m.ns)), now = worst.get(x);
			if (now === undefined || m.level < now)
				worst.set(x, m.level);
		}
		for (const [x, level] of worst) {
			ctx.fillStyle = signOf(chart, messageSign(level)).colour;
			ctx.fillRect(chart.label + x, y + 1, level <= 4 ? 2 : 1, item.h - 3);
		}
		drawName(chart, ctx, chart.say("messagesRow"), "", y + 11);
	},
};

/** @param {Chart} chart @param {Context2D} ctx @param {Item} item @param {number} y */
export function drawMachine(chart, ctx, item, y) {
	draws[item.kind]?.(chart, ctx, item, y);
}

// --- what they say ---

/** @param {number} v */
function percent(v) {
	return (100 * v).toFixed(0) + " %";
}

/** Parts of a CPU's time, whose words are the same. @type {Word[]} */
const CPU_PARTS = ["user", "system", "irq", "steal", "iowait", "idle"];

/** @type {[Word, string][]} */
const MEMORY_PARTS = [["memoryUsed", "memory_used"], ["memoryCached", "memory_cached"], ["memoryFree", "memory_free"], ["swapUsed", "swap_used"]];

/** What a row says about the time up to point i, as name and value; none: nothing. @param {Item} item @param {number} i @returns {[Word, string][]} */
function valuesOf(item, i) {
	const p = item.points, length = p.ns[i] - p.ns[i - 1], k = RESOURCES[item.resource];
	const perSecond = (/** @type {number} */ n) => formatBytes(n / length * 1e9) + "/s";
	switch (item.kind) {
	case "cpu": {
		const all = CPU_PARTS.reduce((a, key) => a + p[key + "_ns"][i], 0) || 1;
		return [...CPU_PARTS.map(key => /** @type {[Word, string]} */ ([key, percent(p[key + "_ns"][i] / all)])),
			["runnable", String(p.runnable[i])], ["blocked", String(p.blocked[i])]];
	}
	case "disk":
		return [["read", perSecond(p.read_bytes[i])], ["written", perSecond(p.written_bytes[i])], ["busy", percent(p.busy_ns[i] / length)]];
	case "memory":
		return MEMORY_PARTS.map(([word, key]) => [word, formatBytes(p[key + "_kib"][i] * 1024)]);
	case "pressure":
		return [["some", percent(p[k + "_some_ns"][i] / length)], ["full", percent(p[k + "_full_ns"][i] / length)]];
	default:
		return [];
	}
}

/** Marks within a few pixels of x, of the kinds that an item shows. @param {Chart} chart @param {Item} item @param {number} x */
function marksNear(chart, item, x) {
	const ns = timeAt(chart, x) + item.boot.base, off = 4 * (chart.view.to - chart.view.from) / chart.plot;
	const kinds = { messages: ["kernel"], phases: ["phase"], flags: LINES }[item.kind];
	return kinds ? item.boot.marks.filter(m => kinds.includes(m.type) && Math.abs(m.ns - ns) <= off) : [];
}

/** Lines for the card at x; none: there is nothing to say. @param {Chart} chart @param {Item} item @param {number} x @returns {HTMLElement[]} */
export function describeMachine(chart, item, x) {
	const { base } = item.boot, marks = marksNear(chart, item, x), { ns } = item.points, at = timeAt(chart, x) + base;
	if (marks.length)
		return [...marks.slice(0, 12).map(m => element("div", "", element("span", "soft", formatTime(m.ns - base) + "  "), markText(chart, m))),
			...(marks.length > 12 ? [element("div", "soft", chart.say("more", { n: marks.length - 12 }))] : [])];
	const i = ns.findIndex(t => t >= at), values = i < 1 ? [] : valuesOf(item, i);
	if (!values.length)
		return [];
	return [element("div", "soft", chart.say("between", { from: formatTime(ns[i - 1] - base), to: formatTime(ns[i] - base) })),
		element("table", "", ...values.map(([name, value]) => element("tr", "", element("th", "", chart.say(name)), element("td", "", value))))];
}
