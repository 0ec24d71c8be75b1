// SPDX-License-Identifier: MIT
// view: which rows there are and which part of the time is in sight.
import { ROW } from "./canvas.js";
import { draw } from "./draw.js";
import { layoutRows } from "./layout.js";
import { fillLegend } from "./legend.js";
import { machineItems, makeItem, stackItems } from "./machine.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Process} Process
 */

export const LABEL = 290;
const LABEL_LEAST = 120, PLOT_LEAST = 50, RIGHT = 26, VIEW_LEAST = 1000; // ns

/** @param {Chart} chart @param {Boot} boot @param {number} y where it begins; returns where it ends */
function layoutBoot(chart, boot, y) {
	const two = chart.boots.length > 1, machine = machineItems(boot, two);
	boot.top = y;
	if (two) {
		y = stackItems(machine, y);
		chart.items.push(...machine);
	} else {
		chart.pinned = machine;
		chart.pinnedHeight = stackItems(machine, 4);
	}
	Object.assign(boot, layoutRows(boot, { ...chart.options, folded: chart.folded }));
	for (const row of boot.rows) {
		row.item = makeItem("process", boot, ROW, { row });
		chart.items.push(row.item);
		chart.processRows.push(row);
	}
	for (const row of boot.rows)
		row.above = boot.rows[row.parent]?.item ?? null;
	y = stackItems(chart.items.slice(chart.items.length - boot.rows.length), y) + (two ? 14 : 6);
	boot.bottom = two ? y - 10 : 1e9;
	return y;
}

/** After something has changed that decides which rows there are. @param {Chart} chart */
export function layout(chart) {
	let y = 6;
	chart.items = [];
	chart.processRows = [];
	for (const boot of chart.boots)
		y = layoutBoot(chart, boot, y);
	chart.frame.space.style.height = y + "px";
	if (chart.tab === "legend")
		fillLegend(chart);
	draw(chart);
}

/** @param {Chart} chart */
export function resize(chart) {
	chart.width = chart.frame.chart.clientWidth;
	chart.plot = Math.max(PLOT_LEAST, Math.floor(chart.width - chart.label - RIGHT));
	chart.frame.grip.style.left = chart.label - 5 + "px";
	draw(chart);
}

/** @param {Chart} chart @param {number} width */
export function setLabel(chart, width) {
	chart.label = Math.max(LABEL_LEAST, Math.min(chart.width - 200, width));
	resize(chart);
}

/** @param {Chart} chart @param {number} from @param {number} to */
export function setView(chart, from, to) {
	const { limits } = chart, length = Math.min(Math.max(to - from, VIEW_LEAST), limits.to - limits.from);
	from = Math.min(Math.max(from, limits.from), limits.to - length);
	chart.view = { from, to: from + length };
	draw(chart);
}

/** @param {Chart} chart @param {number} factor @param {number} [around] a time that stays where it is */
export function zoom(chart, factor, around) {
	const { from, to } = chart.view, at = around ?? (from + to) / 2;
	setView(chart, at - (at - from) * factor, at + (to - at) * factor);
}

/** @param {Chart} chart @param {number} part of what is in sight */
export function pan(chart, part) {
	const { from, to } = chart.view, by = (to - from) * part;
	setView(chart, from + by, to + by);
}

/** @param {Chart} chart */
export function showAll(chart) {
	setView(chart, chart.limits.from, chart.limits.to);
}

/** Shows a stretch of time if it is not in sight, without zooming out for a longer one. @param {Chart} chart @param {number} from @param {number} to */
export function reveal(chart, from, to) {
	const { view } = chart, length = view.to - view.from;
	if (from >= view.from && to <= view.to)
		return;
	if (to - from > length)
		setView(chart, from - length * .05, from + length * .95);
	else
		setView(chart, (from + to) / 2 - length / 2, (from + to) / 2 + length / 2);
}

/** The row of a process, or of the one it is folded into. @param {Boot} boot @param {Process} p */
export function rowOf(boot, p) {
	return boot.rows[boot.rowOf[p.index]] ?? null;
}

/** @param {Chart} chart @param {Boot} boot @param {Process} p */
export function scrollTo(chart, boot, p) {
	const y = rowOf(boot, p)?.item?.y, box = chart.frame.scroll;
	if (y === undefined)
		return;
	if (y < box.scrollTop + ROW)
		box.scrollTop = y - 2 * ROW;
	else if (y + 2 * ROW > box.scrollTop + box.clientHeight)
		box.scrollTop = y + 3 * ROW - box.clientHeight;
}
