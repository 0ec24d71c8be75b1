// SPDX-License-Identifier: MIT
// mount: the one way in: puts a chart into an element and gives back what can be done with it.
//
// A chart keeps all it has in one object, listens only while it is there, and touches nothing outside of its element
// but for the keys, if it is told so.
import { ROW, viewOf, xOf } from "./canvas.js";
import { draw } from "./draw.js";
import { makeFrame, sayFrame, showTab } from "./frame.js";
import { listenToKeys, showPanel } from "./keys.js";
import { fillLegend } from "./legend.js";
import { MS, decodeBoot } from "./model.js";
import { fillHeader, fillPath, fillProcess, fillTop } from "./panel.js";
import { listenToPointer } from "./pointer.js";
import { labelLeft } from "./rows.js";
import { saySelected, select, showCount, showPath } from "./select.js";
import { readTheme } from "./theme.js";
import { LABEL, layout, resize, reveal, rowOf, setView } from "./view.js";
import { wordsOf } from "./words.js";

/**
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").ChartData} ChartData
 * @typedef {import("./types.js").Handle} Handle
 * @typedef {import("./types.js").Language} Language
 * @typedef {import("./types.js").MountOptions} MountOptions
 * @typedef {import("./types.js").Pair} Pair
 */

/** @param {ChartData} data @returns {Chart["pairOf"]} */
function takePairs(data) {
	/** @type {Chart["pairOf"]} */
	const out = [new Map(), new Map()];
	for (const [a, b, start, end, length, cpu, disk] of data.pairs?.list ?? []) {
		const pair = { a, b, start, end, length, cpu, disk };
		if (a >= 0)
			out[0].set(a, pair);
		if (b >= 0)
			out[1].set(b, pair);
	}
	return out;
}

/** @param {Chart} chart @param {ChartData} data */
function takePath(chart, data) {
	const [boot] = chart.boots;
	if (!data.path)
		return;
	chart.path = {
		boot, to: data.path.to_ns,
		steps: data.path.steps.map(([process, from, to, inferred]) => ({ process: boot.processes[process], from, to, inferred: !!inferred })),
	};
	showTab(chart, "path");
}

/** @param {HTMLElement} root @param {ChartData} data @param {MountOptions} options @returns {Chart} */
function newChart(root, data, options) {
	const boots = data.boots.map(decodeBoot);
	const limits = { from: Math.min(...boots.map(b => b.limits.from - b.base)), to: Math.max(...boots.map(b => b.limits.to - b.base)) };
	const frame = makeFrame(root), language = options.language ?? "en";
	/** @type {Chart} */
	const chart = {
		frame, language, say: wordsOf(language), theme: readTheme(root), signs: new Map(data.signs.map(s => [s.key, s])), ramp: data.ramp, boots, pairOf: takePairs(data),
		compared: { target: data.pairs?.target_ns ?? 0, fresh: data.pairs?.n_new ?? 0, gone: data.pairs?.n_gone ?? 0 },
		view: { ...limits }, limits, label: LABEL, plot: 100, width: 100, pinned: [], pinnedHeight: 0, items: [], processRows: [],
		folded: new Set(), hits: new Set(), found: [], at: -1, selected: null, selectedBoot: null, path: null, cursor: null, tab: "legend",
		options: { kernel: data.options.kernel, least: data.options.min_ns, sort: "tree" }, request: 0, drawn: 0,
		actions: {
			select: (boot, process) => select(chart, boot, process),
			showPath: (boot, process, ns) => showPath(chart, boot, process, ns),
			reveal: (from, to) => reveal(chart, from, to),
			selected: () => options.onSelect?.(chart.selected && { boot: chart.selectedBoot?.index ?? 0, pid: chart.selected.pid }),
		},
	};
	frame.kernel.checked = data.options.kernel;
	frame.least.value = String(data.options.min_ns / MS);
	return chart;
}

/** @param {Chart} chart */
function refresh(chart) {
	chart.theme = readTheme(chart.frame.root);
	fillLegend(chart);
	draw(chart);
}

/** Puts in all words again. @param {Chart} chart @param {Language} language */
function setLanguage(chart, language) {
	const { frame } = chart;
	chart.language = frame.root.lang = language;
	chart.say = wordsOf(language);
	sayFrame(frame, chart.say);
	fillHeader(chart);
	fillProcess(chart);
	fillTop(chart);
	fillPath(chart);
	fillLegend(chart);
	showCount(chart);
	saySelected(chart);
	frame.card.hidden = true; // it comes again with the next move of the pointer
	draw(chart);
}

/** @param {Chart} chart @param {MountOptions} options @param {AbortSignal} signal */
function listen(chart, options, signal) {
	const size = new ResizeObserver(() => resize(chart)), look = new MutationObserver(() => refresh(chart));
	listenToPointer(chart, signal);
	listenToKeys(chart, options.keys ?? chart.frame.root, signal);
	size.observe(chart.frame.chart);
	// A page that switches between light and dark by itself does so by an attribute of its root, or of the chart.
	for (const e of [document.documentElement, chart.frame.root])
		look.observe(e, { attributes: true, attributeFilter: ["class", "data-theme"] });
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh(chart), { signal });
	signal.addEventListener("abort", () => {
		size.disconnect();
		look.disconnect();
	});
}

/** @param {Chart} chart @param {number} pid @param {number} index */
function findProcess(chart, pid, index) {
	const boot = chart.boots[index], process = boot?.processes.find(p => p.pid === pid);
	if (!process)
		throw new RangeError("no process " + pid + " in boot " + index);
	return { boot, process };
}

/** @param {Chart} chart @param {AbortController} listening @returns {Handle} */
function makeHandle(chart, listening) {
	const { root, rows, scroll } = chart.frame;
	return {
		destroy() {
			listening.abort();
			cancelAnimationFrame(chart.request);
			root.replaceChildren();
			root.classList.remove("kiseki-chart");
			root.removeAttribute("lang");
		},
		refresh: () => refresh(chart),
		setLanguage: language => setLanguage(chart, language),
		rows: () => chart.processRows.map(r => ({ pid: r.process.pid, comm: r.process.comm, depth: r.depth, folded: r.folded.length })),
		machine: () => [...chart.pinned, ...chart.items.filter(i => !i.row)].map(i => i.name),
		view: () => ({ ...chart.view }),
		setView: (from, to) => setView(chart, from, to),
		found: () => chart.found.length,
		selected: () => chart.selected && chart.selected.pid,
		show(pid, index = 0) {
			const { boot, process } = findProcess(chart, pid, index);
			select(chart, boot, process);
			showTab(chart, "process");
		},
		path() {
			const { path } = chart, base = path?.boot.base ?? 0;
			return path && path.steps.map(s => ({ pid: s.process.pid, from: s.from - base, to: s.to - base, inferred: s.inferred }));
		},
		place(pid, ns, index = 0) {
			const { boot, process } = findProcess(chart, pid, index), row = rowOf(boot, process), box = rows.getBoundingClientRect();
			if (!row?.item)
				throw new RangeError("process " + pid + " has no row");
			return { x: box.left + chart.label + xOf(viewOf(chart, boot), ns + boot.base), y: box.top + row.item.y - scroll.scrollTop + ROW / 2, label: box.left + labelLeft(row) - 7 };
		},
		drawn: () => chart.drawn,
	};
}

/** @type {import("./types.js").Mount} */
export const mount = (element, data, options = {}) => {
	if (data.version !== 1 || !data.boots.length)
		throw new RangeError("no chart of version 1");
	const chart = newChart(element, data, options), listening = new AbortController();
	element.classList.toggle("kc-bare", options.header === false);
	showTab(chart, "legend");
	takePath(chart, data);
	listen(chart, options, listening.signal);
	showPanel(chart, options.panel !== false);
	layout(chart);
	setLanguage(chart, chart.language);
	return makeHandle(chart, listening);
};
