// SPDX-License-Identifier: MIT
// ruler: where the ruler has its marks: at 1, 2 or 5 times a power of ten, in seconds and below; at whole minutes,
// quarters and hours above, because that is how people read a clock.
import type { Span } from "./scale";

const COARSE_S: readonly number[] = [
	15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
];
const TICKS_MAX = 400;

/** The least step of the ladder that keeps marks `leastPx` apart. */
export function stepOf(span: Span, width: number, leastPx: number): number {
	const least = ((span.to - span.from) / Math.max(width, 1)) * leastPx;
	if (least > 10e9) {
		const coarse = COARSE_S.find((s) => s * 1e9 >= least);
		return coarse ? coarse * 1e9 : Math.ceil(least / 86400e9) * 86400e9;
	}
	const ten = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
	return ten * (least <= ten ? 1 : least <= 2 * ten ? 2 : least <= 5 * ten ? 5 : 10);
}

/** Into how many parts small marks cut a step. */
export function partsOf(step: number): number {
	const first = Number(step.toExponential().charAt(0));
	if (step > 10e9) return step % 60e9 === 0 ? 6 : 5;
	return first === 2 ? 4 : 5;
}

/** Marks within the span, as multiples of the step counted from `zero`; written into `out`, whose used length it gives. */
export function ticksOf(span: Span, step: number, zero: number, out: Float64Array): number {
	let n = 0;
	const first = Math.ceil((span.from - zero) / step);
	for (let i = first; n < out.length && n < TICKS_MAX; i++) {
		const at = zero + i * step;
		if (at > span.to) break;
		out[n++] = at;
	}
	return n;
}
