// SPDX-License-Identifier: MIT
// trend: shares over time as lines of a picture. Without DOM.
import type { FleetBasis, FleetTrend } from "../../api/fleet";

export interface Place {
	/** Seconds since 1970, the middle of the minute or hour. */
	readonly at: number;
	readonly lengthS: number;
	readonly self: number;
	readonly total: number;
}

export interface Frame {
	readonly from: number;
	readonly to: number;
	readonly top: number;
	readonly width: number;
	readonly height: number;
}

export const secondsOf = (text: string): number => Date.parse(text) / 1000;

/** Shares of all that was recorded in the same minute or hour; where nothing was, there is none. */
export function placesOf(trend: FleetTrend, samples: boolean): readonly Place[] {
	const key = samples ? "samples" : "ns";
	return trend.points
		.filter((p) => p.all[key] > 0)
		.map((p) => ({
			at: secondsOf(p.at) + p.length_s / 2,
			lengthS: p.length_s,
			self: p.self[key] / p.all[key],
			total: p.total[key] / p.all[key],
		}));
}

/** The highest of a scale: a round number that is not far above, and never more than all. */
export function topOf(most: number): number {
	if (most <= 0) return 0.01;
	const power = 10 ** Math.floor(Math.log10(most));
	return Math.min(1, ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((n) => n * power >= most * 0.999) ?? 10) * power);
}

/** A path of an SVG, with a gap where more than one and a half steps are missing; a point alone is a short dash. */
export function lineOf(places: readonly Place[], which: "self" | "total", frame: Frame): string {
	const span = Math.max(1, frame.to - frame.from);
	const x = (at: number): string => (((at - frame.from) / span) * frame.width).toFixed(1);
	const y = (p: Place): string => (frame.height * (1 - Math.min(1, p[which] / frame.top))).toFixed(1);
	return places
		.map((p, i) => {
			const last = places[i - 1];
			const joined = last !== undefined && p.at - last.at <= 1.5 * Math.max(p.lengthS, last.lengthS);
			if (joined) return `L${x(p.at)} ${y(p)}`;
			return `M${x(p.at - p.lengthS / 4)} ${y(p)}L${x(p.at)} ${y(p)}`;
		})
		.join("");
}

/** The range of a side as parts of the width, from 0 to 1. */
export function bandOf(basis: FleetBasis, frame: Frame): readonly [number, number] {
	const span = Math.max(1, frame.to - frame.from);
	const part = (text: string): number =>
		Math.min(1, Math.max(0, (secondsOf(text) - frame.from) / span)) * frame.width;
	return [part(basis.from), part(basis.to)];
}

export function nearest(places: readonly Place[], at: number): Place | null {
	return places.reduce<Place | null>(
		(best, p) => (!best || Math.abs(p.at - at) < Math.abs(best.at - at) ? p : best),
		null,
	);
}
