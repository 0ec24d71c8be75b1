// SPDX-License-Identifier: MIT
// layout: which process has which row, which pixel shows what, and where the axis has its lines.
//
// The same rules as in src/chart/boot_layout.c, which has them in words; here a parent can also be folded by hand.
import { DISK, RUNNABLE, RUNNING, SLEEPING, STATES, STOPPED, UNKNOWN, ZOMBIE, findSpan, spanFrom } from "./model.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Process} Process
 * @typedef {import("./types.js").Row} Row
 * @typedef {import("./types.js").RowOptions} RowOptions
 * @typedef {import("./types.js").Rows} Rows
 * @typedef {import("./types.js").View} View
 */

/** @param {Process} p @param {number} least */
function isShort(p, least) {
	return p.to - p.from < least && !p.is_alive && !p.was_there;
}

/**
 * Rows in tree order, and the row of every process: its own, or the one it is folded into, or -1.
 * @param {Boot} boot @param {RowOptions} o @returns {Rows}
 */
function layoutTree(boot, o) {
	/** @type {Row[]} */
	const rows = [];
	const rowOf = new Int32Array(boot.processes.length).fill(-1);
	for (const p of boot.processes) {
		const above = p.parent >= 0 && p.parent < p.index ? rowOf[p.parent] : -1;
		if (p.to < boot.limits.from || p.from > boot.limits.to || p.is_kernel && !o.kernel)
			continue;
		if (above >= 0 && (isShort(p, o.least) || o.folded.has(rows[above].process))) {
			rows[above].folded.push(p);
			rowOf[p.index] = above;
			continue;
		}
		rowOf[p.index] = rows.length;
		rows.push({ process: p, boot, parent: above, depth: above < 0 ? 0 : rows[above].depth + 1, folded: [], children: 0, item: null, above: null });
		if (above >= 0)
			rows[above].children++;
	}
	return { rows, rowOf };
}

/** @param {Boot} boot @param {RowOptions} o @returns {Rows} */
export function layoutRows(boot, o) {
	if (o.sort === "tree")
		return layoutTree(boot, o);
	const { rows, rowOf } = layoutTree(boot, { ...o, folded: new Set() });
	const order = [...rows.keys()];
	const by = order.map(i => o.sort === "cpu" ? -rows[i].process.ran : rows[i].process.from);
	order.sort((a, b) => by[a] - by[b] || a - b);
	const place = new Int32Array(rows.length);
	order.forEach((from, to) => place[from] = to);
	return {
		rows: order.map(i => ({ ...rows[i], parent: rows[i].parent < 0 ? -1 : place[rows[i].parent], depth: 0 })),
		rowOf: rowOf.map(r => r < 0 ? -1 : place[r]),
	};
}

/**
 * The distance of the axis' lines: 1, 2 or 5 times a power of ten, at least so many pixels apart.
 * @param {number} length @param {number} width @param {number} least
 */
export function axisStep(length, width, least) {
	const ns = length * least / width, unit = 10 ** Math.max(0, Math.floor(Math.log10(ns)));
	return [1, 2, 5, 10].map(k => k * unit).find(k => k >= ns) || unit * 10;
}

/**
 * The first and the last pixel of a stretch of time, at least one apart; null if it is not in sight.
 * @param {View} view @param {number} from @param {number} to
 */
export function pixelsOf(view, from, to) {
	if (to < view.from || from > view.to)
		return null;
	const scale = view.width / (view.to - view.from);
	const a = Math.min(view.width - 1, Math.max(0, Math.floor((from - view.from) * scale)));
	const b = Math.min(view.width, Math.ceil((to - view.from) * scale));
	return [a, Math.max(b, a + 1)];
}

const GROUPS = [[RUNNING, DISK, RUNNABLE, STOPPED], [SLEEPING, ZOMBIE, UNKNOWN]];
const SHARE_LEAST = 50; // thousandths from which a sleeper counts as running
const sums = new Float64Array(STATES); // of one pixel, so that none is made for each

/** Which colour of the ramp has so many thousandths. @param {number} share */
export function levelOf(share) {
	return Math.min(15, Math.floor((share * 15 + 500) / 1000));
}

/**
 * What the pixel from a to b shows of spans from i on: state * 16 + level.
 * @param {Process} p @param {number} i @param {number} a @param {number} b
 */
function lookAt(p, i, a, b) {
	const s = p.spans;
	let ran = 0, all = 0, from = spanFrom(p, i);
	sums.fill(0);
	for (; i < s.n && from < b; i++) {
		const to = s.to[i], part = Math.min(to, b) - Math.max(from, a);
		if (part > 0) {
			const worked = s.state[i] === RUNNING || s.share[i] < SHARE_LEAST ? 0 : part * s.share[i] / 1000;
			sums[RUNNING] += worked;
			sums[s.state[i]] += part - worked;
			all += part;
			ran += part * s.share[i];
		}
		from = to;
	}
	if (all <= 0)
		return -1;
	for (const group of GROUPS) {
		let best = -1, most = 0;
		for (const state of group)
			if (sums[state] > most) {
				best = state;
				most = sums[state];
			}
		if (best >= 0)
			return best * 16 + (best === RUNNING ? levelOf(Math.floor(ran / all + .5)) : 0);
	}
	return -1;
}

/**
 * Calls put(from_px, to_px, state, level) for stretches of pixels that look the same.
 * @param {View} view @param {Process} p @param {(from: number, to: number, state: number, level: number) => void} put
 */
export function eachRun(view, p, put) {
	const px = pixelsOf(view, p.from, p.to), length = (view.to - view.from) / view.width, s = p.spans;
	if (!px || !s.n)
		return;
	let i = findSpan(s, view.from + length * px[0]), last = -1, start = px[0];
	for (let x = px[0]; x < px[1]; x++) {
		const a = view.from + length * x, b = a + length;
		while (i < s.n && s.to[i] <= a)
			i++;
		let now = i < s.n ? lookAt(p, i, a, b) : -1;
		if (now < 0) {
			const near = Math.min(i, s.n - 1);
			now = s.state[near] * 16 + (s.state[near] === RUNNING ? levelOf(s.share[near]) : 0);
		}
		if (now === last)
			continue;
		if (last >= 0)
			put(start, x, last >> 4, last & 15);
		last = now;
		start = x;
	}
	put(start, px[1], last >> 4, last & 15);
}

/**
 * For each pixel the mean of value(i), which holds from point i - 1 to point i; NaN where there is none.
 * @param {View} view @param {number[]} ns @param {(i: number) => number} value
 */
export function seriesOf(view, ns, value) {
	const out = new Float64Array(view.width), weight = new Float64Array(view.width);
	const scale = view.width / (view.to - view.from);
	let low = 0, high = ns.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (ns[middle] <= view.from)
			low = middle + 1;
		else
			high = middle;
	}
	for (let i = Math.max(1, low); i < ns.length && ns[i - 1] < view.to; i++) {
		const a = Math.max(0, (ns[i - 1] - view.from) * scale), b = Math.min(view.width, (ns[i] - view.from) * scale);
		const v = value(i);
		for (let x = Math.floor(a); x < b; x++) {
			const part = Math.min(b, x + 1) - Math.max(a, x);
			out[x] += part * v;
			weight[x] += part;
		}
	}
	for (let x = 0; x < view.width; x++)
		out[x] = weight[x] > 0 ? out[x] / weight[x] : NaN;
	return out;
}
