// SPDX-License-Identifier: MIT
// state: what the view shows, as the address has it (app/address.ts); a value that means nothing is the usual one.
//
// Times are seconds of real time and have keys of their own, `since` and `until`: `from` and `to` are those of a
// recording's clock. The collector takes `last`, and moments before now, itself; so its clock counts, not the browser's.
import type { FleetBy, FleetKind } from "../../api/fleet";
import type { Query } from "../../api/request";
import { address, setParams } from "../../app/address";
import { flameChanges, readFlame, type FlameState } from "../../flame/state";

export const TABS = ["top", "graph", "devices", "pipeline"] as const;
export type Tab = (typeof TABS)[number];
export const KINDS = ["profile", "cycles", "vm"] as const;
export type Kind = (typeof KINDS)[number] & FleetKind;
export const LASTS = ["15m", "1h", "6h", "24h", "7d", "30d"] as const;
/** With what it is compared: the time just before, a day or a week earlier, another time, other devices. */
export const BASES = ["", "before", "day", "week", "time", "devices"] as const;
export type Base = (typeof BASES)[number];

const BY: Readonly<Record<Kind, readonly FleetBy[]>> = {
	profile: ["function", "process", "object", "device"],
	cycles: ["function", "process", "object", "device"],
	vm: ["function", "process", "machine", "class", "device"],
};

const LENGTHS: Readonly<Record<string, number>> = {
	"15m": 900,
	"1h": 3600,
	"6h": 21_600,
	"24h": 86_400,
	"7d": 604_800,
	"30d": 2_592_000,
};
const AGO: Partial<Record<Base, readonly [string, number]>> = {
	day: ["-24h", 86_400],
	week: ["-7d", 604_800],
};

/** From one moment to another, in seconds since 1970. */
export interface Span {
	readonly since: number;
	readonly until: number;
}

export interface State extends FlameState {
	readonly tab: Tab;
	readonly kind: Kind;
	readonly by: FleetBy;
	/** So much of the time, up to now; without meaning when there is a span. */
	readonly last: string;
	readonly span: Span | null;
	/** Names, patterns or labels (which.ts). */
	readonly devices: string;
	readonly process: string;
	readonly base: Base;
	readonly baseSpan: Span | null;
	readonly baseDevices: string;
	/** What is chosen of the list, for its trend; "": nothing. */
	readonly name: string;
	readonly object: string;
	readonly samples: boolean;
	readonly sort: string;
}

/** Lists of some processes are made from stacks, which do not say of which device they are. */
export function bysOf(kind: Kind, process: string): readonly FleetBy[] {
	return process ? BY[kind].filter((by) => by !== "device") : BY[kind];
}

/** What is counted: samples, or what they stand for. */
export function unitOf(s: State): "samples" | "cycles" | "ns" {
	return s.samples ? "samples" : s.kind === "cycles" ? "cycles" : "ns";
}

function readSpan(since: string, until: string): Span | null {
	const is = (t: string): boolean => /^\d{1,11}$/.test(t);
	return is(since) && is(until) && Number(since) < Number(until)
		? { since: Number(since), until: Number(until) }
		: null;
}

export function readState(params: ReadonlyMap<string, string>): State {
	const text = (key: string): string => params.get(key) ?? "";
	const one = <T extends string>(key: string, values: readonly T[], usual: T): T =>
		values.find((v) => v === text(key)) ?? usual;
	const kind = one("kind", KINDS, "profile");
	return {
		...readFlame(params),
		tab: one("tab", TABS, "top"),
		kind,
		by: one("by", bysOf(kind, text("process")), "function"),
		last: one("last", LASTS, "1h"),
		span: readSpan(text("since"), text("until")),
		devices: text("devices"),
		process: text("process"),
		base: one("base", BASES, ""),
		baseSpan: readSpan(text("basesince"), text("baseuntil")),
		baseDevices: text("basedevices"),
		name: text("name"),
		object: text("object"),
		samples: text("value") === "samples",
		sort: text("sort"),
	};
}

export function currentState(): State {
	return readState(address.value.params);
}

const USUAL: Readonly<Record<string, string>> = { tab: "top", kind: "profile", by: "function", last: "1h" };

/** The usual values are left out, so that addresses stay short. */
export function change(next: Partial<State>, remember = true): void {
	const changes: Record<string, string | number | null> = flameChanges(next);
	const texts = [
		"tab",
		"kind",
		"by",
		"last",
		"devices",
		"process",
		"base",
		"name",
		"object",
		"sort",
	] as const;
	for (const key of texts) {
		const value = next[key];
		if (value !== undefined) changes[key] = value === (USUAL[key] ?? "") ? null : value;
	}
	if (next.baseDevices !== undefined) changes["basedevices"] = next.baseDevices || null;
	if (next.samples !== undefined) changes["value"] = next.samples ? "samples" : null;
	if (next.span !== undefined) {
		changes["since"] = next.span?.since ?? null;
		changes["until"] = next.span?.until ?? null;
	}
	if (next.baseSpan !== undefined) {
		changes["basesince"] = next.baseSpan?.since ?? null;
		changes["baseuntil"] = next.baseSpan?.until ?? null;
	}
	setParams(changes, remember);
}

export function lengthOf(s: State): number {
	return s.span ? s.span.until - s.span.since : (LENGTHS[s.last] ?? 3600);
}

/** Can it be compared so? A day earlier is no other time where two days are looked at. */
export function isBaseFit(s: State, base: Base): boolean {
	const ago = AGO[base];
	return !ago || lengthOf(s) <= ago[1];
}

/** Is there all that a comparison needs? */
export function isCompared(s: State): boolean {
	if (s.base === "time") return s.baseSpan !== null;
	if (s.base === "devices") return s.baseDevices !== "";
	return s.base !== "" && isBaseFit(s, s.base);
}

const at = (seconds: number): string => `@${seconds}`;

export function spanQuery(span: Span): Query {
	return { from: at(span.since), to: at(span.until) };
}

export function rangeQuery(s: State): Query {
	return s.span ? spanQuery(s.span) : { last: s.last };
}

/** What a comparison asks beside the kind; `devices` as the collector takes them. */
export function diffQuery(s: State, devices: string, baseDevices: string): Query {
	const main = { ...rangeQuery(s), devices };
	const earlier = (by: number): Query =>
		s.span ? { with_from: at(s.span.since - by), with_to: at(s.span.until - by) } : {};
	if (s.base === "devices") return { ...main, with_devices: baseDevices };
	if (s.base === "time" && s.baseSpan)
		return { ...main, with_from: at(s.baseSpan.since), with_to: at(s.baseSpan.until) };
	if (s.base === "before")
		return s.span ? { ...main, ...earlier(lengthOf(s)) } : { devices, last: s.last, at: `-${s.last}` };
	const ago = AGO[s.base];
	return ago ? { ...main, ...(s.span ? earlier(ago[1]) : { with_to: ago[0] }) } : main;
}
