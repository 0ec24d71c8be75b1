// SPDX-License-Identifier: MIT
// model: the boot as the chart's script sees it, from the document of docs/format/boot-json.md.
//
// Spans are columns here, too: typed arrays, because there may be millions of them. Times are nanoseconds as
// numbers, which are exact for the first hundred days after a machine has started.
"use strict";

const LETTERS = "RWDSTZU";
const [RUNNING, RUNNABLE, DISK, SLEEPING, STOPPED, ZOMBIE, UNKNOWN] = LETTERS.split("").keys();
const MS = 1e6;

/** A column that the document leaves out is the same everywhere. */
function column(Type, list, n, same) {
	const out = new Type(n);
	if (list)
		out.set(list);
	else if (same)
		out.fill(same);
	return out;
}

function decodeSpans(p) {
	const { state, length_ns: length } = p.spans, n = length.length;
	const to = new Float64Array(n), states = new Uint8Array(n);
	let at = p.from_ns;
	for (let i = 0; i < n; i++) {
		at += length[i];
		to[i] = at;
		states[i] = Math.max(0, LETTERS.indexOf(state[i]));
	}
	return {
		n, to, state: states,
		share: column(Uint16Array, p.spans.share, n, 0),
		whom: column(Int32Array, p.spans.whom, n, -1),
		where: column(Uint32Array, p.spans.where, n, 0),
	};
}

function decodeProcess(p, index) {
	const last = p.names[p.names.length - 1];
	return {
		...p, index, from: p.from_ns, to: p.to_ns, comm: last.comm, args: last.args,
		spans: decodeSpans(p), children: [], ran: p.cpu_ns,
		text: (p.names.map(n => n.comm + " " + n.args).join("\n") + "\n" + p.pid).toLowerCase(),
	};
}

function decodeBoot(part, index) {
	const boot = part.boot;
	boot.index = index;
	boot.heading = part.heading;
	boot.base = part.base_ns;
	boot.limits = { from: part.from_ns, to: part.to_ns };
	boot.processes = boot.processes.map(decodeProcess);
	for (const p of boot.processes)
		if (p.parent >= 0)
			boot.processes[p.parent].children.push(p.index);
	return boot;
}

/** The first span that ends behind this time. */
function findSpan(spans, ns) {
	let low = 0, high = spans.n;
	while (low < high) {
		const middle = low + high >> 1;
		if (spans.to[middle] <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const spanFrom = (p, i) => i ? p.spans.to[i - 1] : p.from;

/** What a process did at a moment, or null. */
function stateAt(boot, p, ns) {
	if (ns < p.from || ns > p.to || !p.spans.n)
		return null;
	const i = Math.min(findSpan(p.spans, ns), p.spans.n - 1), s = p.spans;
	return {
		from: spanFrom(p, i), to: s.to[i], state: s.state[i], share: s.share[i],
		whom: s.whom[i] < 0 ? null : boot.processes[s.whom[i]], where: boot.texts[s.where[i]] || "",
	};
}

function nameAt(p, ns) {
	let name = p.names[0];
	for (const n of p.names)
		if (n.from_ns <= ns)
			name = n;
	return name;
}

// --- words ---

/** A length of time: "12.3 ms". */
function formatLength(ns) {
	const size = Math.abs(ns);
	if (size >= 10e9)
		return (ns / 1e9).toFixed(1) + " s";
	if (size >= 1e9)
		return (ns / 1e9).toFixed(2) + " s";
	if (size >= 1e6)
		return (ns / 1e6).toFixed(size >= 1e8 ? 0 : 1) + " ms";
	return (ns / 1e3).toFixed(size >= 1e5 ? 0 : 1) + " µs";
}

const formatDelta = ns => ns ? (ns < 0 ? "−" : "+") + formatLength(Math.abs(ns)) : "±0";

/** A moment, with as many decimals as a step of the axis needs. */
function formatTime(ns, step = MS) {
	const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9)));
	return (ns / 1e9).toFixed(digits).replace("-", "−") + " s";
}

function formatBytes(n) {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let i = 0;
	while (n >= 1000 && i < units.length - 1) {
		n /= 1000;
		i++;
	}
	return (i && n < 10 ? n.toFixed(1) : n.toFixed(0)) + " " + units[i];
}

function formatExit(p) {
	if (p.is_alive)
		return "still there at the end";
	if (p.exit_code < 0)
		return "ended, exit code not known";
	return p.exit_code & 0x7f ? "killed by signal " + (p.exit_code & 0x7f) : "exit code " + (p.exit_code >> 8 & 0xff);
}
