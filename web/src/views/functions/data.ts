// SPDX-License-Identifier: MIT
// data: what the view asks for, and when it asks again.
//
// Functions come whole. Paths may be millions, so the longest come, and the others as sums; who zooms into a box that
// has such sums below it gets more of them.
import { getCallReport, getCallTree, type CallReport, type CallSelection } from "../../api/calls";
import type { Run } from "../../api/schema";
import type { Extent } from "../../parts/brush";
import { getCalls } from "../../api/timeline";
import { useLoaded, type Loaded } from "../../parts/loaded";
import { decodeCalls } from "../timeline/calls";
import { longestCall } from "../timeline/lanes";
import { growForest, type Box, type Forest } from "./forest";

/** What is asked for at first, and when somebody looks closer. */
export const PATHS = 20_000;
export const PATHS_MORE = 80_000;

/** Whether there is more to see in a box than the answer has. */
export function hasOthers(box: Box): boolean {
	const visit: Box[] = [box];
	for (let b = visit.pop(); b; b = visit.pop()) {
		if (b.others) return true;
		visit.push(...b.children);
	}
	return false;
}

const keyOf = (s: CallSelection | null): string => JSON.stringify(s);

export function useReport(s: CallSelection | null): Loaded<CallReport> {
	return useLoaded(s ? (abort) => getCallReport(s, abort) : null, [keyOf(s)]);
}

/** Where the calls of a run begin and end. */
export function extentOf(run: Run | undefined): Extent | null {
	return run?.calls && run.calls.to_ns > run.calls.from_ns
		? { from: run.calls.from_ns, to: run.calls.to_ns }
		: null;
}

const LONG_SHARE = 1 / 200; /* of the time that is shown: then a thread has few calls that long */
const LONG_MAX = 20_000;

/** The longest call of a time, and whose it is; null: none is long. */
export function useLongest(
	run: number | null,
	span: { readonly from: number; readonly to: number },
): Loaded<ReturnType<typeof longestCall>> {
	const ask = async (number: number, abort: AbortSignal): Promise<ReturnType<typeof longestCall>> => {
		const size = { limit: LONG_MAX, min_ns: Math.floor((span.to - span.from) * LONG_SHARE) };
		return longestCall(decodeCalls(await getCalls(number, span, size, abort)));
	};
	const isAsked = run !== null && span.to > span.from;
	return useLoaded(isAsked ? (abort) => ask(run, abort) : null, [run, span.from, span.to]);
}

export function usePaths(
	after: CallSelection | null,
	before: CallSelection | null,
	limit: number,
): Loaded<Forest> {
	const ask = async (s: CallSelection, abort: AbortSignal): Promise<Forest> => {
		const [now, then] = await Promise.all([
			getCallTree(s, limit, abort),
			before ? getCallTree(before, limit, abort) : null,
		]);
		return growForest(now.nodes, then?.nodes ?? null);
	};
	return useLoaded(after ? (abort) => ask(after, abort) : null, [keyOf(after), keyOf(before), limit]);
}
