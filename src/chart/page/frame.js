// SPDX-License-Identifier: MIT
// frame: the elements of a chart: heading, bar, canvases, panel, card, dialog.
//
// All are made here and found through the frame, never by an id: a page may have several charts and ids of its own.
// No attribute `style` and no handler is ever written as text, so a page with a strict policy can have one. What they
// say is put in by sayFrame(), again whenever the language changes.

/**
 * @typedef {import("./types.js").Child} Child
 * @typedef {import("./types.js").Frame} Frame
 * @typedef {import("./types.js").Say} Say
 * @typedef {import("./types.js").Word} Word
 * @typedef {Record<string, Word>} Words
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

/** What elements say: their text, under "", and attributes. @type {WeakMap<Element, Words>} */
const wordsOfElement = new WeakMap();

/** @template {HTMLElement} T @param {T} e @param {Words} words */
function withWords(e, words) {
	wordsOfElement.set(e, words);
	return e;
}

/** Puts the words of a language into all elements that makeFrame() made; what else is shown is filled in by others. @param {Frame} frame @param {Say} say */
export function sayFrame(frame, say) {
	for (const e of frame.root.querySelectorAll("*"))
		for (const [name, word] of Object.entries(wordsOfElement.get(e) ?? {}))
			if (name)
				e.setAttribute(name, say(word));
			else
				e.textContent = say(word);
}

/** @param {string} name @param {Words} words @param {Record<string, string>} more */
function button(name, words, more = {}) {
	return withAttributes(withWords(element("button", "button " + name), words), { type: "button", ...more });
}

/** A button with a sign that is the same in every language. @param {string} name @param {string} sign @param {Words} words */
function signButton(name, sign, words) {
	const b = button(name, words);
	b.textContent = sign;
	return b;
}

/** A piece of text. @param {Word} word */
function text(word) {
	return withWords(element("span", ""), { "": word });
}

/** Keys, or what is done, and what for. @type {[string, Word | "", Word][]} */
const KEYS = [
	["", "wheel", "wheelDoes"],
	["", "drag", "dragDoes"],
	["+ − 0", "", "zoomDoes"],
	["← →", "", "moveDoes"],
	["↑ ↓ Home End", "", "selectDoes"],
	["Enter", "", "foldDoes"],
	["F", "", "toSelectedDoes"],
	["P", "", "pathDoes"],
	["/", "", "searchDoes"],
	["L", "", "panelDoes"],
	["Esc", "", "forgetDoes"],
	["", "clickAxis", "clickAxisDoes"],
	["", "clickEnd", "clickEndDoes"],
];

function makeKeys() {
	const close = element("form", "", withWords(element("button", "button"), { "": "close" }));
	close.method = "dialog";
	return element("dialog", "keys", withWords(element("h2", ""), { "": "keysTitle" }),
		element("dl", "", ...KEYS.flatMap(([key, word, does]) => [element("dt", "", word ? text(word) : key), element("dd", "", text(does))])), close);
}

function makeInputs() {
	const search = withAttributes(withWords(element("input", "search"), { placeholder: "searchHint", "aria-label": "searchName" }), {
		type: "search", spellcheck: "false", autocomplete: "off",
	});
	/** @type {[string, Word][]} */
	const orders = [["tree", "sortTree"], ["start", "sortStart"], ["cpu", "sortCpu"]];
	const sort = element("select", "sort", ...orders.map(([value, word]) => withAttributes(withWords(element("option", ""), { "": word }), { value })));
	return {
		search, sort, count: element("output", "count"),
		kernel: withAttributes(element("input", "kernel"), { type: "checkbox" }),
		least: withAttributes(element("input", "least"), { type: "number", min: "0", step: "any" }),
	};
}

function makeButtons() {
	return {
		previous: signButton("previous", "↑", { title: "previousHint", "aria-label": "previous" }),
		next: signButton("next", "↓", { title: "nextHint", "aria-label": "next" }),
		out: signButton("out", "−", { title: "outHint", "aria-label": "out" }),
		in: signButton("in", "+", { title: "inHint", "aria-label": "in" }),
		fit: button("fit", { "": "fit", title: "fitHint" }),
		foldall: button("foldall", { "": "foldAll", title: "foldAllHint" }),
		unfoldall: button("unfoldall", { "": "unfoldAll", title: "unfoldAll" }),
		path: button("path", { "": "criticalPath", title: "criticalPathHint" }, { "aria-pressed": "false" }),
		side: button("side", { "": "panel", title: "panelHint" }, { "aria-pressed": "true" }),
		help: signButton("help", "?", { title: "helpHint" }),
	};
}

/** @param {ReturnType<typeof makeInputs>} i @param {ReturnType<typeof makeButtons>} b */
function makeBar(i, b) {
	const least = withWords(element("label", "", text("leastBefore"), i.least, text("leastAfter")), { title: "leastHint" });
	return withAttributes(withWords(element("div", "bar",
		withAttributes(element("span", "group", i.search, i.count, b.previous, b.next), { role: "search" }),
		element("span", "group", b.out, b.in, b.fit), element("span", "group", b.foldall, b.unfoldall),
		element("span", "group", element("label", "", text("sort"), i.sort), element("label", "", i.kernel, text("kernelThreads")), least),
		element("span", "group end", b.path, b.side, b.help)), { "aria-label": "chart" }), { role: "toolbar" });
}

function makeCanvases() {
	const hide = { "aria-hidden": "true" };
	const head = withAttributes(element("canvas", "head"), hide), rows = withAttributes(element("canvas", "rows"), hide);
	const space = element("div", "space", rows), select = element("div", "select"), grip = withWords(element("div", "grip"), { title: "gripHint" });
	const scroll = withAttributes(withWords(element("div", "scroll", space), { "aria-label": "rowsName" }), { tabindex: "0", role: "application" });
	select.hidden = true;
	return { head, rows, space, select, grip, scroll, chart: element("div", "chart", head, scroll, select, grip) };
}

/** @type {[string, Word][]} */
const TABS = [["process", "tabProcess"], ["path", "tabPath"], ["top", "tabTop"], ["legend", "tabLegend"]];

function makePanel() {
	const id = PREFIX + ++count + "-", bar = withAttributes(element("div", "tabs"), { role: "tablist" });
	const panel = withWords(element("aside", "panel", bar), { "aria-label": "panel" });
	/** @type {Frame["tabs"]} */
	const tabs = new Map();
	/** @type {Frame["pages"]} */
	const pages = new Map();
	for (const [name, word] of TABS) {
		const tab = withAttributes(withWords(element("button", "tab tab-" + name), { "": word }), { type: "button", role: "tab", id: id + "tab-" + name, "aria-controls": id + "page-" + name });
		const page = withAttributes(element("section", "page page-" + name), { role: "tabpanel", id: id + "page-" + name, "aria-labelledby": id + "tab-" + name });
		tabs.set(name, tab);
		pages.set(name, page);
		bar.append(tab);
		panel.append(page);
	}
	return { panel, tabs, pages };
}

/** Fills an element with all of a chart but what it shows and says. @param {HTMLElement} root @returns {Frame} */
export function makeFrame(root) {
	const inputs = makeInputs(), buttons = makeButtons(), canvases = makeCanvases(), panel = makePanel();
	const title = element("h1", "title"), facts = element("dl", "facts"), notes = withWords(element("ul", "notes"), { "aria-label": "missing" });
	const card = withAttributes(element("div", "card"), { role: "tooltip" });
	const said = withAttributes(element("p", "said"), { "aria-live": "polite" }), keys = makeKeys();
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
