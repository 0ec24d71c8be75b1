// SPDX-License-Identifier: MIT
// chain: the wakeups that led to a moment, as lines that can be read: what the collector says, checked and put into
// the order of a story, the latest first.
import type { Chain, ChainStep } from "../../api/timeline";

export type End = "idle" | "start" | "loss" | "long" | "other";

export interface Line {
	readonly step: ChainStep;
	/** From the wakeup until it ran; null: it is not known to have run. */
	readonly delayNs: number | null;
	readonly sleptNs: number | null;
	readonly byInterrupt: boolean;
}

export function linesOf(chain: Chain): readonly Line[] {
	return chain.steps.map((step) => ({
		step,
		delayNs: step.ran_ns === null ? null : Math.max(0, step.ran_ns - step.woken_ns),
		sleptNs: step.slept_ns,
		byInterrupt: step.waker_pid === null || step.waker_pid <= 0,
	}));
}

export function endOf(chain: Chain): End {
	const { ends } = chain;
	return ends === "idle" || ends === "start" || ends === "loss" || ends === "long" ? ends : "other";
}

/** The span that has the whole chain in it, by the run's clock; null if it is empty. */
export function chainSpan(chain: Chain): { readonly from: number; readonly to: number } | null {
	let from = Infinity;
	let to = -Infinity;
	for (const step of chain.steps) {
		from = Math.min(from, step.woken_ns);
		to = Math.max(to, step.ran_ns ?? step.woken_ns);
	}
	return from <= to ? { from, to: Math.max(to, from + 1) } : null;
}
