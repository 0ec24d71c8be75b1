// SPDX-License-Identifier: MIT
// boots: what the collector knows about a boot: the chart's own document, and the reports of docs/reports.md.
import type { ChartData } from "../../chart/mount.js";
import { getBytes, getJson } from "./request";
import type { BootDiff, BootReport } from "./schema";

export type { ChartData } from "../../chart/mount.js";
export type { BootDiff, BootHead, BootProcess, BootReport } from "./schema";

/** A boot, alone or behind the one that it is compared with. */
export interface BootSelection {
	readonly run: number;
	readonly before: number | null;
	/** Without what the scheduler tells of the same time. */
	readonly sampled: boolean;
}

/** One boot with its critical path; of two the earlier one comes first. */
export function getBootChart(s: BootSelection, abort?: AbortSignal): Promise<ChartData> {
	const sampled = s.sampled ? 1 : null;
	if (s.before === null)
		// An empty path= means "to the target", and urlOf() leaves out what is empty.
		return getJson<ChartData>(`runs/${s.run}/boot.chart.json?path=${sampled ? "&sampled=1" : ""}`, {}, abort);
	return getJson<ChartData>(`runs/${s.before}/boot.chart.json`, { with: s.run, sampled }, abort);
}

export function getBootReport(s: BootSelection, abort?: AbortSignal): Promise<BootReport> {
	return getJson<BootReport>(`runs/${s.run}/boot/report`, { path: 1, sampled: s.sampled ? 1 : null }, abort);
}

export function getBootDiff(s: BootSelection, abort?: AbortSignal): Promise<BootDiff> {
	return getJson<BootDiff>(
		`runs/${s.before}/boot/diff`,
		{ with: s.run, sampled: s.sampled ? 1 : null },
		abort,
	);
}

/** The chart as the collector draws it. */
export async function getBootSvg(s: BootSelection, abort?: AbortSignal): Promise<string> {
	const query = { with: s.before === null ? null : s.run, sampled: s.sampled ? 1 : null };
	const bytes = await getBytes(`runs/${s.before ?? s.run}/boot.svg`, query, abort);
	return new TextDecoder().decode(bytes);
}
