// SPDX-License-Identifier: MIT
// panel: words beside the chart: heading, hover card, the selected process, the path's steps, the tables.
import { element, pageOf } from "./frame.js";
import { levelOf } from "./layout.js";
import { DISK, LETTERS, RUNNABLE, RUNNING, STATES, nameAt, stateAt } from "./model.js";
import { stepStates } from "./path.js";
import { signOf, stateSign } from "./theme.js";
import { formatBytes, formatDelta, formatExit, formatLength, formatTime, nameOf } from "./words.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Child} Child
 * @typedef {import("./types.js").Process} Process
 * @typedef {import("./types.js").Step} Step
 */

const TOP = 15; // rows of a table

/** @param {Chart} chart @param {number} state @param {number} share */
function colourOf(chart, state, share) {
	return state === RUNNING ? chart.ramp[levelOf(share)] : signOf(chart, stateSign(state)).colour;
}

/** @param {Chart} chart @param {number} state @param {number} share */
function dot(chart, state, share) {
	const e = element("span", "dot");
	e.style.background = colourOf(chart, state, share);
	return e;
}

/** @param {string} name @param {...Child} value */
function line(name, ...value) {
	return element("tr", "", element("th", "", name), element("td", "", ...value));
}

/** @param {Boot} boot @param {number} state */
function wordOf(boot, state) {
	return boot.states[LETTERS[state]];
}

/** @param {number[]} list */
function sum(list) {
	return list.reduce((a, b) => a + b, 0);
}

// --- lines about a process ---

/** @param {Chart} chart @param {Boot} boot @param {Process} p @param {number} ns */
function momentLines(chart, boot, p, ns) {
	const now = stateAt(boot, p, ns), at = "at " + formatTime(ns - boot.base);
	if (!now)
		return [line(at, ns < p.from ? "not started yet" : "ended")];
	const share = now.state === RUNNING ? ", " + (now.share / 10).toFixed(now.share % 10 ? 1 : 0) + " % on a CPU" : "";
	const out = [line(at, dot(chart, now.state, now.share), wordOf(boot, now.state) + share)];
	out.push(line("span", formatTime(now.from - boot.base) + " to " + formatTime(now.to - boot.base) + " (" + formatLength(now.to - now.from) + ")"));
	if (now.whom)
		out.push(line("ended by", nameOf(now.whom) + (boot.tells_interrupts === false ? ", or an interrupt while it ran" : "")));
	if (now.interrupt)
		out.push(line("ended by", "an interrupt: a timer, or a device"));
	if (now.where)
		out.push(line("waited in", now.where));
	return out;
}

/** @param {Boot} boot @param {Process} p */
function lifeLines(boot, p) {
	const parent = p.parent >= 0 ? nameOf(boot.processes[p.parent]) : p.parent_pid || "none";
	const error = (/** @type {number} */ n) => n ? " ± " + formatLength(n) : "";
	const out = [line("parent", String(parent))];
	out.push(line("lived", (p.was_there ? "since before " : "") + formatTime(p.from - boot.base) + error(p.from_error_ns) + " to " +
		formatTime(p.to - boot.base) + error(p.to_error_ns) + " (" + formatLength(p.to - p.from) + ")"));
	out.push(line("end", formatExit(p)));
	if (p.threads > 1)
		out.push(line("threads", String(p.threads)));
	return out;
}

/** @param {Chart} chart @param {Boot} boot @param {Process} p */
function sumLines(chart, boot, p) {
	const all = sum(p.state_ns) || 1;
	return p.state_ns.flatMap((ns, state) => ns ? [line(wordOf(boot, state), dot(chart, state, 1000), formatLength(ns) + " (" + (100 * ns / all).toFixed(1) + " %)")] : []);
}

/** @param {Process} p */
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

/** @param {Chart} chart @param {Boot} boot @param {Process} p */
function differenceLines(chart, boot, p) {
	const pair = chart.pairOf[boot.index ? 1 : 0].get(p.index);
	if (!pair)
		return [];
	if (pair.a < 0 || pair.b < 0)
		return [line("compared", pair.a < 0 ? "only in the second boot" : "only in the first boot")];
	return [line("started", formatDelta(pair.start)), line("ended", formatDelta(pair.end)), line("CPU time", formatDelta(pair.cpu)), line("disk wait", formatDelta(pair.disk))];
}

/** What the card says of a process at a moment. @param {Chart} chart @param {Boot} boot @param {Process} p @param {number} ns @returns {HTMLElement[]} */
export function describeProcess(chart, boot, p, ns) {
	const name = nameAt(p, ns), about = "  pid " + p.pid + (p.is_kernel ? ", kernel thread" : "") + (p.is_self ? ", the recorder" : "");
	return [element("div", "name", name.comm, element("span", "soft", about)), element("div", "args", name.args),
		element("table", "", ...momentLines(chart, boot, p, ns), ...lifeLines(boot, p), ...sumLines(chart, boot, p), ...accountLines(p), ...differenceLines(chart, boot, p))];
}

// --- pages of the panel ---

/** @param {string} title @param {HTMLElement[]} lines */
function titled(title, lines) {
	return lines.length ? [element("h3", "", title), element("table", "", ...lines)] : [];
}

/** @param {Chart} chart @param {Process} p */
function makeMeter(chart, p) {
	const all = sum(p.state_ns) || 1, meter = element("div", "meter");
	p.state_ns.forEach((ns, state) => {
		const part = element("span", "");
		part.style.width = 100 * ns / all + "%";
		part.style.background = colourOf(chart, state, 1000);
		meter.append(part);
	});
	return meter;
}

/** @param {Chart} chart */
export function fillProcess(chart) {
	const page = pageOf(chart, "process"), p = chart.selected, boot = chart.selectedBoot;
	if (!p || !boot) {
		page.replaceChildren(element("p", "soft", "Click a process, or move with the arrow keys."));
		return;
	}
	const names = p.names.length > 1 ? p.names.map(n => line(formatTime(n.from_ns - boot.base), n.comm, element("div", "args", n.args))) : [];
	const button = element("button", "button", "Critical path to its end");
	button.addEventListener("click", () => chart.actions.showPath(boot, p, p.to));
	page.replaceChildren(element("h2", "", nameOf(p)), element("div", "args", p.args), makeMeter(chart, p),
		element("table", "", ...lifeLines(boot, p), ...sumLines(chart, boot, p)), ...titled("Account", accountLines(p)),
		...titled("Compared with the first boot", differenceLines(chart, boot, p)), ...titled("Names", names), element("p", "", button));
}

/** @param {Chart} chart @param {Boot} boot @param {Step} step @param {Float64Array} states */
function makeStep(chart, boot, step, states) {
	const most = Math.max(0, states.indexOf(Math.max(...states)));
	const b = element("button", "step", element("span", "soft", formatTime(step.from - boot.base)),
		element("span", step.inferred ? "inferred" : "", dot(chart, most, 1000), nameOf(step.process)), element("span", "", formatLength(step.to - step.from)));
	b.title = wordOf(boot, most) + (step.inferred ? "; inferred" : "") + "\n" + step.process.args;
	b.addEventListener("click", () => {
		chart.actions.select(boot, step.process);
		chart.actions.reveal(step.from - boot.base, step.to - boot.base);
	});
	return element("li", "", b);
}

/** @param {Chart} chart */
export function fillPath(chart) {
	const page = pageOf(chart, "path"), { path } = chart;
	chart.frame.path.setAttribute("aria-pressed", String(!!path));
	if (!path) {
		page.replaceChildren(element("p", "soft", "Click the time axis, or the end of a bar: what had to happen for it, one after the other."));
		return;
	}
	const sums = new Float64Array(STATES), list = element("ol", "steps"), n = path.steps.length;
	for (const step of path.steps) {
		const states = stepStates(step);
		states.forEach((ns, s) => { sums[s] += ns; });
		list.append(makeStep(chart, path.boot, step, states));
	}
	const length = n ? path.to - path.steps[0].from : 0;
	const spent = [...sums].map((ns, s) => ns ? wordOf(path.boot, s) + " " + formatLength(ns) : "").filter(Boolean).join(", ");
	page.replaceChildren(element("h2", "", "Path to " + formatTime(path.to - path.boot.base)),
		element("p", "soft", n + (n === 1 ? " step, " : " steps, ") + formatLength(length) + ": " + spent + "."), list);
}

/** @param {Chart} chart @param {Boot} boot @param {{ title: string, state: number, value: (p: Process) => number }} of */
function topTable(chart, boot, { title, state, value }) {
	const rows = boot.processes.filter(p => value(p) > 0).sort((a, b) => value(b) - value(a)).slice(0, TOP);
	const body = element("tbody", "", ...rows.map(p => {
		const tr = element("tr", "", element("td", "", dot(chart, state, 1000), nameOf(p)), element("td", "n", formatLength(value(p))));
		const go = () => {
			chart.actions.select(boot, p);
			chart.actions.reveal(p.from - boot.base, p.to - boot.base);
		};
		tr.tabIndex = 0;
		tr.title = p.args;
		tr.addEventListener("click", go);
		tr.addEventListener("keydown", e => { if (e.key === "Enter") go(); });
		return tr;
	}));
	return [element("h3", "", title + (chart.boots.length > 1 ? boot.index ? " (second)" : " (first)" : "")),
		rows.length ? element("table", "", body) : element("p", "soft", "none")];
}

/** @param {Chart} chart */
export function fillTop(chart) {
	pageOf(chart, "top").replaceChildren(...chart.boots.flatMap(boot => [
		...topTable(chart, boot, { title: "Most CPU time", state: RUNNING, value: p => p.ran }),
		...topTable(chart, boot, { title: "Longest in uninterruptible sleep", state: DISK, value: p => Math.max(p.state_ns[DISK], p.account.disk_ns) }),
		...(boot.is_exact ? topTable(chart, boot, { title: "Longest wait for a CPU", state: RUNNABLE, value: p => p.state_ns[RUNNABLE] }) : [])]));
}

/** @param {string} label @param {string} text @param {string} classes */
function makeFact(label, text, classes) {
	const div = element("div", classes, element("dt", "", label), element("dd", "", text));
	div.title = text;
	return div;
}

/** @param {Chart} chart */
export function fillHeader(chart) {
	const [boot] = chart.boots, two = chart.boots.length > 1, { frame, compared } = chart;
	frame.title.textContent = two ? boot.heading.title + ", compared" : boot.heading.title;
	frame.facts.replaceChildren(...(two ? [makeFact("the target came", formatDelta(compared.target) + " in the second boot", ""),
		makeFact("new", String(compared.fresh), ""), makeFact("gone", String(compared.gone), "")]
		: boot.heading.facts.map(([label, text]) => makeFact(label, text, label === "target" ? "target" : ""))));
	frame.notes.replaceChildren(...chart.boots.flatMap(b => b.heading.notes.map(n => element("li", "", (two ? (b.index ? "Second: " : "First: ") : "") + n))));
}
