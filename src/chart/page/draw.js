// SPDX-License-Identifier: MIT
// draw: everything that is on the two canvases: the head (axis, and the machine's rows where there is one boot) and
// the rows that scroll. Only what is in sight is drawn, pixel by pixel, so it does not matter how much there is.
"use strict";

const ROW = 20, BAR = 12, THIN = 4, AXIS = 26, INDENT = 12, GAP = 7;
const HEIGHTS = { cpu: 46, disk: 32, memory: 32, pressure: 15, section: 34 };
const LANE = 14, LANES = 5;
const RESOURCES = ["cpu", "io", "memory", "irq"], RESOURCE_WORDS = ["CPU", "disk", "memory", "interrupts"];

const theme = {};

function readTheme() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ["back", "line", "text", "soft", "faint", "accent", "row", "hit", "fork", "frame"])
		theme[name] = style.getPropertyValue("--" + name).trim();
	theme.dark = matchMedia("(prefers-color-scheme: dark)").matches;
	theme.font = "12px system-ui, 'DejaVu Sans', sans-serif";
	theme.bold = "600 12px system-ui, 'DejaVu Sans', sans-serif";
	theme.small = "11px system-ui, 'DejaVu Sans', sans-serif";
	theme.fills = {};
}

/** A sign's colour, or its hatch. */
function fillOf(ctx, key) {
	const sign = chart.signs[key];
	if (sign.shape !== "hatch")
		return sign.colour;
	if (!theme.fills[key]) {
		const tile = document.createElement("canvas"), c = tile.getContext("2d");
		tile.width = tile.height = 6;
		c.fillStyle = sign.colour;
		c.globalAlpha = .22;
		c.fillRect(0, 0, 6, 6);
		c.globalAlpha = .85;
		c.strokeStyle = sign.colour;
		c.lineWidth = 1.6;
		c.beginPath();
		for (const d of [-6, 0, 6])
			key === "unknown" ? (c.moveTo(d, 0), c.lineTo(d + 6, 6)) : (c.moveTo(d, 6), c.lineTo(d + 6, 0));
		c.stroke();
		theme.fills[key] = ctx.createPattern(tile, "repeat");
	}
	return theme.fills[key];
}

const signOfState = ["running", "runnable", "disk-wait", "sleeping", "stopped", "zombie", "unknown"];

/** A legend's picture of a sign. */
function drawSwatch(canvas, sign) {
	const ctx = prepare(canvas, 54, 14);
	ctx.fillStyle = ctx.strokeStyle = ["glyph", "line", "dash", "tick", "frame"].includes(sign.shape) ? lineColour(sign.key) : sign.colour;
	ctx.lineWidth = 1.4;
	ctx.font = theme.bold;
	ctx.textAlign = "center";
	switch (sign.shape) {
	case "ramp":
		chart.ramp.forEach((c, i) => { ctx.fillStyle = c; ctx.fillRect(1 + i * 3.25, 1, 3.25, 12); });
		break;
	case "thin":
		ctx.fillRect(1, 5, 52, THIN);
		break;
	case "line": case "dash":
		ctx.setLineDash(sign.shape === "dash" ? [4, 3] : sign.key === "fork" ? [1, 2] : []);
		ctx.beginPath(); ctx.moveTo(1, 7); ctx.lineTo(53, 7); ctx.stroke();
		break;
	case "tick":
		ctx.fillRect(26, 2, 2, 10);
		break;
	case "whisker":
		drawWhisker(ctx, 14, 40, 7);
		break;
	case "glyph":
		ctx.fillText(sign.glyph, 27, 11);
		break;
	case "frame":
		ctx.setLineDash(sign.key === "ghost" ? [2, 2] : []);
		ctx.strokeRect(2, 1.5, 50, 11);
		break;
	default:
		ctx.globalAlpha = fadeOf(sign.key);
		ctx.fillStyle = fillOf(ctx, sign.key);
		ctx.fillRect(1, 1, 52, 12);
	}
}

/** Free memory is nearly white, which would be glaring on a dark page. */
const fadeOf = key => key === "memory-free" && theme.dark ? .16 : 1;

/** Fits a canvas to its place and to the screen's pixels. */
function prepare(canvas, width, height) {
	const ratio = devicePixelRatio || 1, w = Math.round(width * ratio), h = Math.round(height * ratio);
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	const ctx = canvas.getContext("2d");
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.clearRect(0, 0, width, height);
	return ctx;
}

/** The part of the time that is in sight, on the clock of one boot. */
const viewOf = boot => ({ from: chart.view.from + boot.base, to: chart.view.to + boot.base, width: chart.plot });
const xOf = (view, ns) => (ns - view.from) / (view.to - view.from) * view.width;

function clipText(ctx, text, x, y, width) {
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

// --- axis, grid, lines through all rows ---

function ticksOf(view, base, step) {
	const out = [];
	for (let ns = Math.ceil((view.from - base) / step) * step; ns <= view.to - base; ns += step)
		out.push(ns);
	return out;
}

function drawAxis(ctx) {
	const view = { from: chart.view.from, to: chart.view.to, width: chart.plot };
	const step = axisStep(view.to - view.from, view.width, 90);
	ctx.font = theme.small;
	ctx.textAlign = "center";
	ctx.fillStyle = theme.soft;
	ctx.strokeStyle = theme.line;
	for (const ns of ticksOf(view, 0, step)) {
		const x = chart.label + xOf(view, ns);
		ctx.fillText(formatTime(ns, step), Math.min(x, chart.label + chart.plot - 18), 15);
		ctx.fillRect(Math.round(x), 20, 1, 6);
	}
	ctx.textAlign = "left";
	ctx.fillStyle = theme.faint;
	ctx.fillText(chart.boots[0].base ? "since the recording began" : "since the kernel started", 12, 15);
}

/** Lines of the axis, gaps, and marks that concern everybody, of one boot between two heights. */
function drawGrid(ctx, boot, y0, y1) {
	const view = viewOf(boot), step = axisStep(view.to - view.from, view.width, 90);
	ctx.fillStyle = theme.line;
	for (const ns of ticksOf(view, boot.base, step))
		ctx.fillRect(Math.round(chart.label + xOf(view, ns + boot.base)), y0, 1, y1 - y0);
	for (const gap of boot.gaps) {
		const px = pixelsOf(view, gap.from_ns, gap.to_ns);
		if (!px)
			continue;
		ctx.fillStyle = fillOf(ctx, "gap");
		ctx.globalAlpha = .55;
		ctx.fillRect(chart.label + px[0], y0, px[1] - px[0], y1 - y0);
		ctx.globalAlpha = 1;
	}
}

const LINES = { target: "target", stop: "stop", clock: "clock", missing: "missing" };

function drawLines(ctx, boot, y0, y1) {
	const view = viewOf(boot);
	for (const m of boot.marks) {
		if (!LINES[m.type] || m.ns < view.from || m.ns > view.to)
			continue;
		const sign = chart.signs[LINES[m.type]], x = Math.round(chart.label + xOf(view, m.ns)) + .5;
		ctx.strokeStyle = lineColour(sign.key);
		ctx.lineWidth = sign.key === "target" ? 1.6 : 1;
		ctx.setLineDash(sign.shape === "dash" ? [4, 3] : []);
		ctx.beginPath();
		ctx.moveTo(x, y0);
		ctx.lineTo(x, y1);
		ctx.stroke();
		ctx.setLineDash([]);
	}
}

// --- the machine's rows ---

function drawName(ctx, name, about, y) {
	ctx.textAlign = "left";
	ctx.font = theme.bold;
	ctx.fillStyle = theme.text;
	const used = clipText(ctx, name, 12, y, chart.label - 24);
	ctx.font = theme.small;
	ctx.fillStyle = theme.faint;
	ctx.textAlign = "right";
	if (about && used < chart.label - 110)
		ctx.fillText(about, chart.label - 10, y);
	ctx.textAlign = "left";
}

function drawArea(ctx, key, low, high, y, h, most) {
	ctx.fillStyle = fillOf(ctx, key);
	ctx.globalAlpha = fadeOf(key);
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

function drawCurve(ctx, key, values, y, h, most) {
	ctx.strokeStyle = chart.signs[key].colour;
	ctx.lineWidth = 1;
	ctx.beginPath();
	let on = false;
	for (let x = 0; x < values.length; x++) {
		if (isNaN(values[x])) {
			on = false;
			continue;
		}
		const at = y + h * (1 - Math.min(1, values[x] / most));
		if (on)
			ctx.lineTo(chart.label + x, at);
		else
			ctx.moveTo(chart.label + x, at);
		ctx.lineTo(chart.label + x + 1, at);
		on = true;
	}
	ctx.stroke();
}

/** Areas on top of each other: [key, values] each. */
function drawStack(ctx, parts, y, h, most) {
	let low = new Float64Array(chart.plot);
	for (const [key, values] of parts) {
		const high = values.map((v, x) => isNaN(v) ? low[x] : low[x] + v);
		drawArea(ctx, key, low, high, y, h, most);
		low = high;
	}
	return low;
}

function drawFrame(ctx, y, h) {
	ctx.fillStyle = theme.frame;
	ctx.fillRect(chart.label, y, chart.plot, h);
	ctx.strokeStyle = theme.line;
	ctx.lineWidth = 1;
	ctx.strokeRect(chart.label - .5, y + .5, chart.plot + 1, h);
}

const rate = (ns, values) => i => values[i] / ((ns[i] - ns[i - 1]) || 1);

const drawMachine = {
	cpu(ctx, item, y) {
		const view = viewOf(item.boot), p = item.boot.points, keys = ["user", "system", "irq", "steal", "iowait"];
		const all = i => p.user_ns[i] + p.system_ns[i] + p.irq_ns[i] + p.steal_ns[i] + p.iowait_ns[i] + p.idle_ns[i] || 1;
		drawFrame(ctx, y, item.h);
		drawStack(ctx, keys.map(k => ["cpu-" + k, seriesOf(view, p.ns, i => p[k + "_ns"][i] / all(i))]), y, item.h, 1);
		drawName(ctx, "CPU", item.boot.cpus + (item.boot.cpus === 1 ? " CPU" : " CPUs"), y + 13);
	},
	disk(ctx, item, y) {
		const view = viewOf(item.boot), p = item.disk.points;
		const read = seriesOf(view, p.ns, rate(p.ns, p.read_bytes)), written = seriesOf(view, p.ns, rate(p.ns, p.written_bytes));
		const most = read.reduce((m, v, x) => Math.max(m, (v || 0) + (written[x] || 0)), 0);
		drawFrame(ctx, y, item.h);
		drawStack(ctx, [["disk-read", read], ["disk-write", written]], y, item.h, most || 1);
		drawCurve(ctx, "disk-busy", seriesOf(view, p.ns, rate(p.ns, p.busy_ns)), y, item.h, 1);
		drawName(ctx, item.disk.name, "up to " + formatBytes(most * 1e9) + "/s", y + 13);
	},
	memory(ctx, item, y) {
		const view = viewOf(item.boot), p = item.boot.points;
		const all = i => p.memory_used_kib[i] + p.memory_cached_kib[i] + p.memory_free_kib[i] || 1;
		drawFrame(ctx, y, item.h);
		drawStack(ctx, ["used", "cached", "free"].map(k => ["memory-" + k, seriesOf(view, p.ns, i => p[`memory_${k}_kib`][i] / all(i))]), y, item.h, 1);
		if (item.swap)
			drawCurve(ctx, "swap", seriesOf(view, p.ns, i => p.swap_used_kib[i]), y, item.h, item.swap * 1.2);
		drawName(ctx, "Memory", formatBytes(all(p.ns.length - 1) * 1024), y + 13);
	},
	pressure(ctx, item, y) {
		const view = viewOf(item.boot), p = item.boot.points, k = RESOURCES[item.resource];
		const none = new Float64Array(chart.plot);
		drawFrame(ctx, y, item.h);
		drawArea(ctx, "some", none, seriesOf(view, p.ns, rate(p.ns, p[k + "_some_ns"])), y, item.h, 1);
		drawArea(ctx, "full", none, seriesOf(view, p.ns, rate(p.ns, p[k + "_full_ns"])), y, item.h, 1);
		drawName(ctx, "Pressure: " + RESOURCE_WORDS[item.resource], "", y + 12);
	},
	section(ctx, item, y) {
		ctx.fillStyle = theme.row;
		ctx.fillRect(0, y, chart.label + chart.plot + 20, item.h - 6);
		ctx.font = theme.bold;
		ctx.fillStyle = theme.text;
		const used = clipText(ctx, (item.boot.index ? "Second: " : "First: ") + item.boot.heading.title, 12, y + 18, chart.label);
		ctx.font = theme.small;
		ctx.fillStyle = theme.soft;
		clipText(ctx, item.boot.heading.facts.map(f => f[0] + " " + f[1]).join("   "), 28 + used, y + 18, chart.label + chart.plot - used - 40);
	},
	flags(ctx, item, y) {
		drawTexts(ctx, item, y, m => LINES[m.type], false);
	},
	phases(ctx, item, y) {
		drawName(ctx, "Phases", "", y + 11);
		drawTexts(ctx, item, y, m => m.type === "phase" && "phase", true);
	},
	messages(ctx, item, y) {
		const view = viewOf(item.boot), worst = new Map();
		for (const m of item.boot.marks) {
			if (m.type !== "kernel" || m.ns < view.from || m.ns > view.to)
				continue;
			const x = Math.floor(xOf(view, m.ns)), now = worst.get(x);
			if (now === undefined || m.level < now)
				worst.set(x, m.level);
		}
		for (const [x, level] of worst) {
			ctx.fillStyle = chart.signs[messageSign(level)].colour;
			ctx.fillRect(chart.label + x, y + 1, level <= 4 ? 2 : 1, item.h - 3);
		}
		drawName(ctx, "Kernel messages", "", y + 11);
	},
};

/** A sign's colour for lines and words: on a dark page half way to white. */
function lineColour(key) {
	const { colour } = chart.signs[key];
	return theme.dark ? "#" + [1, 3, 5].map(i => Math.round((parseInt(colour.slice(i, i + 2), 16) + 255) / 2).toString(16).padStart(2, "0")).join("") : colour;
}

const messageSign = level => level <= 3 ? "failure" : level === 4 ? "warning" : "message";

/** Marks with their words beside them, in the first lane where they cover no other. */
function drawTexts(ctx, item, y, signOf, ticks) {
	const view = viewOf(item.boot), ends = new Array(LANES).fill(-1e9);
	ctx.font = theme.small;
	for (const m of item.boot.marks) {
		const key = signOf(m), x = xOf(view, m.ns);
		if (!key || x < 0 || x > chart.plot)
			continue;
		const wide = Math.min(ctx.measureText(m.text).width, 260) + 12, left = x + wide > chart.plot ? x - wide : x;
		const lane = ends.findIndex((end, i) => i < item.lanes && end <= left);
		ctx.fillStyle = lineColour(key);
		if (ticks)
			ctx.fillRect(chart.label + Math.round(x), y, 1, lane < 0 ? LANE : (lane + 1) * LANE - 2);
		if (lane < 0)
			continue;
		ends[lane] = left + wide;
		clipText(ctx, m.text, chart.label + left + 4, y + lane * LANE + 11, 260);
	}
}

// --- the rows of processes ---

function drawLabel(ctx, row, y) {
	const p = row.process, base = y + 14, hit = chart.hits.has(p);
	let x = 20 + row.depth * INDENT;
	if (hit || p === chart.selected) {
		ctx.fillStyle = hit ? theme.hit : theme.row;
		ctx.fillRect(0, y, chart.label - 2, ROW);
	}
	if (p === chart.selected) {
		ctx.fillStyle = theme.accent;
		ctx.fillRect(0, y, 3, ROW);
	}
	if (row.children || chart.folded.has(p)) {
		ctx.fillStyle = theme.soft;
		ctx.beginPath();
		if (chart.folded.has(p)) {
			ctx.moveTo(x - 10, y + 6); ctx.lineTo(x - 4, y + 10); ctx.lineTo(x - 10, y + 14);
		} else {
			ctx.moveTo(x - 11, y + 7); ctx.lineTo(x - 3, y + 7); ctx.lineTo(x - 7, y + 13);
		}
		ctx.fill();
	}
	const room = () => chart.label - 12 - x;
	ctx.textAlign = "left";
	ctx.font = p.is_kernel ? "italic " + theme.font : theme.bold;
	ctx.fillStyle = p.is_self ? lineColour("self") : p.is_kernel ? lineColour("kernel") : theme.text;
	x += clipText(ctx, (p.is_self ? "◉ " : "") + (p.is_kernel ? "[" + p.comm + "]" : p.comm), x, base, room()) + 6;
	ctx.font = theme.small;
	ctx.fillStyle = theme.faint;
	x += clipText(ctx, String(p.pid), x, base, room()) + 6;
	if (row.folded.length) {
		ctx.fillStyle = chart.signs.folded.colour;
		x += clipText(ctx, "+" + row.folded.length, x, base, room()) + 6;
	}
	ctx.fillStyle = theme.soft;
	clipText(ctx, p.args, x, base, room());
}

const isThin = state => state === SLEEPING || state === ZOMBIE;

function drawBar(ctx, view, p, y) {
	eachRun(view, p, (a, b, state, level) => {
		const h = isThin(state) ? THIN : BAR;
		ctx.fillStyle = state === RUNNING ? chart.ramp[level] : fillOf(ctx, signOfState[state]);
		ctx.fillRect(chart.label + a, y + (ROW - h) / 2, b - a, h);
		if (state === ZOMBIE && theme.dark) {
			ctx.strokeStyle = "#8a8a8a";
			ctx.lineWidth = 1;
			ctx.strokeRect(chart.label + a + .5, y + (ROW - h) / 2 + .5, Math.max(0, b - a - 1), h - 1);
		}
	});
}

function drawWhisker(ctx, a, b, y) {
	ctx.strokeStyle = lineColour("error");
	ctx.lineWidth = 1;
	ctx.beginPath();
	ctx.moveTo(a + .5, y - 3); ctx.lineTo(a + .5, y + 3);
	ctx.moveTo(a, y); ctx.lineTo(b, y);
	ctx.moveTo(b - .5, y - 3); ctx.lineTo(b - .5, y + 3);
	ctx.stroke();
}

function drawError(ctx, view, ns, error, y) {
	const half = error / (view.to - view.from) * view.width, x = xOf(view, ns);
	if (half < 2 || x < 0 || x > view.width)
		return;
	drawWhisker(ctx, chart.label + Math.max(0, x - half), chart.label + Math.min(view.width, x + half), y + ROW / 2);
}

function drawGlyph(ctx, key, x, y) {
	ctx.font = theme.font;
	ctx.textAlign = "left";
	ctx.fillStyle = lineColour(key);
	ctx.fillText(chart.signs[key].glyph, x, y + 14);
}

function drawEnds(ctx, view, p, y) {
	const px = pixelsOf(view, p.from, p.to);
	if (!px)
		return;
	if (p.was_there && p.from >= view.from)
		drawGlyph(ctx, "before", chart.label + px[0] - 8, y);
	else if (!p.was_there)
		drawError(ctx, view, p.from, p.from_error_ns, y);
	if (p.is_alive) {
		if (p.to <= view.to)
			drawGlyph(ctx, "alive", chart.label + px[1] + 1, y);
		return;
	}
	drawError(ctx, view, p.to, p.to_error_ns, y);
	if (p.exit_code > 0 && p.to <= view.to)
		drawGlyph(ctx, "failed", chart.label + px[1] + 2, y);
}

function drawDifference(ctx, row, y) {
	const pair = chart.pairOf[row.boot.index].get(row.process.index), p = row.process;
	if (!pair)
		return;
	if (pair.a < 0 || pair.b < 0) {
		drawGlyph(ctx, pair.a < 0 ? "new" : "gone", chart.label - 13, y);
		return;
	}
	if (!row.boot.index)
		return;
	const view = viewOf(row.boot), first = chart.boots[0].processes[pair.a], off = row.boot.base - chart.boots[0].base;
	const ghost = pixelsOf(view, first.from + off, first.to + off);
	if (ghost) {
		ctx.strokeStyle = chart.signs.ghost.colour;
		ctx.lineWidth = 1;
		ctx.setLineDash([2, 2]);
		ctx.strokeRect(chart.label + ghost[0] + .5, y + 2.5, ghost[1] - ghost[0], ROW - 5);
		ctx.setLineDash([]);
	}
	if (Math.abs(pair.start) < Math.max(MS, 2 * (view.to - view.from) / view.width))
		return;
	const key = pair.start > 0 ? "later" : "earlier", px = pixelsOf(view, Math.min(p.from, p.from - pair.start), Math.max(p.from, p.from - pair.start));
	ctx.fillStyle = chart.signs[key].colour;
	if (px)
		ctx.fillRect(chart.label + px[0], y + ROW - 4, px[1] - px[0], 3);
	ctx.font = theme.small;
	ctx.textAlign = "right";
	ctx.fillText(formatDelta(pair.start), chart.label - 8, y + 14);
	ctx.textAlign = "left";
}

function drawFolded(ctx, view, row, y) {
	ctx.fillStyle = chart.signs.folded.colour;
	for (const p of row.folded) {
		const px = pixelsOf(view, p.from, p.to);
		if (px)
			ctx.fillRect(chart.label + px[0], y + ROW - 3, px[1] - px[0], 2);
	}
}

function drawForks(ctx, top, height) {
	ctx.strokeStyle = theme.fork;
	ctx.lineWidth = 1;
	ctx.setLineDash([1, 2]);
	ctx.beginPath();
	for (const row of chart.processRows) {
		if (row.parent < 0 || row.process.was_there)
			continue;
		const view = viewOf(row.boot), x = xOf(view, row.process.from), a = row.above.y - top + ROW / 2, b = row.item.y - top + ROW / 2;
		if (x < 0 || x > view.width || Math.max(a, b) < 0 || Math.min(a, b) > height)
			continue;
		ctx.moveTo(Math.round(chart.label + x) + .5, a);
		ctx.lineTo(Math.round(chart.label + x) + .5, b);
	}
	ctx.stroke();
	ctx.setLineDash([]);
}

function drawPath(ctx, top) {
	const path = chart.path;
	if (!path)
		return;
	const view = viewOf(path.boot);
	let last = null;
	ctx.strokeStyle = lineColour("path");
	ctx.lineWidth = 2;
	for (const step of path.steps) {
		const row = path.boot.rowOf[step.process.index], px = pixelsOf(view, step.from, step.to);
		const item = row >= 0 ? path.boot.rows[row].item : null;
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

function drawRow(ctx, item, y) {
	const row = item.row, view = viewOf(row.boot);
	if (row.process === chart.selected || chart.hits.has(row.process)) {
		ctx.fillStyle = row.process === chart.selected ? theme.row : theme.hit;
		ctx.globalAlpha = .6;
		ctx.fillRect(chart.label, y, chart.plot, ROW);
		ctx.globalAlpha = 1;
	}
	drawBar(ctx, view, row.process, y);
	drawFolded(ctx, view, row, y);
	drawEnds(ctx, view, row.process, y);
	drawLabel(ctx, row, y);
	if (chart.boots.length > 1)
		drawDifference(ctx, row, y);
}

function drawItems(ctx, items, top, height) {
	for (const item of items) {
		const y = item.y - top;
		if (y + item.h < 0 || y > height)
			continue;
		if (item.row)
			drawRow(ctx, item, y);
		else
			drawMachine[item.kind](ctx, item, y);
	}
}

/** The pointer's time, through everything. */
function drawCursor(ctx, y0, y1) {
	if (chart.cursor === null)
		return;
	const x = chart.label + xOf({ ...chart.view, width: chart.plot }, chart.cursor);
	if (x < chart.label)
		return;
	ctx.fillStyle = theme.accent;
	ctx.globalAlpha = .5;
	ctx.fillRect(Math.round(x), y0, 1, y1 - y0);
	ctx.globalAlpha = 1;
}

function drawHead() {
	const height = AXIS + chart.pinnedHeight, ctx = prepare(chart.head, chart.width, height);
	drawAxis(ctx);
	if (chart.pinned.length)
		drawGrid(ctx, chart.boots[0], AXIS, height);
	drawItems(ctx, chart.pinned, -AXIS, height);
	if (chart.pinned.length)
		drawLines(ctx, chart.boots[0], AXIS, height);
	drawCursor(ctx, 20, height);
}

function drawRows() {
	const height = chart.scroll.clientHeight, top = chart.scroll.scrollTop, ctx = prepare(chart.canvas, chart.width, height);
	for (const boot of chart.boots)
		drawGrid(ctx, boot, Math.max(0, boot.top - top), Math.min(height, boot.bottom - top));
	ctx.save();
	ctx.beginPath();
	ctx.rect(chart.label - 12, 0, chart.plot + 30, height);
	ctx.clip();
	drawForks(ctx, top, height);
	ctx.restore();
	drawItems(ctx, chart.items, top, height);
	for (const boot of chart.boots)
		drawLines(ctx, boot, Math.max(0, boot.top - top), Math.min(height, boot.bottom - top));
	ctx.save();
	ctx.beginPath();
	ctx.rect(chart.label - 2, 0, chart.plot + 4, height);
	ctx.clip();
	drawPath(ctx, top);
	ctx.restore();
	drawCursor(ctx, 0, height);
}
