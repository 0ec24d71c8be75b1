// SPDX-License-Identifier: MIT
// profile: what the collector knows about a profile: docs/profile.md defines every figure.
//
// Answers are JSON as `kiseki profile … --json` prints it. Only the edge is here; what is made of it is with the view.
import { getJson, type Query } from "./request";
import type { ProfileReport, ProfileTimeline, ProfileTree, Run } from "./schema";

export type { ProfileReport, ProfileTimeline, ProfileTotals, ProfileTree, ProfileValues } from "./schema";

export type ProfileRow = ProfileReport["rows"][number];
export type ProfileNode = ProfileTree["nodes"][number];
export type ProfileBy = ProfileReport["by"];

/** Where the CPU was; idle is nobody's time. */
export const MODES = ["user", "kernel", "guest_user", "guest_kernel", "idle"] as const;
export type Mode = (typeof MODES)[number];

/** Which samples: of one run, of some of its time, of some of its threads. */
export interface ProfileSelection {
	readonly run: number;
	readonly from: number | null;
	readonly to: number | null;
	/** Numbers and patterns of names, with commas; "" is all. */
	readonly process: string;
	readonly thread: string;
	readonly cpu: string;
	/** user, kernel, guest or idle. */
	readonly mode: string;
}

/** What stands above the functions of a tree. */
export type Groups = "process" | "thread" | "none";

function queryOf(s: ProfileSelection): Query {
	return { from_ns: s.from, to_ns: s.to, process: s.process, thread: s.thread, cpu: s.cpu, mode: s.mode };
}

export function getProfileReport(
	s: ProfileSelection,
	by: ProfileBy,
	limit: number,
	abort?: AbortSignal,
): Promise<ProfileReport> {
	return getJson<ProfileReport>(`runs/${s.run}/profile/report`, { ...queryOf(s), by, limit }, abort);
}

export function getProfileTree(
	s: ProfileSelection,
	how: { readonly groups: Groups; readonly callers: boolean; readonly limit: number },
	abort?: AbortSignal,
): Promise<ProfileTree> {
	const { groups, callers, limit } = how;
	const query = { ...queryOf(s), groups, limit, ...(callers ? { callers: 1 } : {}) };
	return getJson<ProfileTree>(`runs/${s.run}/profile/tree`, query, abort);
}

/** The whole run in so many pieces, CPU by CPU. */
export function getProfileTimeline(
	run: number,
	width: number,
	abort?: AbortSignal,
): Promise<ProfileTimeline> {
	return getJson<ProfileTimeline>(`runs/${run}/profile/timeline`, { width }, abort);
}

/** When a run's records begin and end, and how they were taken. */
export type ProfilePlace = NonNullable<Run["profile"]>;

export function profileOf(run: Run | undefined): ProfilePlace | null {
	return run?.profile && run.profile.to_ns > run.profile.from_ns ? run.profile : null;
}
