// SPDX-License-Identifier: MIT
// alert_lines: which alerts are listed, and what is said of each. Without DOM, so that it can be tested.
import type { Alert } from "../../api/alerts";
import { formatAddress, parseAddress } from "../../app/address";
import { formatLength, formatPercent } from "../../parts/format";
import { say } from "./words";

export const WHICH = ["all", "open", "past"] as const;
export type Which = (typeof WHICH)[number];

/** What stays for half an hour is usual from then on; so much of it is compared at most. */
const SINCE_MAX_S = 1800;
const MINUTE_S = 60;

export function isOpen(a: Alert): boolean {
	return a.until_s === null;
}

/** Open ones first, then the latest first: as the collector has them. */
export function chooseAlerts(alerts: readonly Alert[], which: Which, search: string): readonly Alert[] {
	const words = search.toLowerCase().split(/\s+/);
	const fits = (a: Alert): boolean => {
		const text = [a.name, a.object, a.scope, a.device, a.cause ?? "", a.kind].join("\n").toLowerCase();
		return words.every((w) => text.includes(w));
	};
	return alerts
		.filter((a) => (which === "all" || isOpen(a) === (which === "open")) && fits(a))
		.toSorted(
			(a, b) => Number(isOpen(b)) - Number(isOpen(a)) || b.since_s - a.since_s || b.number - a.number,
		);
}

/** A share of the machine's time; of a wait a length. */
export function formatAmount(a: Alert, value: number): string {
	return a.kind === "wait" ? formatLength(Math.round(value * 1e9)) : formatPercent(value);
}

export function factorOf(a: Alert): number | null {
	return a.usual > 0 ? a.value / a.usual : null;
}

const KINDS = {
	process: "kindProcess",
	function: "kindFunction",
	steal: "kindSteal",
	vmm: "kindVmm",
	guest: "kindGuest",
	task: "kindTask",
	wait: "kindWait",
} as const satisfies Record<Alert["kind"], string>;

export function describeKind(a: Alert, scope: string): string {
	return say(KINDS[a.kind], { scope });
}

const ENDS = {
	"in-line": "endInLine",
	usual: "endUsual",
	silent: "endSilent",
} as const satisfies Record<NonNullable<Alert["end"]>, string>;

/** Why it is over; null: it goes on. */
export function describeEnd(a: Alert): string | null {
	return a.end === null ? null : say(ENDS[a.end]);
}

/** How long it went on, or has until now. */
export function lengthOf(a: Alert, nowS: number): number {
	return Math.max(0, (a.until_s ?? nowS) - a.since_s);
}

/**
 * Where what grew is shown. The collector's link ends where the alert was known; of one that is open there is more by now.
 */
export function linkOf(a: Alert, nowS: number): string {
	const link = parseAddress(a.link.slice(a.link.indexOf("#")));
	const until = Number(link.params.get("until") ?? 0);
	const now = Math.min(Math.floor(nowS / MINUTE_S) * MINUTE_S, a.since_s + SINCE_MAX_S);
	const params = new Map(link.params);
	if (isOpen(a)) params.set("until", String(Math.max(until, now)));
	return formatAddress({ view: link.view, params });
}
