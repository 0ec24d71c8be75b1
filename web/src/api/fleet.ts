// SPDX-License-Identifier: MIT
// fleet: questions over any devices and any time, answered from facts: docs/fleet.md defines every figure.
import { getJson, post, type Query } from "./request";
import type {
	AllLabels,
	FleetDiff,
	FleetDiffTree,
	FleetTop,
	FleetTree,
	FleetTrend,
	Labels,
	Work,
} from "./schema";

export type {
	FleetBasis,
	FleetDiff,
	FleetDiffTree,
	FleetTop,
	FleetTree,
	FleetTrend,
	FleetValues,
	Work,
} from "./schema";

export type FleetKind = FleetTop["kind"];
export type FleetBy = FleetTop["by"];

export function getFleetTop(query: Query, abort?: AbortSignal): Promise<FleetTop> {
	return getJson<FleetTop>("fleet/top", query, abort);
}

export function getFleetTree(query: Query, abort?: AbortSignal): Promise<FleetTree> {
	return getJson<FleetTree>("fleet/tree", query, abort);
}

export function getFleetDiff(query: Query, abort?: AbortSignal): Promise<FleetDiff> {
	return getJson<FleetDiff>("fleet/diff", query, abort);
}

export function getFleetDiffTree(query: Query, abort?: AbortSignal): Promise<FleetDiffTree> {
	return getJson<FleetDiffTree>("fleet/diff/tree", query, abort);
}

export function getFleetTrend(query: Query, abort?: AbortSignal): Promise<FleetTrend> {
	return getJson<FleetTrend>("fleet/trend", query, abort);
}

/** With what is uncovered of so many devices. */
export function getWork(uncovered: number, abort?: AbortSignal): Promise<Work> {
	return getJson<Work>("work", { uncovered }, abort);
}

/** Of each device that has any, by its id. */
export type LabelTable = ReadonlyMap<string, Readonly<Record<string, string>>>;

export async function getLabels(abort?: AbortSignal): Promise<LabelTable> {
	const { labels } = await getJson<AllLabels>("labels", {}, abort);
	return new Map(labels.map((l) => [l.device, l.labels]));
}

/** Null takes one away; what is not named stays. */
export function setLabels(device: string, labels: Readonly<Record<string, string | null>>): Promise<Labels> {
	return post<Labels>(`devices/${device}/labels`, { labels });
}
