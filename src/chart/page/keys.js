// SPDX-License-Identifier: MIT
// keys: the keyboard, and what the bar above the chart has.
import { showTab } from "./frame.js";
import { MS } from "./model.js";
import { fold, foldAll, forget, jump, moveSelection, search, selectRow, togglePath } from "./select.js";
import { layout, pan, resize, setView, showAll, zoom } from "./view.js";

/** @typedef {import("./types.js").Chart} Chart */

/** @param {Chart} chart */
function zoomToSelected(chart) {
	const p = chart.selected, base = chart.selectedBoot?.base ?? 0;
	if (p)
		setView(chart, p.from - base - (p.to - p.from) * .1, p.to - base + (p.to - p.from) * .1);
}

/** @param {Chart} chart @param {boolean} on */
export function showPanel(chart, on) {
	chart.frame.panel.hidden = !on;
	chart.frame.side.setAttribute("aria-pressed", String(on));
	resize(chart);
}

/** @type {Record<string, (chart: Chart, e: KeyboardEvent) => void>} */
const ACTS = {
	"+": chart => zoom(chart, .7),
	"=": chart => zoom(chart, .7),
	"-": chart => zoom(chart, 1 / .7),
	"0": showAll,
	ArrowLeft: (chart, e) => pan(chart, e.shiftKey ? -.5 : -.1),
	ArrowRight: (chart, e) => pan(chart, e.shiftKey ? .5 : .1),
	ArrowUp: chart => moveSelection(chart, -1),
	ArrowDown: chart => moveSelection(chart, 1),
	PageUp: chart => moveSelection(chart, -20),
	PageDown: chart => moveSelection(chart, 20),
	Home: chart => selectRow(chart, 0),
	End: chart => selectRow(chart, chart.processRows.length),
	Enter: chart => {
		if (chart.selected?.children.length)
			fold(chart, chart.selected);
	},
	f: zoomToSelected,
	p: togglePath,
	l: chart => showPanel(chart, !!chart.frame.panel.hidden),
	"?": chart => chart.frame.keys.showModal(),
	"/": chart => chart.frame.search.focus(),
	Escape: forget,
};

/** @param {Chart} chart @param {KeyboardEvent} e */
function press(chart, e) {
	const { target } = e, { frame } = chart;
	if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || frame.keys.open || !(target instanceof Element))
		return;
	if (target.matches("input, select, textarea")) {
		if (target === frame.search && e.key === "Enter")
			jump(chart, e.shiftKey ? -1 : 1);
		else if (e.key === "Escape" && frame.root.contains(target))
			frame.scroll.focus();
		return;
	}
	if (target.matches("button, tr, a") && (e.key === "Enter" || e.key === " "))
		return;
	const act = ACTS[e.key] ?? ACTS[e.key.toLowerCase()];
	if (act) {
		e.preventDefault();
		act(chart, e);
	}
}

/** @param {Chart} chart @param {AbortSignal} signal */
function listenToTabs(chart, signal) {
	const all = [...chart.frame.tabs];
	all.forEach(([name, tab], i) => {
		tab.addEventListener("click", () => showTab(chart, name), { signal });
		tab.addEventListener("keydown", e => {
			const by = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0;
			if (!by)
				return;
			const [next, button] = all[(i + by + all.length) % all.length];
			e.stopPropagation();
			showTab(chart, next);
			button.focus();
		}, { signal });
	});
}

/** @param {Chart} chart @param {EventTarget} keys @param {AbortSignal} signal */
export function listenToKeys(chart, keys, signal) {
	const { frame, options } = chart;
	const click = (/** @type {HTMLElement} */ button, /** @type {() => void} */ act) => button.addEventListener("click", act, { signal });
	keys.addEventListener("keydown", e => {
		if (e instanceof KeyboardEvent)
			press(chart, e);
	}, { signal });
	click(frame.next, () => jump(chart, 1));
	click(frame.previous, () => jump(chart, -1));
	click(frame.in, () => zoom(chart, .6));
	click(frame.out, () => zoom(chart, 1 / .6));
	click(frame.fit, () => showAll(chart));
	click(frame.foldall, () => foldAll(chart, true));
	click(frame.unfoldall, () => foldAll(chart, false));
	click(frame.path, () => togglePath(chart));
	click(frame.help, () => frame.keys.showModal());
	click(frame.side, () => showPanel(chart, !!frame.panel.hidden));
	frame.search.addEventListener("input", () => search(chart), { signal });
	frame.sort.addEventListener("change", () => {
		options.sort = frame.sort.value;
		layout(chart);
	}, { signal });
	frame.kernel.addEventListener("change", () => {
		options.kernel = frame.kernel.checked;
		layout(chart);
		search(chart);
	}, { signal });
	frame.least.addEventListener("input", () => {
		options.least = Math.max(0, Number(frame.least.value) || 0) * MS;
		layout(chart);
		search(chart);
	}, { signal });
	listenToTabs(chart, signal);
}
