// SPDX-License-Identifier: MIT
// view: the state of the page and what changes it: pointer, wheel, keys, buttons. It is the last of the scripts and
// starts everything.
"use strict";

const LABEL = 290, RIGHT = 16, LEAST_VIEW = 1000; // ns

const chart = {
	boots: [], signs: {}, ramp: [], pairOf: [], view: { from: 0, to: 1 }, limits: { from: 0, to: 1 },
	label: LABEL, plot: 100, width: 100, pinned: [], pinnedHeight: 0, items: [], processRows: [],
	folded: new Set(), hits: new Set(), found: [], at: -1, selected: null, selectedBoot: null, path: null, cursor: null, tab: "legend",
	options: { kernel: false, least: 0, sort: "tree" }, dirty: false,
};

// --- what there is ---

function machineItems(boot, two) {
	const out = [], p = boot.points, add = (kind, h, more) => out.push({ kind, h, boot, ...more });
	if (two)
		add("section", HEIGHTS.section);
	if (p.ns.length > 1)
		add("cpu", HEIGHTS.cpu);
	for (const disk of boot.disks)
		if (!disk.is_part && disk.points.ns.length > 1)
			add("disk", HEIGHTS.disk, { disk });
	if (p.memory_used_kib.some(v => v > 0))
		add("memory", HEIGHTS.memory, { swap: p.swap_used_kib.reduce((a, b) => Math.max(a, b), 0) });
	RESOURCES.forEach((k, resource) => {
		if (p[k + "_some_ns"].some(v => v > 0) || p[k + "_full_ns"].some(v => v > 0))
			add("pressure", HEIGHTS.pressure, { resource });
	});
	const flags = boot.marks.filter(m => LINES[m.type]).length, phases = boot.marks.filter(m => m.type === "phase").length;
	if (flags)
		add("flags", LANE * Math.min(2, flags) + 2, { lanes: Math.min(2, flags) });
	if (phases)
		add("phases", LANE * Math.min(3, phases) + 2, { lanes: Math.min(3, phases) });
	if (boot.marks.some(m => m.type === "kernel"))
		add("messages", LANE);
	return out;
}

/** Puts items below each other; returns their height. */
function stack(items, y) {
	for (const item of items) {
		item.y = y;
		y += item.h + (item.row ? 0 : GAP);
	}
	return y;
}

function layout() {
	const two = chart.boots.length > 1, o = { ...chart.options, folded: chart.folded };
	let y = 6;
	chart.items = [];
	chart.processRows = [];
	for (const boot of chart.boots) {
		const machine = machineItems(boot, two);
		boot.top = y;
		if (two) {
			y = stack(machine, y);
			chart.items.push(...machine);
		} else {
			chart.pinned = machine;
			chart.pinnedHeight = stack(machine, 4);
		}
		Object.assign(boot, layoutRows(boot, o));
		const items = boot.rows.map(row => row.item = { h: ROW, row, boot });
		y = stack(items, y) + (two ? 14 : 6);
		for (const row of boot.rows)
			row.above = row.parent >= 0 ? boot.rows[row.parent].item : null;
		boot.bottom = two ? y - 10 : 1e9;
		chart.items.push(...items);
		chart.processRows.push(...boot.rows);
	}
	byId("space").style.height = y + "px";
	if (chart.tab === "legend")
		fillLegend();
	draw();
}

function resize() {
	chart.width = byId("chart").clientWidth;
	chart.plot = Math.max(50, Math.floor(chart.width - chart.label - RIGHT - 10));
	byId("grip").style.left = chart.label - 5 + "px";
	draw();
}

function draw() {
	if (chart.dirty)
		return;
	chart.dirty = true;
	requestAnimationFrame(() => {
		chart.dirty = false;
		drawHead();
		drawRows();
		document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn || 0) + 1);
	});
}

// --- time ---

function setView(from, to) {
	const { limits } = chart, length = Math.min(Math.max(to - from, LEAST_VIEW), limits.to - limits.from);
	from = Math.min(Math.max(from, limits.from), limits.to - length);
	chart.view = { from, to: from + length };
	draw();
}

function zoom(factor, around) {
	const { from, to } = chart.view, at = around === undefined ? (from + to) / 2 : around;
	setView(at - (at - from) * factor, at + (to - at) * factor);
}

const pan = part => {
	const by = (chart.view.to - chart.view.from) * part;
	setView(chart.view.from + by, chart.view.to + by);
};

/** Shows a stretch of time if it is not in sight, without zooming out for a longer one. */
function reveal(from, to) {
	const { view } = chart, length = view.to - view.from;
	if (from >= view.from && to <= view.to)
		return;
	if (to - from > length)
		setView(from - length * .05, from + length * .95);
	else
		setView((from + to) / 2 - length / 2, (from + to) / 2 + length / 2);
}

const timeAt = x => chart.view.from + (x - chart.label) / chart.plot * (chart.view.to - chart.view.from);

// --- selection, search, path ---

function rowOf(boot, p) {
	const i = boot.rowOf[p.index];
	return i < 0 ? null : boot.rows[i];
}

/** Unfolds what hides a process. */
function unfoldTo(boot, p) {
	let changed = false;
	for (let i = p.parent; i >= 0; i = boot.processes[i].parent)
		changed = chart.folded.delete(boot.processes[i]) || changed;
	if (changed)
		layout();
}

function scrollTo(boot, p) {
	const row = rowOf(boot, p), box = byId("scroll");
	if (!row)
		return;
	if (row.item.y < box.scrollTop + ROW)
		box.scrollTop = row.item.y - 2 * ROW;
	else if (row.item.y + 2 * ROW > box.scrollTop + box.clientHeight)
		box.scrollTop = row.item.y + 3 * ROW - box.clientHeight;
}

function select(boot, p) {
	chart.selected = p;
	chart.selectedBoot = boot;
	if (p) {
		unfoldTo(boot, p);
		scrollTo(boot, p);
		byId("said").textContent = nameOf(p) + ", " + formatLength(p.to - p.from) + ", " + formatExit(p);
	}
	fillProcess();
	draw();
}

function matcher(text) {
	const m = /^\/(.+)\/?$/.exec(text);
	if (m) {
		const pattern = new RegExp(m[1].replace(/\/$/, ""), "i");
		return p => p.names.some(n => pattern.test(n.comm) || pattern.test(n.args)) || pattern.test(String(p.pid));
	}
	const words = text.toLowerCase();
	return /^\d+$/.test(text) ? p => String(p.pid) === text || p.text.includes(words) : p => p.text.includes(words);
}

function search() {
	const text = byId("search").value.trim();
	let test = null;
	byId("search").classList.remove("bad");
	try {
		test = text ? matcher(text) : null;
	} catch {
		byId("search").classList.add("bad");
	}
	chart.found = [];
	if (test)
		for (const boot of chart.boots)
			for (const p of boot.processes)
				if (test(p) && boot.rowOf[p.index] >= 0)
					chart.found.push({ boot, p });
	chart.hits = new Set(chart.found.map(f => f.p));
	chart.at = -1;
	showCount();
	draw();
}

function showCount() {
	const n = chart.found.length;
	byId("count").textContent = !byId("search").value.trim() ? "" : chart.at >= 0 ? chart.at + 1 + " of " + n : n + (n === 1 ? " match" : " matches");
}

function jump(by) {
	const n = chart.found.length;
	if (!n)
		return;
	chart.at = (chart.at + by + n) % n;
	const { boot, p } = chart.found[chart.at];
	select(boot, p);
	reveal(p.from - boot.base, p.to - boot.base);
	showCount();
}

function showPath(boot, process, ns) {
	const path = pathTo(boot, process, ns);
	chart.path = { ...path, boot };
	if (path.steps.length) {
		const last = path.steps[path.steps.length - 1];
		unfoldTo(boot, last.process);
	}
	fillPath();
	fillLegend();
	showTab("path");
	draw();
}

function hidePath() {
	chart.path = null;
	fillPath();
	fillLegend();
	draw();
}

function togglePath() {
	const boot = chart.selectedBoot || chart.boots[0];
	if (chart.path)
		hidePath();
	else if (chart.selected)
		showPath(boot, chart.selected, chart.selected.to);
	else
		showPath(boot, null, boot.target_ns || boot.limits.to);
}

// --- folding ---

function fold(p) {
	if (!chart.folded.delete(p))
		chart.folded.add(p);
	layout();
}

function foldAll(on) {
	chart.folded.clear();
	if (on)
		for (const boot of chart.boots)
			for (const p of boot.processes)
				if (p.children.length && p.parent >= 0)
					chart.folded.add(p);
	layout();
}

// --- pointer ---

function itemAt(y) {
	const top = y + byId("scroll").scrollTop;
	let low = 0, high = chart.items.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (chart.items[middle].y + chart.items[middle].h <= top)
			low = middle + 1;
		else
			high = middle;
	}
	const item = chart.items[low];
	return item && item.y <= top ? item : null;
}

function placeCard(e) {
	const card = byId("card"), box = card.getBoundingClientRect();
	const left = e.clientX + 18 + box.width > innerWidth ? e.clientX - box.width - 14 : e.clientX + 18;
	const top = e.clientY + 18 + box.height > innerHeight ? Math.max(4, innerHeight - box.height - 8) : e.clientY + 18;
	card.style.left = Math.max(4, left) + "px";
	card.style.top = top + "px";
}

function hideCard() {
	byId("card").hidden = true;
}

/** Marks within a few pixels of x, of the kinds that an item shows. */
function marksNear(item, x) {
	const ns = timeAt(x) + item.boot.base, off = 4 * (chart.view.to - chart.view.from) / chart.plot;
	const kinds = item.kind === "messages" ? ["kernel"] : item.kind === "phases" ? ["phase"] : Object.keys(LINES);
	return item.boot.marks.filter(m => kinds.includes(m.type) && Math.abs(m.ns - ns) <= off);
}

function machineCard(item, x) {
	const boot = item.boot, ns = timeAt(x) + boot.base, p = item.kind === "disk" ? item.disk.points : boot.points;
	const i = p.ns.findIndex(t => t >= ns), rows = [], percent = v => (100 * v).toFixed(0) + " %";
	if (i < 1)
		return false;
	const length = p.ns[i] - p.ns[i - 1];
	if (item.kind === "cpu") {
		const keys = ["user", "system", "irq", "steal", "iowait", "idle"], all = keys.reduce((a, k) => a + p[k + "_ns"][i], 0) || 1;
		rows.push(...keys.map(k => line(k, percent(p[k + "_ns"][i] / all))), line("runnable", String(p.runnable[i])), line("blocked", String(p.blocked[i])));
	} else if (item.kind === "disk") {
		rows.push(line("read", formatBytes(p.read_bytes[i] / length * 1e9) + "/s"), line("written", formatBytes(p.written_bytes[i] / length * 1e9) + "/s"), line("busy", percent(p.busy_ns[i] / length)));
	} else if (item.kind === "memory") {
		rows.push(...["memory_used", "memory_cached", "memory_free", "swap_used"].map(k => line(k.replace("_", " "), formatBytes(p[k + "_kib"][i] * 1024))));
	} else if (item.kind === "pressure") {
		const k = RESOURCES[item.resource];
		rows.push(line("some", percent(p[k + "_some_ns"][i] / length)), line("full", percent(p[k + "_full_ns"][i] / length)));
	} else {
		return false;
	}
	byId("card").replaceChildren(element("div", "soft", formatTime(p.ns[i - 1] - boot.base) + " to " + formatTime(p.ns[i] - boot.base)), element("table", "", ...rows));
	return true;
}

function hover(e, item, x) {
	const gap = item && item.boot.gaps.find(g => timeAt(x) + item.boot.base >= g.from_ns && timeAt(x) + item.boot.base <= g.to_ns);
	chart.cursor = x >= chart.label ? timeAt(x) : null;
	draw();
	let shown = false;
	if (item && item.row) {
		const p = item.row.process, base = item.boot.base;
		fillCard(item.boot, p, x < chart.label ? p.from : timeAt(x) + base);
		if (gap)
			byId("card").append(element("div", "soft", "Gap: " + gap.why));
		shown = true;
	} else if (item && x >= chart.label) {
		const marks = ["messages", "phases", "flags"].includes(item.kind) ? marksNear(item, x) : [];
		if (marks.length)
			fillMarkCard(item.boot, marks);
		shown = marks.length > 0 || machineCard(item, x);
	}
	byId("card").hidden = !shown;
	if (shown)
		placeCard(e);
}

function clickRow(item, x) {
	const row = item.row, p = row.process, left = 20 + row.depth * INDENT;
	if (x < chart.label) {
		if ((row.children || chart.folded.has(p)) && x > left - 15 && x < left)
			fold(p);
		else
			select(item.boot, p);
		return;
	}
	const view = viewOf(item.boot), end = chart.label + xOf(view, p.to);
	select(item.boot, p);
	if (Math.abs(x - end) <= 5)
		showPath(item.boot, p, p.to);
	else
		showTab("process");
}

function startDrag(target, e, onMove, onEnd) {
	let moved = false;
	const x0 = e.clientX, y0 = e.clientY;
	target.setPointerCapture(e.pointerId);
	const move = m => {
		moved = moved || Math.abs(m.clientX - x0) + Math.abs(m.clientY - y0) > 4;
		if (moved)
			onMove(m.clientX - x0, m.clientY - y0, m);
	};
	const up = m => {
		target.removeEventListener("pointermove", move);
		target.removeEventListener("pointerup", up);
		target.removeEventListener("pointercancel", up);
		onEnd(moved && m.type === "pointerup", m);
	};
	target.addEventListener("pointermove", move);
	target.addEventListener("pointerup", up);
	target.addEventListener("pointercancel", up);
}

function wheel(e, inHead) {
	const left = byId("chart").getBoundingClientRect().left;
	if (e.ctrlKey || e.metaKey || inHead && Math.abs(e.deltaY) >= Math.abs(e.deltaX) && !e.shiftKey) {
		e.preventDefault();
		zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), Math.max(chart.view.from, timeAt(e.clientX - left)));
	} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
		e.preventDefault();
		pan((e.deltaX || e.deltaY) / chart.plot);
	}
}

function listenToHead() {
	const head = byId("head"), box = byId("select"), left = () => head.getBoundingClientRect().left;
	head.addEventListener("wheel", e => wheel(e, true), { passive: false });
	head.addEventListener("pointermove", e => {
		const y = e.clientY - head.getBoundingClientRect().top - AXIS;
		hover(e, chart.pinned.find(i => y >= i.y && y < i.y + i.h + GAP), e.clientX - left());
	});
	head.addEventListener("pointerleave", () => { chart.cursor = null; hideCard(); draw(); });
	head.addEventListener("pointerdown", e => {
		const x0 = e.clientX - left(), y0 = e.clientY - head.getBoundingClientRect().top;
		if (e.button || x0 < chart.label)
			return;
		startDrag(head, e, dx => {
			box.hidden = false;
			box.style.left = Math.max(chart.label, Math.min(x0, x0 + dx)) + "px";
			box.style.width = Math.abs(dx) + "px";
			box.style.height = head.clientHeight + "px";
		}, (moved, m) => {
			const a = timeAt(x0), b = timeAt(Math.max(chart.label, m.clientX - left()));
			box.hidden = true;
			if (moved)
				setView(Math.min(a, b), Math.max(a, b));
			else if (y0 < AXIS && m.type === "pointerup")
				showPath(chart.boots[0], null, a + chart.boots[0].base);
		});
	});
}

function listenToRows() {
	const box = byId("scroll"), canvas = byId("rows"), place = () => canvas.getBoundingClientRect();
	box.addEventListener("scroll", () => { hideCard(); draw(); });
	box.addEventListener("wheel", e => wheel(e, false), { passive: false });
	canvas.addEventListener("pointermove", e => hover(e, itemAt(e.clientY - place().top), e.clientX - place().left));
	canvas.addEventListener("pointerleave", () => { chart.cursor = null; hideCard(); draw(); });
	canvas.addEventListener("pointerdown", e => {
		const item = itemAt(e.clientY - place().top), x = e.clientX - place().left, top = box.scrollTop, { from, to } = chart.view;
		if (e.button)
			return;
		box.focus({ preventScroll: true });
		startDrag(canvas, e, (dx, dy) => {
			const by = dx / chart.plot * (to - from);
			hideCard();
			box.scrollTop = top - dy;
			setView(from - by, to - by);
		}, (moved, m) => {
			if (!moved && m.type === "pointerup" && item && item.row)
				clickRow(item, x);
		});
	});
	canvas.addEventListener("dblclick", e => {
		const item = itemAt(e.clientY - place().top);
		if (item && item.row && e.clientX - place().left < chart.label)
			fold(item.row.process);
	});
	byId("grip").addEventListener("pointerdown", e => {
		const wide = chart.label;
		startDrag(byId("grip"), e, dx => { chart.label = Math.max(120, Math.min(chart.width - 200, wide + dx)); resize(); }, () => {});
	});
}

// --- keys and buttons ---

function moveSelection(by) {
	const rows = chart.processRows, now = rows.findIndex(r => r.process === chart.selected);
	selectRow(now >= 0 ? now + by : by > 0 ? 0 : rows.length - 1);
}

function selectRow(to) {
	const row = chart.processRows[Math.max(0, Math.min(chart.processRows.length - 1, to))];
	if (row)
		select(row.boot, row.process);
}

function forget() {
	byId("search").value = "";
	search();
	select(null, null);
	hidePath();
	byId("scroll").focus({ preventScroll: true });
}

const KEYS = {
	"+": () => zoom(.7), "=": () => zoom(.7), "-": () => zoom(1 / .7), "0": () => setView(chart.limits.from, chart.limits.to),
	ArrowLeft: e => pan(e.shiftKey ? -.5 : -.1), ArrowRight: e => pan(e.shiftKey ? .5 : .1),
	ArrowUp: () => moveSelection(-1), ArrowDown: () => moveSelection(1),
	PageUp: () => moveSelection(-20), PageDown: () => moveSelection(20), Home: () => selectRow(0), End: () => selectRow(chart.processRows.length),
	Enter: () => chart.selected && chart.selected.children.length && fold(chart.selected),
	f: () => {
		const p = chart.selected, base = p && chart.selectedBoot.base;
		if (p)
			setView(p.from - base - (p.to - p.from) * .1, p.to - base + (p.to - p.from) * .1);
	},
	p: () => togglePath(), l: () => byId("side").click(), "?": () => byId("keys").showModal(), Escape: () => forget(),
	"/": () => byId("search").focus(),
};

function key(e) {
	if (e.ctrlKey || e.metaKey || e.altKey || byId("keys").open)
		return;
	if (e.target.matches("input, select")) {
		if (e.target.id === "search" && e.key === "Enter")
			jump(e.shiftKey ? -1 : 1);
		else if (e.key === "Escape")
			byId("scroll").focus();
		return;
	}
	if (e.target.matches("button, tr") && (e.key === "Enter" || e.key === " "))
		return;
	const act = KEYS[e.key] || KEYS[e.key.toLowerCase()];
	if (act) {
		e.preventDefault();
		act(e);
	}
}

function listenToBar() {
	const click = (id, act) => byId(id).addEventListener("click", act);
	document.addEventListener("keydown", key);
	byId("search").addEventListener("input", search);
	click("next", () => jump(1));
	click("previous", () => jump(-1));
	click("in", () => zoom(.6));
	click("out", () => zoom(1 / .6));
	click("fit", () => setView(chart.limits.from, chart.limits.to));
	click("foldall", () => foldAll(true));
	click("unfoldall", () => foldAll(false));
	click("path", togglePath);
	click("help", () => byId("keys").showModal());
	click("side", () => {
		byId("panel").hidden = !byId("panel").hidden;
		byId("side").setAttribute("aria-pressed", String(!byId("panel").hidden));
		resize();
	});
	byId("sort").addEventListener("change", e => { chart.options.sort = e.target.value; layout(); });
	byId("kernel").addEventListener("change", e => { chart.options.kernel = e.target.checked; layout(); search(); });
	byId("least").addEventListener("input", e => { chart.options.least = Math.max(0, Number(e.target.value) || 0) * MS; layout(); search(); });
	for (const tab of document.querySelectorAll("#tabs button")) {
		const name = tab.id.slice(4);
		tab.addEventListener("click", () => showTab(name));
		tab.addEventListener("keydown", e => {
			const all = [...document.querySelectorAll("#tabs button")], by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
			if (!by)
				return;
			e.stopPropagation();
			const next = all[(all.indexOf(tab) + by + all.length) % all.length];
			next.click();
			next.focus();
		});
	}
	new ResizeObserver(resize).observe(byId("chart"));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); fillLegend(); draw(); });
}

// --- start ---

function takePairs(data) {
	chart.pairOf = [new Map(), new Map()];
	if (!data.pairs)
		return;
	for (const [a, b, start, end, length, cpu, disk] of data.pairs.list) {
		const pair = { a, b, start, end, length, cpu, disk };
		if (a >= 0)
			chart.pairOf[0].set(a, pair);
		if (b >= 0)
			chart.pairOf[1].set(b, pair);
	}
	chart.targetDelta = data.pairs.target_ns;
	chart.newCount = data.pairs.n_new;
	chart.goneCount = data.pairs.n_gone;
}

function takePath(data) {
	const boot = chart.boots[0];
	if (!data.path)
		return;
	chart.path = { boot, to: data.path.to_ns, steps: data.path.steps.map(([process, from, to, inferred]) => ({ process: boot.processes[process], from, to, inferred: !!inferred })) };
	showTab("path");
}

function start() {
	const data = JSON.parse(byId("data").textContent);
	chart.head = byId("head");
	chart.canvas = byId("rows");
	chart.scroll = byId("scroll");
	chart.ramp = data.ramp;
	for (const sign of data.signs)
		chart.signs[sign.key] = sign;
	chart.boots = data.boots.map(decodeBoot);
	chart.options.kernel = byId("kernel").checked = data.options.kernel;
	chart.options.least = data.options.min_ns;
	byId("least").value = data.options.min_ns / MS;
	chart.limits = {
		from: Math.min(...chart.boots.map(b => b.limits.from - b.base)),
		to: Math.max(...chart.boots.map(b => b.limits.to - b.base)),
	};
	chart.view = { ...chart.limits };
	takePairs(data);
	readTheme();
	listenToHead();
	listenToRows();
	listenToBar();
	takePath(data);
	fillHeader();
	fillProcess();
	fillTop();
	resize();
	layout();
	fillPath();
	fillLegend();
	document.documentElement.dataset.ready = "true";
}

/** For scripts and tests: what is shown, and where it is on the screen. */
window.kiseki = {
	rows: () => chart.processRows.map(r => ({ pid: r.process.pid, comm: r.process.comm, depth: r.depth, folded: r.folded.length })),
	machine: () => [...chart.pinned, ...chart.items.filter(i => !i.row)].map(i => i.kind === "disk" ? i.disk.name : i.kind === "pressure" ? "pressure " + RESOURCES[i.resource] : i.kind),
	view: () => ({ ...chart.view }),
	setView,
	found: () => chart.found.length,
	selected: () => chart.selected && chart.selected.pid,
	path: () => chart.path && chart.path.steps.map(s => ({ pid: s.process.pid, from: s.from, to: s.to, inferred: s.inferred })),
	place(pid, ns, index = 0) {
		const boot = chart.boots[index], p = boot.processes.find(q => q.pid === pid), row = rowOf(boot, p), box = byId("rows").getBoundingClientRect();
		return { x: box.left + chart.label + xOf(viewOf(boot), ns), y: box.top + row.item.y - byId("scroll").scrollTop + ROW / 2, label: box.left + 20 + row.depth * INDENT - 7 };
	},
	show: pid => { const boot = chart.boots[0]; select(boot, boot.processes.find(p => p.pid === pid)); },
	colour(x, y) {
		const canvas = byId("rows"), box = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
		const one = document.createElement("canvas"), ctx = one.getContext("2d", { willReadFrequently: true });
		ctx.drawImage(canvas, Math.floor((x - box.left) * ratio), Math.floor((y - box.top) * ratio), 1, 1, 0, 0, 1, 1);
		const [r, g, b] = ctx.getImageData(0, 0, 1, 1).data;
		return "#" + [r, g, b].map(v => v.toString(16).padStart(2, "0")).join("");
	},
};

start();
