// SPDX-License-Identifier: MIT
// device_lines: which devices are listed, in which groups and order. Without DOM, so that it can be tested.
//
// What is searched for are words with blanks between them; a device has to have all of them, each anywhere in its
// name, id, address, kernel, machine, state or group.
import type { Device } from "../../api/schema";

export interface Heading {
	readonly kind: "group";
	readonly group: string;
	readonly devices: readonly Device[];
}

export interface Entry {
	readonly kind: "device";
	readonly device: Device;
}

export type Line = Heading | Entry;

export function groupOf(d: Device): string {
	return d.group ?? "";
}

function textOf(d: Device): string {
	const parts = [d.name, d.id, d.address, d.kernel, d.machine, d.state, groupOf(d), d.status.source ?? ""];
	return parts.join("\n").toLowerCase();
}

export function matches(d: Device, search: string): boolean {
	const text = textOf(d);
	return search
		.toLowerCase()
		.split(/\s+/)
		.every((word) => text.includes(word));
}

/** Names of groups, by name; devices without one are not counted. */
export function groupsOf(devices: readonly Device[]): readonly string[] {
	return [...new Set(devices.map(groupOf))].filter((g) => g !== "").sort((a, b) => a.localeCompare(b));
}

export interface Choice {
	readonly search: string;
	/** null: all; "": those in none. */
	readonly group: string | null;
}

export function choose(devices: readonly Device[], c: Choice): readonly Device[] {
	return devices.filter((d) => (c.group === null || groupOf(d) === c.group) && matches(d, c.search));
}

/** Devices as lines, each group under its heading and those without one last; no headings without any group. */
export function linesOf(devices: readonly Device[]): readonly Line[] {
	const groups = groupsOf(devices);
	const entries = (list: readonly Device[]): Line[] => list.map((device) => ({ kind: "device", device }));
	if (!groups.length) return entries(devices);
	return [...groups, ""].flatMap((group): Line[] => {
		const list = devices.filter((d) => groupOf(d) === group);
		return list.length ? [{ kind: "group", group, devices: list }, ...entries(list)] : [];
	});
}

const CAUSES = ["ring", "buffer", "spool", "damage", "store"] as const;
export type Cause = (typeof CAUSES)[number];

export function lostOf(d: Device): number {
	return CAUSES.reduce((sum, c) => sum + d.status.lost[c], 0);
}

/** Causes that lost something. */
export function causesOf(d: Device): readonly (readonly [Cause, number])[] {
	return CAUSES.map((c) => [c, d.status.lost[c]] as const).filter(([, n]) => n > 0);
}

export function bytesPerEvent(d: Device): number | null {
	return d.received.events ? d.received.bytes / d.received.events : null;
}

/* Marks in the address: starts of ids, long enough that two never meet. */
const MARK_DIGITS = 12;
const MARKS_MAX = 200;

export function parseMarks(text: string): ReadonlySet<string> {
	return new Set(
		text
			.split(",")
			.filter((m) => /^[0-9a-f]{12}$/.test(m))
			.slice(0, MARKS_MAX),
	);
}

export function formatMarks(marks: Iterable<string>): string {
	return [...marks].slice(0, MARKS_MAX).join(",");
}

export function markOf(d: Device): string {
	return d.id.slice(0, MARK_DIGITS);
}
