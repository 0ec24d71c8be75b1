// SPDX-License-Identifier: MIT
// path: the critical path to a moment, walked backwards: the rule of src/analysis/boot_path.c, which has the reasons,
// so that any other moment can be asked for in the page. A test holds the two together.
"use strict";

const STEPS_MAX = 1 << 20, HOPS_MAX = 64, WAITERS_MAX = 64, WAIT_LEAST = MS;

/** The span that a process was in right before this time, or -1. */
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

const isWait = state => state !== RUNNING && state !== RUNNABLE;

function ranLast(p, ns) {
	for (let i = spanBefore(p, Math.min(ns, p.to)); i >= 0; i--)
		if (p.spans.state[i] === RUNNING && p.spans.share[i])
			return Math.min(p.spans.to[i], ns);
	return 0;
}

/** Whom a moment is about: the target's process, else who ran last before it. */
function whoseMoment(boot, ns) {
	const target = boot.marks.find(m => m.type === "target" && m.process >= 0 && m.ns === ns);
	if (target)
		return boot.processes[target.process];
	let found = null, last = 0;
	for (const p of boot.processes) {
		if (p.is_self || p.is_kernel || p.from >= ns)
			continue;
		const ran = ranLast(p, ns);
		if (ran > last || ran && ran === last && p.from > found.from) {
			last = ran;
			found = p;
		}
	}
	return found;
}

class Walk {
	constructor(boot, process, ns) {
		Object.assign(this, { boot, p: process, ns, end: ns, inferred: false, hops: 0, waiters: [], steps: [], states: new Float64Array(7) });
	}

	count(state, share, from, to) {
		const ran = Math.min((to - from) * share / 1000, to - from);
		this.states[RUNNING] += ran;
		this.states[state === RUNNING ? RUNNABLE : state] += to - from - ran;
	}

	countSpan(i, from, to) {
		this.count(this.p.spans.state[i], this.p.spans.share[i], from, to);
	}

	putStep() {
		if (this.ns < this.end) {
			this.steps.push({ process: this.p, from: this.ns, to: this.end, inferred: this.inferred });
			this.inferred = false;
		}
		this.states.fill(0);
		this.end = this.ns;
	}

	goTo(p, inferred) {
		this.putStep();
		this.p = p;
		this.inferred = inferred;
	}

	lastWaiter(from, to) {
		const w = this.waiters;
		while (w.length && w[w.length - 1].from >= to)
			w.pop();
		return w.length && w[w.length - 1].from > from ? w.pop() : null;
	}

	canFollow(i) {
		const whom = this.p.spans.whom[i], other = whom >= 0 ? this.boot.processes[whom] : null;
		if (!other || other === this.p || this.p.spans.to[i] !== this.ns || this.hops >= HOPS_MAX)
			return false;
		const k = spanBefore(other, this.ns);
		return k >= 0 && (!isWait(other.spans.state[k]) || other.spans.to[k] === this.ns);
	}

	awaitedChild(i) {
		const state = this.p.spans.state[i], from = spanFrom(this.p, i);
		let found = null;
		if (state !== SLEEPING && state !== UNKNOWN)
			return null;
		for (const k of this.p.children) {
			const c = this.boot.processes[k];
			if (c.is_alive || c.from >= this.ns || c.to <= from || c.to > this.ns + c.to_error_ns)
				continue;
			if (!found || c.to > found.to)
				found = c;
		}
		return found;
	}

	/** A wait of which nobody knows who ended it. */
	stay(i) {
		const from = spanFrom(this.p, i), waiter = this.lastWaiter(from, this.ns);
		if (!waiter && this.ns - from < WAIT_LEAST) {
			this.countSpan(i, from, this.ns);
			this.ns = from;
			return;
		}
		const wait = waiter || { from, state: this.p.spans.state[i] };
		if (waiter)
			this.goTo(waiter.p, false);
		else
			this.putStep();
		this.count(wait.state, waiter ? 0 : this.p.spans.share[i], wait.from, this.ns);
		this.ns = wait.from;
		this.putStep();
	}

	goThroughWait(i) {
		if (this.canFollow(i)) {
			this.hops++;
			if (this.waiters.length === WAITERS_MAX)
				this.waiters.shift();
			this.waiters.push({ p: this.p, from: spanFrom(this.p, i), state: this.p.spans.state[i] });
			this.goTo(this.boot.processes[this.p.spans.whom[i]], false);
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
		this.countSpan(i, ns, this.ns);
		this.ns = ns;
		this.goTo(child, true);
	}

	/** Whether there is more before. */
	goBack() {
		const p = this.p, i = spanBefore(p, this.ns);
		if (i < 0) {
			if (this.ns <= p.to)
				this.ns = Math.min(this.ns, p.from);
			if (p.was_there || p.parent < 0 || this.ns > p.to) {
				this.putStep();
				return false;
			}
			this.goTo(this.boot.processes[p.parent], false);
			return this.p.from < this.ns;
		}
		if (isWait(p.spans.state[i])) {
			this.goThroughWait(i);
			return true;
		}
		this.countSpan(i, spanFrom(p, i), this.ns);
		this.ns = spanFrom(p, i);
		this.hops = 0;
		return true;
	}
}

function pathTo(boot, process, ns) {
	const p = process || whoseMoment(boot, ns), steps = [];
	if (p) {
		const walk = new Walk(boot, p, Math.min(ns, p.to));
		while (walk.steps.length < STEPS_MAX && walk.goBack())
			;
		steps.push(...walk.steps.reverse());
	}
	return { to: ns, steps };
}

/** What a step was spent on, by state. */
function stepStates(step) {
	const out = new Float64Array(7), p = step.process, s = p.spans;
	for (let i = findSpan(s, step.from); i < s.n && spanFrom(p, i) < step.to; i++) {
		const length = Math.min(s.to[i], step.to) - Math.max(spanFrom(p, i), step.from), ran = length * s.share[i] / 1000;
		out[RUNNING] += ran;
		out[s.state[i] === RUNNING ? RUNNABLE : s.state[i]] += length - ran;
	}
	return out;
}
