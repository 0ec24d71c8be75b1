// SPDX-License-Identifier: MIT
// panel: words beside the chart: the hover card, the selected process, the path's steps, the tables, the legend.
//
// All that comes from a device is put in as text, never as markup.
"use strict";

/** An element with a class, text or children. */
function element(name, className, ...children) {
	const e = document.createElement(name);
	if (className)
		e.className = className;
	e.append(...children.filter(c => c !== null && c !== undefined && c !== ""));
	return e;
}

const byId = id => document.getElementById(id);

function dot(state, share) {
	const e = element("span", "dot");
	e.style.background = state === RUNNING ? chart.ramp[levelOf(share)] : chart.signs[signOfState[state]].colour;
	return e;
}

function line(name, ...value) {
	return element("tr", "", element("th", "", name), element("td", "", ...value));
}

const nameOf = p => p.comm + " [" + p.pid + "]";
const wordOf = (boot, state) => boot.states[LETTERS[state]];

function momentLines(boot, p, ns) {
	const now = stateAt(boot, p, ns);
	if (!now)
		return [line("at " + formatTime(ns - boot.base), ns < p.from ? "not started yet" : "ended")];
	const share = now.state === RUNNING ? ", " + (now.share / 10).toFixed(now.share % 10 ? 1 : 0) + " % on a CPU" : "";
	const out = [line("at " + formatTime(ns - boot.base), dot(now.state, now.share), wordOf(boot, now.state) + share)];
	out.push(line("span", formatTime(now.from - boot.base) + " to " + formatTime(now.to - boot.base) + " (" + formatLength(now.to - now.from) + ")"));
	if (now.whom)
		out.push(line("ended by", nameOf(now.whom)));
	if (now.where)
		out.push(line("waited in", now.where));
	return out;
}

function lifeLines(boot, p) {
	const parent = p.parent >= 0 ? nameOf(boot.processes[p.parent]) : p.parent_pid || "none";
	const error = n => n ? " ± " + formatLength(n) : "";
	const out = [line("parent", String(parent))];
	out.push(line("lived", (p.was_there ? "since before " : "") + formatTime(p.from - boot.base) + error(p.from_error_ns) + " to " +
		formatTime(p.to - boot.base) + error(p.to_error_ns) + " (" + formatLength(p.to - p.from) + ")"));
	out.push(line("end", formatExit(p)));
	if (p.threads > 1)
		out.push(line("threads", String(p.threads)));
	return out;
}

function sumLines(boot, p) {
	const all = p.state_ns.reduce((a, b) => a + b, 0) || 1;
	return p.state_ns.map((ns, state) => ns ? line(wordOf(boot, state), dot(state, 1000), formatLength(ns) + " (" + (100 * ns / all).toFixed(1) + " %)") : null).filter(Boolean);
}

function accountLines(p) {
	const a = p.account, out = [];
	if (a.user_ns + a.system_ns)
		out.push(line("CPU time", formatLength(a.user_ns) + " program, " + formatLength(a.system_ns) + " kernel"));
	if (a.waited_ns)
		out.push(line("for a CPU", formatLength(a.waited_ns)));
	if (a.disk_ns)
		out.push(line("for a disk", formatLength(a.disk_ns)));
	if (a.swap_ns)
		out.push(line("for pages", formatLength(a.swap_ns)));
	if (a.read_bytes || a.written_bytes)
		out.push(line("disk", formatBytes(a.read_bytes) + " read, " + formatBytes(a.written_bytes) + " written"));
	if (a.rss_kib)
		out.push(line("memory", "up to " + formatBytes(a.rss_kib * 1024)));
	if (a.faults)
		out.push(line("faults", a.faults + " that read a disk"));
	if (out.length)
		out.push(line("account", a.is_complete ? "the kernel's own, at its end" : "as of the last sample"));
	return out;
}

function differenceLines(boot, p) {
	const pair = chart.boots.length > 1 && chart.pairOf[boot.index].get(p.index);
	if (!pair)
		return [];
	if (pair.a < 0 || pair.b < 0)
		return [line("compared", pair.a < 0 ? "only in the second boot" : "only in the first boot")];
	return [line("started", formatDelta(pair.start)), line("ended", formatDelta(pair.end)), line("CPU time", formatDelta(pair.cpu)), line("disk wait", formatDelta(pair.disk))];
}

/** What the pointer is over, at that moment. */
function fillCard(boot, p, ns) {
	const name = nameAt(p, ns), card = byId("card");
	card.replaceChildren(element("div", "name", name.comm, element("span", "soft", "  pid " + p.pid + (p.is_kernel ? ", kernel thread" : "") + (p.is_self ? ", the recorder" : ""))),
		element("div", "args", name.args),
		element("table", "", ...momentLines(boot, p, ns), ...lifeLines(boot, p), ...sumLines(boot, p), ...accountLines(p), ...differenceLines(boot, p)));
}

function fillMarkCard(boot, marks) {
	byId("card").replaceChildren(...marks.slice(0, 12).map(m => element("div", "", element("span", "soft", formatTime(m.ns - boot.base) + "  "), m.text)),
		marks.length > 12 ? element("div", "soft", "and " + (marks.length - 12) + " more") : "");
}

function fillProcess() {
	const page = byId("page-process"), p = chart.selected, boot = chart.selectedBoot;
	if (!p) {
		page.replaceChildren(element("p", "soft", "Click a process, or move with the arrow keys."));
		return;
	}
	const all = p.state_ns.reduce((a, b) => a + b, 0) || 1, meter = element("div", "meter");
	p.state_ns.forEach((ns, state) => {
		const part = element("span");
		part.style.width = 100 * ns / all + "%";
		part.style.background = state === RUNNING ? chart.ramp[15] : chart.signs[signOfState[state]].colour;
		meter.append(part);
	});
	const names = p.names.length > 1 ? [element("h3", "", "Names"), element("table", "", ...p.names.map(n => line(formatTime(n.from_ns - boot.base), n.comm, element("div", "args", n.args))))] : [];
	const button = element("button", "", "Critical path to its end");
	button.onclick = () => showPath(boot, p, p.to);
	page.replaceChildren(element("h2", "", nameOf(p)), element("div", "args", p.args), meter,
		element("table", "", ...lifeLines(boot, p), ...sumLines(boot, p)),
		...(accountLines(p).length ? [element("h3", "", "Account"), element("table", "", ...accountLines(p))] : []),
		...(differenceLines(boot, p).length ? [element("h3", "", "Compared with the first boot"), element("table", "", ...differenceLines(boot, p))] : []),
		...names, element("p", "", button));
}

function fillPath() {
	const page = byId("page-path"), path = chart.path;
	byId("path").setAttribute("aria-pressed", String(!!path));
	if (!path) {
		page.replaceChildren(element("p", "soft", "Click the time axis, or the end of a bar: what had to happen for it, one after the other."));
		return;
	}
	const sums = new Float64Array(7), list = element("ol");
	path.steps.forEach((step, i) => {
		const states = stepStates(step), most = states.indexOf(Math.max(...states));
		states.forEach((ns, s) => sums[s] += ns);
		const b = element("button", "", element("span", "soft", formatTime(step.from - path.boot.base)),
			element("span", step.inferred ? "inferred" : "", dot(Math.max(0, most), 1000), nameOf(step.process)), element("span", "", formatLength(step.to - step.from)));
		b.title = wordOf(path.boot, Math.max(0, most)) + (step.inferred ? "; inferred" : "") + "\n" + step.process.args;
		b.onclick = () => { select(path.boot, step.process); reveal(step.from - path.boot.base, step.to - path.boot.base); };
		b.dataset.step = i;
		list.append(element("li", "", b));
	});
	const length = path.steps.length ? path.to - path.steps[0].from : 0;
	page.replaceChildren(element("h2", "", "Path to " + formatTime(path.to - path.boot.base)),
		element("p", "soft", path.steps.length + (path.steps.length === 1 ? " step, " : " steps, ") + formatLength(length) + ": " +
			[...sums].map((ns, s) => ns ? wordOf(path.boot, s) + " " + formatLength(ns) : "").filter(Boolean).join(", ") + "."), list);
}

function topTable(boot, title, state, value) {
	const rows = boot.processes.filter(p => value(p) > 0).sort((a, b) => value(b) - value(a)).slice(0, 15);
	const body = element("tbody", "", ...rows.map(p => {
		const tr = element("tr", "", element("td", "", dot(state, 1000), nameOf(p)), element("td", "n", formatLength(value(p))));
		tr.tabIndex = 0;
		tr.title = p.args;
		tr.onclick = () => { select(boot, p); reveal(p.from - boot.base, p.to - boot.base); };
		tr.onkeydown = e => { if (e.key === "Enter") tr.onclick(); };
		return tr;
	}));
	return [element("h3", "", title + (chart.boots.length > 1 ? boot.index ? " (second)" : " (first)" : "")),
		rows.length ? element("table", "", body) : element("p", "soft", "none")];
}

function fillTop() {
	byId("page-top").replaceChildren(...chart.boots.flatMap(boot => [
		...topTable(boot, "Most CPU time", RUNNING, p => p.ran),
		...topTable(boot, "Longest in uninterruptible sleep", DISK, p => Math.max(p.state_ns[DISK], p.account.disk_ns)),
		...(boot.is_exact ? topTable(boot, "Longest wait for a CPU", RUNNABLE, p => p.state_ns[RUNNABLE]) : [])]));
}

/** The signs that the chart can show now. */
function signsInUse() {
	const used = new Set();
	for (const boot of chart.boots)
		signsOfBoot(boot, used);
	if (chart.path) {
		used.add("path");
		if (chart.path.steps.some(s => s.inferred))
			used.add("inferred");
	}
	if (chart.boots.length > 1)
		for (const pair of chart.pairOf[1].values())
			used.add(pair.a < 0 ? "new" : pair.start > 0 ? "later" : pair.start < 0 ? "earlier" : "ghost").add(pair.a < 0 ? "new" : "ghost");
	if (chart.boots.length > 1 && [...chart.pairOf[0].values()].some(pair => pair.b < 0))
		used.add("gone");
	return used;
}

function signsOfBoot(boot, used) {
	const p = boot.points, any = key => p[key].some(v => v > 0);
	for (const row of boot.rows)
		signsOfRow(row, used);
	for (const k of ["user", "system", "irq", "steal", "iowait"])
		if (p.ns.length > 1 && any(k + "_ns"))
			used.add("cpu-" + k);
	for (const k of ["used", "cached", "free"])
		if (any(`memory_${k}_kib`))
			used.add("memory-" + k);
	if (any("swap_used_kib"))
		used.add("swap");
	if (RESOURCES.some(k => any(k + "_some_ns")))
		used.add("some");
	if (RESOURCES.some(k => any(k + "_full_ns")))
		used.add("full");
	for (const d of boot.disks.filter(d => !d.is_part))
		for (const [key, sign] of [["read_bytes", "disk-read"], ["written_bytes", "disk-write"], ["busy_ns", "disk-busy"]])
			if (d.points[key].some(v => v > 0))
				used.add(sign);
	for (const m of boot.marks) {
		const key = m.type === "kernel" ? messageSign(m.level) : m.type;
		if (chart.signs[key])
			used.add(key);
	}
	if (boot.gaps.length)
		used.add("gap");
}

function signsOfRow(row, used) {
	const p = row.process;
	for (const state of new Set(p.spans.state))
		used.add(signOfState[state]);
	if (row.parent >= 0 && !p.was_there)
		used.add("fork");
	if (p.from_error_ns || p.to_error_ns)
		used.add("error");
	if (row.folded.length)
		used.add("folded");
	for (const [flag, key] of [[p.was_there, "before"], [p.is_alive, "alive"], [!p.is_alive && p.exit_code > 0, "failed"], [p.is_kernel, "kernel"], [p.is_self, "self"]])
		if (flag)
			used.add(key);
}

function fillLegend() {
	const used = signsInUse(), page = byId("page-legend"), groups = new Map();
	for (const sign of Object.values(chart.signs))
		if (used.has(sign.key)) {
			if (!groups.has(sign.group))
				groups.set(sign.group, []);
			groups.get(sign.group).push(sign);
		}
	page.replaceChildren(...[...groups].flatMap(([group, signs]) => [
		element("h3", "", group[0].toUpperCase() + group.slice(1)),
		element("dl", "key", ...signs.flatMap(sign => {
			const canvas = element("canvas");
			drawSwatch(canvas, sign);
			const dd = element("dd", "", sign.text);
			dd.dataset.sign = sign.key;
			return [element("dt", "", canvas), dd];
		}))]),
		element("h3", "", "One pixel, several states"),
		element("p", "soft", "Running, runnable, waiting for a disk and stopped cover sleep; among these the longest wins. Zoom in to tell them apart."));
}

function fillHeader() {
	const boot = chart.boots[0], two = chart.boots.length > 1;
	byId("title").textContent = two ? boot.heading.title + ", compared" : boot.heading.title;
	if (two) {
		const delta = chart.targetDelta;
		byId("facts").replaceChildren(element("div", "", element("dt", "", "the target came"), element("dd", "", formatDelta(delta) + " in the second boot")),
			...["new", "gone"].map(k => element("div", "", element("dt", "", k), element("dd", "", String(chart[k + "Count"])))));
	} else {
		byId("facts").replaceChildren(...boot.heading.facts.map(([label, text]) => {
			const div = element("div", label === "target" ? "target" : "", element("dt", "", label), element("dd", "", text));
			div.title = text;
			return div;
		}));
	}
	byId("notes").replaceChildren(...chart.boots.flatMap(b => b.heading.notes.map(n => element("li", "", (two ? (b.index ? "Second: " : "First: ") : "") + n))));
}

function showTab(name) {
	for (const tab of document.querySelectorAll("#tabs button")) {
		const on = tab.id === "tab-" + name;
		tab.setAttribute("aria-selected", String(on));
		tab.tabIndex = on ? 0 : -1;
		byId(tab.getAttribute("aria-controls")).hidden = !on;
	}
	chart.tab = name;
}
