// SPDX-License-Identifier: MIT
// data: what the view asks for, and when it asks again: when the selection changes, and when the run has grown.
import {
	getProfileReport,
	getProfileTimeline,
	getProfileTree,
	type Groups,
	type ProfileBy,
	type ProfileReport,
	type ProfileSelection,
	type ProfileTimeline,
} from "../../api/profile";
import { useLoaded, type Loaded } from "../../parts/loaded";
import { growForest, type Forest } from "./forest";

/** Stacks that are asked for: more than a screen has pixels. */
export const PATHS = 20_000;
export const ROWS = 5_000;
/** Pieces of the overview; about as many as it has pixels. */
export const PIECES = 600;

const keyOf = (s: ProfileSelection | null): string => JSON.stringify(s);

export function useTimeline(run: number, round: number): Loaded<ProfileTimeline> {
	return useLoaded((abort) => getProfileTimeline(run, PIECES, abort), [run, round]);
}

export function useReport(s: ProfileSelection | null, by: ProfileBy, round: number): Loaded<ProfileReport> {
	return useLoaded(s ? (abort) => getProfileReport(s, by, ROWS, abort) : null, [keyOf(s), by, round]);
}

export interface How {
	readonly groups: Groups;
	readonly callers: boolean;
}

export function useForest(
	after: ProfileSelection | null,
	before: ProfileSelection | null,
	how: How,
	round: number,
): Loaded<Forest> {
	const { groups, callers } = how;
	const ask = async (s: ProfileSelection, abort: AbortSignal): Promise<Forest> => {
		const question = { groups, callers, limit: PATHS };
		const [now, then] = await Promise.all([
			getProfileTree(s, question, abort),
			before ? getProfileTree(before, question, abort) : null,
		]);
		const grouped = groups === "none" ? 0 : groups === "process" ? 1 : 2;
		return growForest(now.nodes, then?.nodes ?? null, grouped);
	};
	return useLoaded(after ? (abort) => ask(after, abort) : null, [
		...[keyOf(after), keyOf(before), groups, callers, round],
	]);
}
