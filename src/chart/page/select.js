// SPDX-License-Identifier: MIT
// select: what somebody has chosen: a process, what a search found, a path, what is folded.
import { draw } from "./draw.js";
import { showTab } from "./frame.js";
import { fillLegend } from "./legend.js";
import { nameOf } from "./model.js";
import { formatLength } from "./number.js";
import { fillPath, fillProcess, sayExit } from "./panel.js";
import { pathTo } from "./path.js";
import { layout, reveal, scrollTo } from "./view.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Process} Process
 */

/** Unfolds what hides a process. @param {Chart} chart @param {Boot} boot @param {Process} p */
function unfoldTo(chart, boot, p) {
	let changed = false;
	for (let i = p.parent; i >= 0; i = boot.processes[i].parent)
		changed = chart.folded.delete(boot.processes[i]) || changed;
	if (changed)
		layout(chart);
}

/** For who cannot see it. @param {Chart} chart */
export function saySelected(chart) {
	const p = chart.selected;
	if (p)
		chart.frame.said.textContent = [nameOf(p), formatLength(p.to - p.from), sayExit(chart, p)].join(chart.say("comma"));
}

/** @param {Chart} chart @param {Boot | null} boot @param {Process | null} p null: nobody */
export function select(chart, boot, p) {
	chart.selected = p;
	chart.selectedBoot = boot;
	if (boot && p) {
		unfoldTo(chart, boot, p);
		scrollTo(chart, boot, p);
	}
	saySelected(chart);
	fillProcess(chart);
	draw(chart);
	chart.actions.selected();
}

/** @param {Chart} chart @param {number} to */
export function selectRow(chart, to) {
	const row = chart.processRows[Math.max(0, Math.min(chart.processRows.length - 1, to))];
	if (row)
		select(chart, row.boot, row.process);
}

/** @param {Chart} chart @param {number} by */
export function moveSelection(chart, by) {
	const rows = chart.processRows, now = rows.findIndex(r => r.process === chart.selected);
	selectRow(chart, now >= 0 ? now + by : by > 0 ? 0 : rows.length - 1);
}

// --- search ---

/** @param {string} text @returns {(p: Process) => boolean} */
function matcher(text) {
	const m = /^\/(.+)\/?$/.exec(text);
	if (m) {
		const pattern = new RegExp(m[1].replace(/\/$/, ""), "i");
		return p => p.names.some(n => pattern.test(n.comm) || pattern.test(n.args)) || pattern.test(String(p.pid));
	}
	const words = text.toLowerCase();
	return /^\d+$/.test(text) ? p => String(p.pid) === text || p.text.includes(words) : p => p.text.includes(words);
}

/** @param {Chart} chart */
export function showCount(chart) {
	const n = chart.found.length, { search: input, count: output } = chart.frame, { say } = chart;
	output.textContent = !input.value.trim() ? "" : chart.at >= 0 ? say("matchOf", { at: chart.at + 1, n }) : say(n === 1 ? "match" : "matches", { n });
}

/** Finds what the field says now. @param {Chart} chart */
export function search(chart) {
	const { search: input } = chart.frame, text = input.value.trim();
	/** @type {ReturnType<typeof matcher> | null} */
	let test = null;
	input.classList.remove("kc-bad");
	try {
		test = text ? matcher(text) : null;
	} catch {
		input.classList.add("kc-bad");
	}
	chart.found = [];
	if (test)
		for (const boot of chart.boots)
			for (const process of boot.processes)
				if (test(process) && boot.rowOf[process.index] >= 0)
					chart.found.push({ boot, process });
	chart.hits = new Set(chart.found.map(f => f.process));
	chart.at = -1;
	showCount(chart);
	draw(chart);
}

/** To the next match, or the one before. @param {Chart} chart @param {number} by */
export function jump(chart, by) {
	const n = chart.found.length;
	if (!n)
		return;
	chart.at = (chart.at + by + n) % n;
	const { boot, process } = chart.found[chart.at];
	select(chart, boot, process);
	reveal(chart, process.from - boot.base, process.to - boot.base);
	showCount(chart);
}

// --- path ---

/** @param {Chart} chart @param {Boot} boot @param {Process | null} process @param {number} ns */
export function showPath(chart, boot, process, ns) {
	chart.path = pathTo(boot, process, ns);
	const last = chart.path.steps[chart.path.steps.length - 1];
	if (last)
		unfoldTo(chart, boot, last.process);
	fillPath(chart);
	fillLegend(chart);
	showTab(chart, "path");
	draw(chart);
}

/** @param {Chart} chart */
function hidePath(chart) {
	chart.path = null;
	fillPath(chart);
	fillLegend(chart);
	draw(chart);
}

/** @param {Chart} chart */
export function togglePath(chart) {
	const boot = chart.selectedBoot ?? chart.boots[0];
	if (chart.path)
		hidePath(chart);
	else if (chart.selected)
		showPath(chart, boot, chart.selected, chart.selected.to);
	else
		showPath(chart, boot, null, boot.target_ns || boot.limits.to);
}

/** Selection, search and path. @param {Chart} chart */
export function forget(chart) {
	chart.frame.search.value = "";
	search(chart);
	select(chart, null, null);
	hidePath(chart);
	chart.frame.scroll.focus({ preventScroll: true });
}

// --- folding ---

/** @param {Chart} chart @param {Process} p */
export function fold(chart, p) {
	if (!chart.folded.delete(p))
		chart.folded.add(p);
	layout(chart);
}

/** @param {Chart} chart @param {boolean} on */
export function foldAll(chart, on) {
	chart.folded.clear();
	for (const boot of on ? chart.boots : [])
		for (const p of boot.processes)
			if (p.children.length && p.parent >= 0)
				chart.folded.add(p);
	layout(chart);
}
