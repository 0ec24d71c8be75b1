// SPDX-License-Identifier: MIT
// panel: words beside the chart: heading, hover card, the selected process, the path's steps, the tables.
import { element, pageOf } from "./frame.js";
import { factsOf, notesOf, titleOf } from "./heading.js";
import { levelOf } from "./layout.js";
import { DISK, LETTERS, RUNNABLE, RUNNING, STATES, nameAt, nameOf, stateAt } from "./model.js";
import { formatBytes, formatDelta, formatLength, formatTime } from "./number.js";
import { stepStates } from "./path.js";
import { signOf, stateSign } from "./theme.js";
import { wordOfData } from "./words.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Child} Child
 * @typedef {import("./types.js").Process} Process
 * @typedef {import("./types.js").Say} Say
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

/** @param {Chart} chart @param {Boot} boot @param {number} state */
function wordOf(chart, boot, state) {
	return wordOfData(chart, "states", LETTERS[state], boot.states[LETTERS[state]]);
}

/** @param {number[]} list */
function sum(list) {
	return list.reduce((a, b) => a + b, 0);
}

// --- lines about a process ---

/** How it ended. @param {Chart} chart @param {Process} p */
export function sayExit({ say }, p) {
	if (p.is_alive)
		return say("stillThere");
	if (p.exit_code < 0)
		return say("exitUnknown");
	return p.exit_code & 0x7f ? say("exitSignal", { n: p.exit_code & 0x7f }) : say("exitCode", { n: p.exit_code >> 8 & 0xff });
}

/** @param {Chart} chart @param {Boot} boot @param {Process} p @param {number} ns */
function momentLines(chart, boot, p, ns) {
	const { say } = chart, now = stateAt(boot, p, ns), at = say("at", { time: formatTime(ns - boot.base) });
	if (!now)
		return [line(at, say(ns < p.from ? "notStarted" : "isOver"))];
	const state = wordOf(chart, boot, now.state), share = (now.share / 10).toFixed(now.share % 10 ? 1 : 0);
	const out = [line(at, dot(chart, now.state, now.share), now.state === RUNNING ? say("onCpu", { state, share }) : state)];
	out.push(line(say("span"), say("stretch", { from: formatTime(now.from - boot.base), to: formatTime(now.to - boot.base), length: formatLength(now.to - now.from) })));
	if (now.whom)
		out.push(line(say("endedBy"), boot.tells_interrupts === false ? say("orInterrupt", { name: nameOf(now.whom) }) : nameOf(now.whom)));
	if (now.interrupt)
		out.push(line(say("endedBy"), say("interrupt")));
	if (now.where)
		out.push(line(say("waitedIn"), now.where));
	return out;
}

/** @param {Chart} chart @param {Boot} boot @param {Process} p */
function lifeLines(chart, boot, p) {
	const { say } = chart, parent = p.parent >= 0 ? nameOf(boot.processes[p.parent]) : p.parent_pid || say("none");
	const error = (/** @type {number} */ n) => n ? " ± " + formatLength(n) : "";
	const out = [line(say("parent"), String(parent))], start = formatTime(p.from - boot.base) + error(p.from_error_ns);
	out.push(line(say("lived"), say("stretch", {
		from: p.was_there ? say("sinceBefore", { time: start }) : start, to: formatTime(p.to - boot.base) + error(p.to_error_ns), length: formatLength(p.to - p.from),
	})));
	out.push(line(say("end"), sayExit(chart, p)));
	if (p.threads > 1)
		out.push(line(say("threads"), String(p.threads)));
	return out;
}

/** @param {Chart} chart @param {Boot} boot @param {Process} p */
function sumLines(chart, boot, p) {
	const all = sum(p.state_ns) || 1;
	return p.state_ns.flatMap((ns, state) => ns ? [line(wordOf(chart, boot, state), dot(chart, state, 1000), formatLength(ns) + " (" + (100 * ns / all).toFixed(1) + " %)")] : []);
}

/** @param {Say} say @param {Process} p */
function accountLines(say, p) {
	const a = p.account, out = [];
	if (a.user_ns + a.system_ns)
		out.push(line(say("cpuTime"), say("programAndKernel", { user: formatLength(a.user_ns), system: formatLength(a.system_ns) })));
	if (a.waited_ns)
		out.push(line(say("forCpu"), formatLength(a.waited_ns)));
	if (a.disk_ns)
		out.push(line(say("forDisk"), formatLength(a.disk_ns)));
	if (a.swap_ns)
		out.push(line(say("forPages"), formatLength(a.swap_ns)));
	if (a.read_bytes || a.written_bytes)
		out.push(line(say("disk"), say("readAndWritten", { read: formatBytes(a.read_bytes), written: formatBytes(a.written_bytes) })));
	if (a.rss_kib)
		out.push(line(say("memory"), say("upTo", { size: formatBytes(a.rss_kib * 1024) })));
	if (a.faults)
		out.push(line(say("faults"), say("faultsOf", { n: a.faults })));
	if (out.length)
		out.push(line(say("account"), say(a.is_complete ? "accountWhole" : "accountSampled")));
	return out;
}

/** @param {Chart} chart @param {Boot} boot @param {Process} p */
function differenceLines(chart, boot, p) {
	const pair = chart.pairOf[boot.index ? 1 : 0].get(p.index), { say } = chart;
	if (!pair)
		return [];
	if (pair.a < 0 || pair.b < 0)
		return [line(say("compared"), say(pair.a < 0 ? "onlySecond" : "onlyFirst"))];
	return [line(say("started"), formatDelta(pair.start)), line(say("ended"), formatDelta(pair.end)),
		line(say("cpuTime"), formatDelta(pair.cpu)), line(say("diskWait"), formatDelta(pair.disk))];
}

/** What the card says of a process at a moment. @param {Chart} chart @param {Boot} boot @param {Process} p @param {number} ns @returns {HTMLElement[]} */
export function describeProcess(chart, boot, p, ns) {
	const { say } = chart, name = nameAt(p, ns);
	const about = ["pid " + p.pid, p.is_kernel ? say("kernelThread") : "", p.is_self ? say("recorder") : ""].filter(Boolean).join(say("comma"));
	return [element("div", "name", name.comm, element("span", "soft", "  " + about)), element("div", "args", name.args),
		element("table", "", ...momentLines(chart, boot, p, ns), ...lifeLines(chart, boot, p), ...sumLines(chart, boot, p), ...accountLines(say, p), ...differenceLines(chart, boot, p))];
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
	const page = pageOf(chart, "process"), p = chart.selected, boot = chart.selectedBoot, { say } = chart;
	if (!p || !boot) {
		page.replaceChildren(element("p", "soft", say("noProcess")));
		return;
	}
	const names = p.names.length > 1 ? p.names.map(n => line(formatTime(n.from_ns - boot.base), n.comm, element("div", "args", n.args))) : [];
	const button = element("button", "button", say("pathToEnd"));
	button.addEventListener("click", () => chart.actions.showPath(boot, p, p.to));
	page.replaceChildren(element("h2", "", nameOf(p)), element("div", "args", p.args), makeMeter(chart, p),
		element("table", "", ...lifeLines(chart, boot, p), ...sumLines(chart, boot, p)), ...titled(say("accountTitle"), accountLines(say, p)),
		...titled(say("comparedTitle"), differenceLines(chart, boot, p)), ...titled(say("namesTitle"), names), element("p", "", button));
}

/** @param {Chart} chart @param {Boot} boot @param {Step} step @param {Float64Array} states */
function makeStep(chart, boot, step, states) {
	const most = Math.max(0, states.indexOf(Math.max(...states))), state = wordOf(chart, boot, most);
	const b = element("button", "step", element("span", "soft", formatTime(step.from - boot.base)),
		element("span", step.inferred ? "inferred" : "", dot(chart, most, 1000), nameOf(step.process)), element("span", "", formatLength(step.to - step.from)));
	b.title = (step.inferred ? chart.say("inferred", { state }) : state) + "\n" + step.process.args;
	b.addEventListener("click", () => {
		chart.actions.select(boot, step.process);
		chart.actions.reveal(step.from - boot.base, step.to - boot.base);
	});
	return element("li", "", b);
}

/** @param {Chart} chart */
export function fillPath(chart) {
	const page = pageOf(chart, "path"), { path, say } = chart;
	chart.frame.path.setAttribute("aria-pressed", String(!!path));
	if (!path) {
		page.replaceChildren(element("p", "soft", say("noPath")));
		return;
	}
	const sums = new Float64Array(STATES), list = element("ol", "steps"), n = path.steps.length;
	for (const step of path.steps) {
		const states = stepStates(step);
		states.forEach((ns, s) => { sums[s] += ns; });
		list.append(makeStep(chart, path.boot, step, states));
	}
	const length = formatLength(n ? path.to - path.steps[0].from : 0);
	const spent = [...sums].map((ns, s) => ns ? wordOf(chart, path.boot, s) + " " + formatLength(ns) : "").filter(Boolean).join(say("comma"));
	page.replaceChildren(element("h2", "", say("pathTo", { time: formatTime(path.to - path.boot.base) })),
		element("p", "soft", say(n === 1 ? "step" : "steps", { n, length, spent })), list);
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
	return [element("h3", "", chart.boots.length > 1 ? chart.say(boot.index ? "ofSecond" : "ofFirst", { title }) : title),
		rows.length ? element("table", "", body) : element("p", "soft", chart.say("none"))];
}

/** @param {Chart} chart */
export function fillTop(chart) {
	const { say } = chart;
	pageOf(chart, "top").replaceChildren(...chart.boots.flatMap(boot => [
		...topTable(chart, boot, { title: say("topCpu"), state: RUNNING, value: p => p.ran }),
		...topTable(chart, boot, { title: say("topDisk"), state: DISK, value: p => Math.max(p.state_ns[DISK], p.account.disk_ns) }),
		...(boot.is_exact ? topTable(chart, boot, { title: say("topWait"), state: RUNNABLE, value: p => p.state_ns[RUNNABLE] }) : [])]));
}

/** @param {string} label @param {string} text @param {string} classes */
function makeFact(label, text, classes) {
	const div = element("div", classes, element("dt", "", label), element("dd", "", text));
	div.title = text;
	return div;
}

/** @param {Chart} chart */
export function fillHeader(chart) {
	const [boot] = chart.boots, two = chart.boots.length > 1, { frame, compared, say } = chart, title = titleOf(say, boot);
	frame.title.textContent = two ? say("titleOfTwo", { title }) : title;
	frame.facts.replaceChildren(...(two ? [makeFact(say("targetCame"), say("inSecond", { delta: formatDelta(compared.target) }), ""),
		makeFact(say("fresh"), String(compared.fresh), ""), makeFact(say("gone"), String(compared.gone), "")]
		: factsOf(say, boot).map(([word, text]) => makeFact(say(word), text, word === "target" ? "target" : ""))));
	frame.notes.replaceChildren(...chart.boots.flatMap(b => notesOf(chart, b).map(text => element("li", "", two ? say(b.index ? "second" : "first", { text }) : text))));
}
