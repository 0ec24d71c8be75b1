// SPDX-License-Identifier: MIT
// format: numbers, lengths of time and moments as people read them. A length has three significant digits and
// a unit; a moment has as many digits as the zoom can tell apart.
import { language } from "../words/dictionary";

const UNITS: readonly (readonly [number, string])[] = [
	[1e9, "s"],
	[1e6, "ms"],
	[1e3, "µs"],
	[1, "ns"],
];

function digits(value: number): number {
	return value >= 100 ? 0 : value >= 10 ? 1 : 2;
}

export function formatLength(ns: number): string {
	const size = Math.abs(ns);
	if (size === 0) return "0";
	if (size >= 3600e9) return `${Math.floor(ns / 3600e9)} h ${Math.floor((size % 3600e9) / 60e9)} min`;
	if (size >= 60e9) {
		/* In tenths of a second, so that no minute has sixty of them. */
		const tenths = Math.round(size / 1e8);
		return `${ns < 0 ? "-" : ""}${Math.floor(tenths / 600)} min ${((tenths % 600) / 10).toFixed(1)} s`;
	}
	const [scale, unit] = UNITS.find(([s]) => size >= s) ?? [1, "ns"];
	return scale === 1 ? `${ns} ns` : `${(ns / scale).toFixed(digits(size / scale))} ${unit}`;
}

export function formatCount(n: number): string {
	return n.toLocaleString(language.value);
}

export function formatBytes(n: number): string {
	const units = ["B", "KB", "MB", "GB", "TB"];
	let unit = 0;
	for (; n >= 1000 && unit < units.length - 1; unit++) n /= 1000;
	return `${unit ? n.toFixed(digits(n)) : n} ${units[unit]}`;
}

export function formatPercent(share: number): string {
	const percent = 100 * share;
	return `${percent.toFixed(percent >= 10 || percent === 0 ? 1 : 2)} %`;
}

/** How many digits of a second tell steps of stepNs apart. */
export function secondDigits(stepNs: number): number {
	return Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(stepNs, 1)))));
}

/** Seconds since the run's beginning. */
export function formatOffset(ns: number, stepNs: number): string {
	return `${ns < 0 ? "−" : "+"}${(Math.abs(ns) / 1e9).toFixed(secondDigits(stepNs))} s`;
}

/** A moment of real time (ns since 1970) as the viewer's clock has it. */
export function formatWall(ns: number, stepNs: number): string {
	const date = new Date(Math.floor(ns / 1e6));
	const two = (n: number): string => String(n).padStart(2, "0");
	const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
	const n = secondDigits(stepNs);
	if (!n) return clock;
	const part = String(Math.floor(((ns % 1e9) + 1e9) % 1e9)).padStart(9, "0");
	return `${clock}.${part.slice(0, n)}`;
}

/** As the rulers have it: from 0 to 24. */
export const CLOCK = { hourCycle: "h23" } as const;

/** An RFC 3339 text of the API, as the viewer's clock has it. */
export function formatMoment(text: string | null): string {
	return text ? new Date(text).toLocaleString(language.value, CLOCK) : "–";
}

/** The same to the minute: facts know no shorter times. */
export function formatMinute(text: string): string {
	return new Date(text).toLocaleString(language.value, { dateStyle: "medium", timeStyle: "short", ...CLOCK });
}
