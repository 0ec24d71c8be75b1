// SPDX-License-Identifier: MIT
// scale: which time is at which pixel. A span is what is in sight, in nanoseconds of the axis; all functions give
// new spans that stay within what may be shown. Times are doubles: exact below 2^53 ns.

export interface Span {
	readonly from: number;
	readonly to: number;
}

/** Closer than this nothing more can be told apart. */
export const SPAN_MIN_NS = 50;
/** How far beyond its ends the axis may be moved, as a share of what is in sight. */
const BEYOND = 0.5;

export function lengthOf(span: Span): number {
	return span.to - span.from;
}

export function toX(span: Span, width: number, ns: number): number {
	return ((ns - span.from) / (span.to - span.from)) * width;
}

export function toNs(span: Span, width: number, x: number): number {
	return span.from + (x / width) * (span.to - span.from);
}

/** The same length or less, moved so that it does not leave `bounds` for good. */
export function clampSpan(span: Span, bounds: Span): Span {
	const whole = Math.max(lengthOf(bounds), SPAN_MIN_NS);
	const length = Math.min(Math.max(lengthOf(span), SPAN_MIN_NS), whole * (1 + 2 * BEYOND));
	const slack = length * BEYOND;
	const middle = (span.from + span.to) / 2;
	const least = Math.max(0, bounds.from - slack);
	const from = Math.max(least, Math.min(middle - length / 2, bounds.to + slack - length));
	return { from, to: from + length };
}

/** `factor` below 1 comes closer; the time `at` stays where it is. */
export function zoomSpan(span: Span, factor: number, at: number, bounds: Span): Span {
	const least = SPAN_MIN_NS / lengthOf(span);
	const f = Math.max(factor, least);
	return clampSpan({ from: at - (at - span.from) * f, to: at + (span.to - at) * f }, bounds);
}

export function panSpan(span: Span, ns: number, bounds: Span): Span {
	return clampSpan({ from: span.from + ns, to: span.to + ns }, bounds);
}

/** A span with some air around it. */
export function aroundSpan(span: Span, share: number, bounds: Span): Span {
	const air = Math.max(lengthOf(span), SPAN_MIN_NS) * share;
	return clampSpan({ from: span.from - air, to: span.to + air }, bounds);
}

export function overlaps(a: Span, b: Span): boolean {
	return a.from < b.to && b.from < a.to;
}

/** "123-456" of the address; null if it is none. */
export function parseSpan(text: string): Span | null {
	const match = /^(\d{1,17})-(\d{1,17})$/.exec(text);
	if (!match) return null;
	const from = Number(match[1]);
	const to = Number(match[2]);
	return from < to ? { from, to } : null;
}

export function formatSpan(span: Span): string {
	return `${Math.max(0, Math.round(span.from))}-${Math.max(1, Math.round(span.to))}`;
}
