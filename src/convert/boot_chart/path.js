// SPDX-License-Identifier: MIT
// path: the critical path to a moment, walked backwards: see src/analysis/boot_path.h, which has the rule.
//
// What a process did; where it waited, what the one did that ended the wait: of an exact chart who woke it,
// of a sampled one the child that ended in that time; at its start its parent. A wait that nobody is known to have
// ended stays a step.
"use strict";

const STEPS_MAX = 20000;

/** Whom a moment is about: the target's process, else who ran last before it. */
function whoseMoment(boot, ns) {
	const target = boot.marks.find(m => m.type === "target" && m.process >= 0 && Math.abs(m.ns - ns) < MS);
	if (target)
		return boot.processes[target.process];
	let best = null, when = -1;
	for (const p of boot.processes) {
		if (p.from > ns || p.is_kernel || p.is_self)
			continue;
		for (let i = Math.min(findSpan(p.spans, ns - 1), p.spans.n - 1); i >= 0; i--) {
			if (spanFrom(p, i) >= ns || p.spans.state[i] !== RUNNING)
				continue;
			const to = Math.min(ns, p.spans.to[i]);
			if (to > when) {
				best = p;
				when = to;
			}
			break;
		}
	}
	return best;
}

/** The child that ended last in a stretch of time. */
function childThatEnded(boot, p, from, to) {
	let best = null;
	for (const i of p.children) {
		const c = boot.processes[i];
		if (!c.is_alive && c.to > from && c.to <= to && c.from < c.to && (!best || c.to > best.to))
			best = c;
	}
	return best;
}

function pathTo(boot, process, ns) {
	const steps = [], seen = boot.limits.from;
	let p = process || whoseMoment(boot, ns), at = Math.min(ns, p ? p.to : ns), end = at;
	const close = (from, inferred) => {
		if (p && end > from)
			steps.push({ process: p, from, to: end, inferred });
	};
	while (p && steps.length < STEPS_MAX) {
		if (at <= Math.max(p.from, seen)) {
			close(Math.max(p.from, seen), false);
			if (p.was_there || p.parent < 0 || at <= seen)
				break;
			end = at = p.from;
			p = boot.processes[p.parent];
			continue;
		}
		const i = Math.min(findSpan(p.spans, at - 1), p.spans.n - 1), from = spanFrom(p, i), state = p.spans.state[i];
		if (state !== SLEEPING && state !== DISK) {
			at = from;
			continue;
		}
		const whom = p.spans.whom[i], to = Math.min(p.spans.to[i], at);
		const next = whom >= 0 ? boot.processes[whom] : childThatEnded(boot, p, from, to);
		if (!next || next === p || next.from >= to) {
			at = from;
			continue;
		}
		const moment = whom >= 0 ? to : Math.min(to, next.to);
		close(moment, whom < 0);
		p = next;
		at = end = moment;
	}
	return { to: ns, process: steps.length ? steps[0].process : process, steps: steps.reverse() };
}

/** What a step was spent on, by state. */
function stepStates(step) {
	const out = new Float64Array(7), p = step.process, s = p.spans;
	for (let i = findSpan(s, step.from); i < s.n && spanFrom(p, i) < step.to; i++)
		out[s.state[i]] += Math.min(s.to[i], step.to) - Math.max(spanFrom(p, i), step.from);
	return out;
}
