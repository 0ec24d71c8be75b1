// SPDX-License-Identifier: MIT
// path: the critical path to a moment, walked backwards: the rule of src/analysis/boot_path.c, which has the reasons,
// so that any other moment can be asked for in the page. A test holds the two together.
import { INTERRUPT, MS, RUNNABLE, RUNNING, SLEEPING, STATES, UNKNOWN, findSpan, spanFrom } from "./model.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Process} Process
 * @typedef {import("./types.js").Step} Step
 * @typedef {{ process: Process, from: number }} Waiter
 */

const STEPS_MAX = 1 << 20, HOPS_MAX = 64, WAITERS_MAX = 64, WAIT_LEAST = MS;

/** The span that a process was in right before this time, or -1. @param {Process} p @param {number} ns */
function spanBefore(p, ns) {
	let low = 0, high = p.spans.n;
	while (low < high) {
		const middle = low + high >> 1;
		if (p.spans.to[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p.spans.n && spanFrom(p, low) < ns ? low : -1;
}

/** @param {number} state */
function isWait(state) {
	return state !== RUNNING && state !== RUNNABLE;
}

/** @param {Process} p @param {number} ns */
function ranLast(p, ns) {
	for (let i = spanBefore(p, Math.min(ns, p.to)); i >= 0; i--)
		if (p.spans.state[i] === RUNNING && p.spans.share[i])
			return Math.min(p.spans.to[i], ns);
	return 0;
}

/** Whom a moment is about: the target's process, else who ran last before it. @param {Boot} boot @param {number} ns */
function whoseMoment(boot, ns) {
	const target = boot.marks.find(m => m.type === "target" && m.process >= 0 && m.ns === ns);
	if (target)
		return boot.processes[target.process];
	/** @type {Process | null} */
	let found = null;
	let last = 0;
	for (const p of boot.processes) {
		if (p.is_self || p.is_kernel || p.from >= ns)
			continue;
		const ran = ranLast(p, ns);
		if (ran > last || ran && ran === last && found && p.from > found.from) {
			last = ran;
			found = p;
		}
	}
	return found;
}

class Walk {
	/** @param {Boot} boot @param {Process} process @param {number} ns */
	constructor(boot, process, ns) {
		this.boot = boot;
		this.process = process;
		/** Up to here nothing is explained yet. */
		this.ns = ns;
		/** Of the step at hand. */
		this.end = ns;
		this.inferred = false;
		this.hops = 0;
		/** @type {Waiter[]} */
		this.waiters = [];
		/** Backwards. @type {Step[]} */
		this.steps = [];
	}

	putStep() {
		if (this.ns < this.end) {
			this.steps.push({ process: this.process, from: this.ns, to: this.end, inferred: this.inferred });
			this.inferred = false;
		}
		this.end = this.ns;
	}

	/** @param {Process} process @param {boolean} inferred */
	goTo(process, inferred) {
		this.putStep();
		this.process = process;
		this.inferred = inferred;
	}

	/** The last one who began to wait between these. @param {number} from @param {number} to */
	lastWaiter(from, to) {
		const w = this.waiters;
		while (w.length && w[w.length - 1].from >= to)
			w.pop();
		return w.length && w[w.length - 1].from > from ? w.pop() ?? null : null;
	}

	/** Who ended the wait, if it can be asked what it did before. @param {number} i */
	whomToFollow(i) {
		const s = this.process.spans, other = this.boot.processes[s.whom[i]];
		if (!other || other === this.process || s.to[i] !== this.ns || this.hops >= HOPS_MAX)
			return null;
		const k = spanBefore(other, this.ns);
		return k >= 0 && (!isWait(other.spans.state[k]) || other.spans.to[k] === this.ns) ? other : null;
	}

	/**
	 * The child that ended last in that part of the wait: its parent is taken to have waited for it, unless it is
	 * known that an interrupt ended the wait.
	 * @param {number} i
	 */
	awaitedChild(i) {
		const s = this.process.spans, state = s.state[i], from = spanFrom(this.process, i);
		/** @type {Process | null} */
		let found = null;
		if (s.whom[i] === INTERRUPT && s.to[i] === this.ns)
			return null;
		if (state !== SLEEPING && state !== UNKNOWN)
			return null;
		for (const k of this.process.children) {
			const c = this.boot.processes[k];
			if (c.is_alive || c.from >= this.ns || c.to <= from || c.to > this.ns + c.to_error_ns)
				continue;
			if (!found || c.to > found.to)
				found = c;
		}
		return found;
	}

	/** A wait of which nobody knows who ended it. @param {number} i */
	stay(i) {
		const from = spanFrom(this.process, i), waiter = this.lastWaiter(from, this.ns);
		if (!waiter && this.ns - from < WAIT_LEAST) {
			this.ns = from;
			return;
		}
		if (waiter)
			this.goTo(waiter.process, false);
		else
			this.putStep();
		this.ns = waiter ? waiter.from : from;
		this.putStep();
	}

	/** @param {number} i */
	goThroughWait(i) {
		const other = this.whomToFollow(i);
		if (other) {
			this.hops++;
			if (this.waiters.length === WAITERS_MAX)
				this.waiters.shift();
			this.waiters.push({ process: this.process, from: spanFrom(this.process, i) });
			this.goTo(other, this.boot.tells_interrupts === false);
			return;
		}
		const child = this.awaitedChild(i);
		if (!child || this.hops >= HOPS_MAX) {
			this.hops = 0;
			this.stay(i);
			return;
		}
		const ns = Math.min(child.to, this.ns);
		this.hops = ns < this.ns ? 0 : this.hops + 1;
		this.ns = ns;
		this.goTo(child, true);
	}

	/** Whether there is more before. */
	goBack() {
		const p = this.process, i = spanBefore(p, this.ns);
		if (i < 0) {
			if (this.ns <= p.to)
				this.ns = Math.min(this.ns, p.from);
			if (p.was_there || p.parent < 0 || this.ns > p.to) {
				this.putStep();
				return false;
			}
			this.goTo(this.boot.processes[p.parent], false);
			return this.process.from < this.ns;
		}
		if (isWait(p.spans.state[i])) {
			this.goThroughWait(i);
			return true;
		}
		this.ns = spanFrom(p, i);
		this.hops = 0;
		return true;
	}
}

/** @param {Boot} boot @param {Process | null} process @param {number} ns @returns {import("./types.js").Path} */
export function pathTo(boot, process, ns) {
	const p = process || whoseMoment(boot, ns);
	/** @type {Step[]} */
	const steps = [];
	if (p) {
		const walk = new Walk(boot, p, Math.min(ns, p.to));
		while (walk.steps.length < STEPS_MAX && walk.goBack())
			;
		steps.push(...walk.steps.reverse());
	}
	return { boot, to: ns, steps };
}

/** What a step was spent on, by state. @param {Step} step */
export function stepStates(step) {
	const out = new Float64Array(STATES), p = step.process, s = p.spans;
	for (let i = findSpan(s, step.from); i < s.n && spanFrom(p, i) < step.to; i++) {
		const length = Math.min(s.to[i], step.to) - Math.max(spanFrom(p, i), step.from), ran = length * s.share[i] / 1000;
		out[RUNNING] += ran;
		out[s.state[i] === RUNNING ? RUNNABLE : s.state[i]] += length - ran;
	}
	return out;
}
