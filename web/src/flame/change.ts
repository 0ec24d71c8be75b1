// SPDX-License-Identifier: MIT
// change: how a function or a path differs between two recordings, in a form that reads without colour: a sign, a
// figure, and a word where only one of them has it.
//
// Two ranges are seldom equally long; `shares` compares parts of the whole instead of times, so that twice the length
// is not twice as slow.
import type { Box } from "./forest";

export type Kind = "same" | "more" | "less" | "new" | "gone";

export interface Change {
	readonly before: number;
	readonly after: number;
	readonly kind: Kind;
	/** From −1 (gone) over 0 to 1 (new): after − before, of the larger of both. */
	readonly degree: number;
}

/** Below this part of the larger value it is noise, not a change. */
export const NOISE = 0.02;

export function changeOf(before: number, after: number): Change {
	const larger = Math.max(before, after);
	const degree = larger > 0 ? (after - before) / larger : 0;
	let kind: Kind = "same";
	if (before <= 0 && after > 0) kind = "new";
	else if (after <= 0 && before > 0) kind = "gone";
	else if (degree > NOISE) kind = "more";
	else if (degree < -NOISE) kind = "less";
	return { before, after, kind, degree };
}

export const SIGNS: Readonly<Record<Kind, string>> = {
	same: "=",
	more: "▲",
	less: "▼",
	new: "✚",
	gone: "✖",
};

export interface Comparison {
	readonly before: Float64Array;
	readonly after: Float64Array;
	/** What the widths are: both together, so that neither what is new nor what is gone is missing. */
	readonly widths: Float64Array;
	readonly of: (box: Box) => Change;
}

const partsOf = (values: Float64Array): Float64Array => values.map((v) => v / (values[0] || 1));

/** Two lists of values of one forest. */
export function compare(then: Float64Array, now: Float64Array, shares: boolean): Comparison {
	const before = shares ? partsOf(then) : then;
	const after = shares ? partsOf(now) : now;
	const widths = before.map((v, i) => v + (after[i] ?? 0));
	return {
		before,
		after,
		widths,
		of: (box) => changeOf(before[box.index] ?? 0, after[box.index] ?? 0),
	};
}

/** Red grows, blue shrinks; the stronger the change the fuller. Both are told apart with any colour blindness. */
export function colorOfChange(change: Change, isDark: boolean): string {
	const strength = Math.min(1, Math.abs(change.degree));
	if (change.kind === "same") return isDark ? "hsl(210 5% 32%)" : "hsl(210 8% 88%)";
	const hue = change.degree > 0 ? 12 : 215;
	const light = isDark ? 30 + 22 * strength : 88 - 30 * strength;
	return `hsl(${hue} ${Math.round(45 + 40 * strength)}% ${Math.round(light)}%)`;
}
