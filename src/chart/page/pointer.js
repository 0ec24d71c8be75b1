// SPDX-License-Identifier: MIT
// pointer: what moves over the chart, clicks, drags and turns the wheel.
import { AXIS, GAP, timeAt, viewOf, xOf } from "./canvas.js";
import { draw } from "./draw.js";
import { element, showTab } from "./frame.js";
import { describeMachine } from "./machine.js";
import { describeProcess } from "./panel.js";
import { reasonOf } from "./reason.js";
import { canFold, labelLeft } from "./rows.js";
import { fold, select, showPath } from "./select.js";
import { pan, setLabel, setView, zoom } from "./view.js";

/**
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Item} Item
 * @typedef {import("./types.js").Row} Row
 */

const MOVED = 4; // pixels from which a click is a drag

// --- the card ---

/** @param {Chart} chart @param {MouseEvent} e */
function placeCard(chart, e) {
	const { card } = chart.frame, box = card.getBoundingClientRect();
	const left = e.clientX + 18 + box.width > innerWidth ? e.clientX - box.width - 14 : e.clientX + 18;
	const top = e.clientY + 18 + box.height > innerHeight ? Math.max(4, innerHeight - box.height - 8) : e.clientY + 18;
	card.style.left = Math.max(4, left) + "px";
	card.style.top = top + "px";
}

/** @param {Chart} chart @param {Item} item @param {number} x @returns {HTMLElement[]} */
function describe(chart, item, x) {
	const { boot, row } = item, ns = timeAt(chart, x) + boot.base;
	if (!row)
		return x < chart.label ? [] : describeMachine(chart, item, x);
	const gap = boot.gaps.find(g => ns >= g.from_ns && ns <= g.to_ns);
	return [...describeProcess(chart, boot, row.process, x < chart.label ? row.process.from : ns),
		...(gap ? [element("div", "soft", chart.say("gap", { why: reasonOf(chart, gap.why) }))] : [])];
}

/** @param {Chart} chart @param {MouseEvent} e @param {Item | null} item @param {number} x */
function hover(chart, e, item, x) {
	const words = item ? describe(chart, item, x) : [], { card } = chart.frame;
	chart.cursor = x >= chart.label ? timeAt(chart, x) : null;
	draw(chart);
	card.hidden = !words.length;
	card.replaceChildren(...words);
	if (words.length)
		placeCard(chart, e);
}

/** @param {Chart} chart */
function leave(chart) {
	chart.cursor = null;
	chart.frame.card.hidden = true;
	draw(chart);
}

// --- drags and clicks ---

/**
 * Follows a pointer until it is let go.
 * @param {HTMLElement} target @param {PointerEvent} e @param {(dx: number, dy: number) => void} onMove
 * @param {(moved: boolean, last: PointerEvent) => void} onEnd
 */
function startDrag(target, e, onMove, onEnd) {
	const x0 = e.clientX, y0 = e.clientY, listening = new AbortController(), { signal } = listening;
	let moved = false;
	const end = (/** @type {PointerEvent} */ m) => {
		listening.abort();
		onEnd(moved && m.type === "pointerup", m);
	};
	target.setPointerCapture(e.pointerId);
	target.addEventListener("pointermove", m => {
		moved = moved || Math.abs(m.clientX - x0) + Math.abs(m.clientY - y0) > MOVED;
		if (moved)
			onMove(m.clientX - x0, m.clientY - y0);
	}, { signal });
	target.addEventListener("pointerup", end, { signal });
	target.addEventListener("pointercancel", end, { signal });
}

/** @param {Chart} chart @param {WheelEvent} e @param {boolean} inHead */
function wheel(chart, e, inHead) {
	const { left } = chart.frame.chart.getBoundingClientRect();
	if (e.ctrlKey || e.metaKey || inHead && Math.abs(e.deltaY) >= Math.abs(e.deltaX) && !e.shiftKey) {
		e.preventDefault();
		zoom(chart, Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), Math.max(chart.view.from, timeAt(chart, e.clientX - left)));
	} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
		e.preventDefault();
		pan(chart, (e.deltaX || e.deltaY) / chart.plot);
	}
}

/** The row under a height of the canvas. @param {Chart} chart @param {number} y */
function itemAt(chart, y) {
	const top = y + chart.frame.scroll.scrollTop, { items } = chart;
	let low = 0, high = items.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (items[middle].y + items[middle].h <= top)
			low = middle + 1;
		else
			high = middle;
	}
	return low < items.length && items[low].y <= top ? items[low] : null;
}

/** @param {Chart} chart @param {Row} row @param {number} x */
function clickRow(chart, row, x) {
	const p = row.process, left = labelLeft(row), end = chart.label + xOf(viewOf(chart, row.boot), p.to);
	if (x < chart.label && canFold(chart, row) && x > left - 15 && x < left) {
		fold(chart, p);
		return;
	}
	select(chart, row.boot, p);
	if (x < chart.label)
		return;
	if (Math.abs(x - end) <= 5)
		showPath(chart, row.boot, p, p.to);
	else
		showTab(chart, "process");
}

/** Marks a stretch of time over the upper rows; a click on the axis asks for the path to there. @param {Chart} chart @param {PointerEvent} e */
function pressHead(chart, e) {
	const { head, select: box } = chart.frame, place = head.getBoundingClientRect(), x0 = e.clientX - place.left, y0 = e.clientY - place.top;
	if (e.button || x0 < chart.label)
		return;
	startDrag(head, e, dx => {
		box.hidden = false;
		box.style.left = Math.max(chart.label, Math.min(x0, x0 + dx)) + "px";
		box.style.width = Math.abs(dx) + "px";
		box.style.height = head.clientHeight + "px";
	}, (moved, m) => {
		const a = timeAt(chart, x0), b = timeAt(chart, Math.max(chart.label, m.clientX - place.left));
		box.hidden = true;
		if (moved)
			setView(chart, Math.min(a, b), Math.max(a, b));
		else if (y0 < AXIS && m.type === "pointerup")
			showPath(chart, chart.boots[0], null, a + chart.boots[0].base);
	});
}

/** Moves the rows, or clicks on one. @param {Chart} chart @param {PointerEvent} e */
function pressRows(chart, e) {
	const { rows, scroll } = chart.frame, place = rows.getBoundingClientRect(), x = e.clientX - place.left;
	const item = itemAt(chart, e.clientY - place.top), top = scroll.scrollTop, { from, to } = chart.view;
	if (e.button)
		return;
	scroll.focus({ preventScroll: true });
	startDrag(rows, e, (dx, dy) => {
		const by = dx / chart.plot * (to - from);
		chart.frame.card.hidden = true;
		scroll.scrollTop = top - dy;
		setView(chart, from - by, to - by);
	}, (moved, m) => {
		if (!moved && m.type === "pointerup" && item?.row)
			clickRow(chart, item.row, x);
	});
}

/** @param {Chart} chart @param {AbortSignal} signal */
export function listenToPointer(chart, signal) {
	const { head, rows, scroll, grip, card } = chart.frame;
	head.addEventListener("wheel", e => wheel(chart, e, true), { passive: false, signal });
	head.addEventListener("pointermove", e => {
		const place = head.getBoundingClientRect(), y = e.clientY - place.top - AXIS;
		hover(chart, e, chart.pinned.find(i => y >= i.y && y < i.y + i.h + GAP) ?? null, e.clientX - place.left);
	}, { signal });
	head.addEventListener("pointerleave", () => leave(chart), { signal });
	head.addEventListener("pointerdown", e => pressHead(chart, e), { signal });
	scroll.addEventListener("scroll", () => {
		card.hidden = true;
		draw(chart);
	}, { signal });
	scroll.addEventListener("wheel", e => wheel(chart, e, false), { passive: false, signal });
	rows.addEventListener("pointermove", e => {
		const place = rows.getBoundingClientRect();
		hover(chart, e, itemAt(chart, e.clientY - place.top), e.clientX - place.left);
	}, { signal });
	rows.addEventListener("pointerleave", () => leave(chart), { signal });
	rows.addEventListener("pointerdown", e => pressRows(chart, e), { signal });
	rows.addEventListener("dblclick", e => {
		const place = rows.getBoundingClientRect(), row = itemAt(chart, e.clientY - place.top)?.row;
		if (row && e.clientX - place.left < chart.label)
			fold(chart, row.process);
	}, { signal });
	grip.addEventListener("pointerdown", e => {
		const wide = chart.label;
		startDrag(grip, e, dx => setLabel(chart, wide + dx), () => {});
	}, { signal });
}
