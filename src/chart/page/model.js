// SPDX-License-Identifier: MIT
// model: the boot as the chart's script sees it, from the document of docs/format/boot-json.md.
//
// Spans are columns here, too: typed arrays, because there may be millions of them. Times are nanoseconds as
// numbers, which are exact for the first hundred days after a machine has started.

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Process} Process
 * @typedef {import("./types.js").Spans} Spans
 */

export const LETTERS = "RWDSTZU";
export const RUNNING = 0, RUNNABLE = 1, DISK = 2, SLEEPING = 3, STOPPED = 4, ZOMBIE = 5, UNKNOWN = 6;
export const STATES = 7;
export const MS = 1e6;

/** In the column `whom`: nobody, or not known; and an interrupt. */
export const NOBODY = -1, INTERRUPT = -2;

/**
 * A column that the document leaves out is the same everywhere.
 * @template {{ set(list: ArrayLike<number>): void, fill(value: number): unknown }} T
 * @param {T} out @param {number[] | undefined} list @param {number} same
 */
function fillColumn(out, list, same) {
	if (list)
		out.set(list);
	else if (same)
		out.fill(same);
	return out;
}

/** @param {import("./types.js").ProcessData} p @returns {Spans} */
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
		share: fillColumn(new Uint16Array(n), p.spans.share, 0),
		whom: fillColumn(new Int32Array(n), p.spans.whom, NOBODY),
		where: fillColumn(new Uint32Array(n), p.spans.where, 0),
	};
}

/** @param {import("./types.js").ProcessData} p @param {number} index @returns {Process} */
function decodeProcess(p, index) {
	const last = p.names[p.names.length - 1];
	return {
		...p, index, from: p.from_ns, to: p.to_ns, comm: last.comm, args: last.args,
		spans: decodeSpans(p), children: [], ran: p.cpu_ns,
		text: (p.names.map(n => n.comm + " " + n.args).join("\n") + "\n" + p.pid).toLowerCase(),
	};
}

/** @param {import("./types.js").BootPart} part @param {number} index @returns {Boot} */
export function decodeBoot(part, index) {
	const processes = part.boot.processes.map(decodeProcess);
	for (const p of processes)
		if (p.parent >= 0)
			processes[p.parent].children.push(p.index);
	return {
		...part.boot, index, processes, base: part.base_ns,
		limits: { from: part.from_ns, to: part.to_ns },
		rows: [], rowOf: new Int32Array(0), top: 0, bottom: 0,
	};
}

/** @param {Process} p @param {number} i */
export function spanFrom(p, i) {
	return i ? p.spans.to[i - 1] : p.from;
}

/** The first span that ends behind this time. @param {Spans} spans @param {number} ns */
export function findSpan(spans, ns) {
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

/**
 * What a process did at a moment, or null.
 * @param {Boot} boot @param {Process} p @param {number} ns @returns {import("./types.js").Moment | null}
 */
export function stateAt(boot, p, ns) {
	if (ns < p.from || ns > p.to || !p.spans.n)
		return null;
	const i = Math.min(findSpan(p.spans, ns), p.spans.n - 1), s = p.spans;
	return {
		from: spanFrom(p, i), to: s.to[i], state: s.state[i], share: s.share[i],
		whom: boot.processes[s.whom[i]] ?? null, interrupt: s.whom[i] === INTERRUPT, where: boot.texts[s.where[i]] ?? "",
	};
}

/** @param {Process} p @param {number} ns */
export function nameAt(p, ns) {
	let name = p.names[0];
	for (const n of p.names)
		if (n.from_ns <= ns)
			name = n;
	return name;
}

/** @param {Process} p */
export function nameOf(p) {
	return p.comm + " [" + p.pid + "]";
}
