// SPDX-License-Identifier: MIT
// state: what the view shows, as the address has it; a value that means nothing is the usual one.
import { address, parseTime, setParams } from "../../app/address";

export type Tab = "chart" | "report" | "path" | "diff";

export interface State {
	readonly tab: Tab;
	/** Compared with this earlier boot, if there is one. */
	readonly base: number | null;
	readonly sampled: boolean;
	/** The process that is selected, and in which boot of the chart. */
	readonly pid: number | null;
	readonly of: number;
	readonly from: number | null;
	readonly to: number | null;
}

/** Differences need two boots, the critical path is of one. */
export function tabsOf(compared: boolean): readonly Tab[] {
	return compared ? ["chart", "diff", "report", "path"] : ["chart", "report", "path"];
}

export function readState(params: ReadonlyMap<string, string>): State {
	const text = (key: string): string => params.get(key) ?? "";
	const base = parseTime(text("base"));
	return {
		tab: tabsOf(base !== null).find((t) => t === text("tab")) ?? "chart",
		base,
		sampled: text("sampled") === "1",
		pid: parseTime(text("pid")),
		of: text("of") === "1" ? 1 : 0,
		from: parseTime(text("from")),
		to: parseTime(text("to")),
	};
}

export function currentState(): State {
	return readState(address.value.params);
}

export function showTab(tab: Tab): void {
	setParams({ tab: tab === "chart" ? null : tab }, true);
}

/** A process in the chart; of two boots in the later one, which is the second. */
export function showProcess(pid: number, compared: boolean): void {
	setParams({ tab: null, pid, of: compared ? 1 : null }, true);
}
