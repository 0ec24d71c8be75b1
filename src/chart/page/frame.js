// SPDX-License-Identifier: MIT
// frame: the elements of a chart: heading, bar, canvases, panel, card, dialog.
//
// All are made here and found through the frame, never by an id: a page may have several charts and ids of its own.
// No attribute `style` and no handler is ever written as text, so a page with a strict policy can have one.

/**
 * @typedef {import("./types.js").Child} Child
 * @typedef {import("./types.js").Frame} Frame
 */

const PREFIX = "kc-";
let count = 0; // of charts in this page, for the ids that tell which tab is whose

/**
 * An element with classes, text or children. What comes from a device comes in as text, never as markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name @param {string} classes without their prefix @param {...Child} children
 */
export function element(name, classes, ...children) {
	const e = document.createElement(name);
	if (classes)
		e.className = classes.split(" ").map(c => PREFIX + c).join(" ");
	for (const c of children)
		if (c !== null && c !== undefined && c !== "")
			e.append(c);
	return e;
}

/** @template {HTMLElement} T @param {T} e @param {Record<string, string>} attributes */
function withAttributes(e, attributes) {
	for (const [name, value] of Object.entries(attributes))
		e.setAttribute(name, value);
	return e;
}

/** @param {string} name @param {string} text @param {string} title @param {Record<string, string>} more */
function button(name, text, title, more = {}) {
	return withAttributes(element("button", "button " + name, text), { type: "button", title, ...more });
}

const KEYS = [
	["wheel", "scroll; over the upper rows or with Ctrl: zoom at the pointer; with Shift: move in time"],
	["drag", "over the upper rows: zoom into what is marked; over processes: move"],
	["+ − 0", "zoom in, out, show all"],
	["← →", "move in time; with Shift: further"],
	["↑ ↓ Home End", "select a process"],
	["Enter", "fold or unfold the selected process"],
	["F", "zoom to the selected process"],
	["P", "critical path to the end of the selected process, else to the target"],
	["/", "search; Enter and Shift+Enter go to the next and previous match"],
	["L", "panel"],
	["Esc", "forget selection, search and path"],
	["click on the time axis", "critical path to that moment"],
	["click at the end of a bar", "critical path to the end of that process"],
];

function makeKeys() {
	const close = element("form", "", element("button", "button", "Close"));
	close.method = "dialog";
	return element("dialog", "keys", element("h2", "", "Keys and gestures"),
		element("dl", "", ...KEYS.flatMap(([key, text]) => [element("dt", "", key), element("dd", "", text)])), close);
}

function makeInputs() {
	const search = withAttributes(element("input", "search"), {
		type: "search", placeholder: "Name, arguments, pid or /regexp/", "aria-label": "Search processes", spellcheck: "false", autocomplete: "off",
	});
	const sort = element("select", "sort", ...[["tree", "tree"], ["start", "start"], ["cpu", "CPU time"]].map(([value, text]) =>
		withAttributes(element("option", "", text), { value })));
	return {
		search, sort, count: element("output", "count"),
		kernel: withAttributes(element("input", "kernel"), { type: "checkbox" }),
		least: withAttributes(element("input", "least"), { type: "number", min: "0", step: "any" }),
	};
}

function makeButtons() {
	return {
		previous: button("previous", "↑", "Previous match (Shift+Enter)", { "aria-label": "Previous match" }),
		next: button("next", "↓", "Next match (Enter)", { "aria-label": "Next match" }),
		out: button("out", "−", "Zoom out (−)", { "aria-label": "Zoom out" }),
		in: button("in", "+", "Zoom in (+)", { "aria-label": "Zoom in" }),
		fit: button("fit", "Fit", "Show all of the time (0)"),
		foldall: button("foldall", "Fold all", "Fold every process into its parent"),
		unfoldall: button("unfoldall", "Unfold all", "Unfold all"),
		path: button("path", "Critical path", "Critical path to the target; click the time axis for another moment (P)", { "aria-pressed": "false" }),
		side: button("side", "Panel", "Show or hide the panel (L)", { "aria-pressed": "true" }),
		help: button("help", "?", "Keys and gestures (?)"),
	};
}

/** @param {ReturnType<typeof makeInputs>} i @param {ReturnType<typeof makeButtons>} b */
function makeBar(i, b) {
	const least = element("label", "", "shorter than ", i.least, " ms folded");
	least.title = "Processes that lived shorter are drawn in their parent's row";
	return withAttributes(element("div", "bar",
		withAttributes(element("span", "group", i.search, i.count, b.previous, b.next), { role: "search" }),
		element("span", "group", b.out, b.in, b.fit), element("span", "group", b.foldall, b.unfoldall),
		element("span", "group", element("label", "", "Sort ", i.sort), element("label", "", i.kernel, " kernel threads"), least),
		element("span", "group end", b.path, b.side, b.help)), { role: "toolbar", "aria-label": "Chart" });
}

function makeCanvases() {
	const hide = { "aria-hidden": "true" };
	const head = withAttributes(element("canvas", "head"), hide), rows = withAttributes(element("canvas", "rows"), hide);
	const space = element("div", "space", rows), select = element("div", "select"), grip = element("div", "grip");
	const scroll = withAttributes(element("div", "scroll", space), {
		tabindex: "0", role: "application", "aria-label": "Chart of processes: arrow keys move, plus and minus zoom, Enter folds",
	});
	select.hidden = true;
	grip.title = "Drag to make the names wider";
	return { head, rows, space, select, grip, scroll, chart: element("div", "chart", head, scroll, select, grip) };
}

function makePanel() {
	const id = PREFIX + ++count + "-", bar = withAttributes(element("div", "tabs"), { role: "tablist" });
	const panel = withAttributes(element("aside", "panel", bar), { "aria-label": "Panel" });
	/** @type {Frame["tabs"]} */
	const tabs = new Map();
	/** @type {Frame["pages"]} */
	const pages = new Map();
	for (const [name, text] of [["process", "Process"], ["path", "Path"], ["top", "Top"], ["legend", "Legend"]]) {
		const tab = withAttributes(element("button", "tab tab-" + name, text), { type: "button", role: "tab", id: id + "tab-" + name, "aria-controls": id + "page-" + name });
		const page = withAttributes(element("section", "page page-" + name), { role: "tabpanel", id: id + "page-" + name, "aria-labelledby": id + "tab-" + name });
		tabs.set(name, tab);
		pages.set(name, page);
		bar.append(tab);
		panel.append(page);
	}
	return { panel, tabs, pages };
}

/** Fills an element with all of a chart but what it shows. @param {HTMLElement} root @returns {Frame} */
export function makeFrame(root) {
	const inputs = makeInputs(), buttons = makeButtons(), canvases = makeCanvases(), panel = makePanel();
	const title = element("h1", "title"), facts = element("dl", "facts"), notes = element("ul", "notes");
	const card = withAttributes(element("div", "card"), { role: "tooltip" });
	const said = withAttributes(element("p", "said"), { "aria-live": "polite" }), keys = makeKeys();
	notes.setAttribute("aria-label", "What is missing");
	card.hidden = true;
	root.classList.add("kiseki-chart");
	root.replaceChildren(element("header", "header", title, facts, notes), makeBar(inputs, buttons),
		element("div", "main", canvases.chart, panel.panel), card, said, keys);
	return { root, title, facts, notes, card, said, keys, ...inputs, ...buttons, ...canvases, ...panel };
}

/** Shows one page of the panel. @param {import("./types.js").Chart} chart @param {string} name */
export function showTab(chart, name) {
	for (const [key, tab] of chart.frame.tabs) {
		tab.setAttribute("aria-selected", String(key === name));
		tab.tabIndex = key === name ? 0 : -1;
	}
	for (const [key, page] of chart.frame.pages)
		page.hidden = key !== name;
	chart.tab = name;
}

/** The page of the panel with this name. @param {import("./types.js").Chart} chart @param {string} name */
export function pageOf(chart, name) {
	const page = chart.frame.pages.get(name);
	if (!page)
		throw new Error("no page " + name);
	return page;
}
