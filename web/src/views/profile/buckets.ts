// SPDX-License-Identifier: MIT
// buckets: a CPU over time, as stacked parts of a pixel column each.
//
// A piece of time is full when what its samples stand for is as long as the piece. Samples come at random moments, so
// some pieces have more: they are cut to be full, which a picture of so little height cannot show anyway. Of cycles
// nobody knows how many are possible: there the fullest piece is full.
import { MODES, type Mode, type ProfileTimeline } from "../../api/profile";

export type CpuRow = ProfileTimeline["rows"][number];

/** What a full piece has, in the timeline's unit. */
export function fullOf(t: ProfileTimeline): number {
	if (t.unit === "ns") return Math.max(1, (t.to_ns - t.from_ns) / Math.max(1, t.width));
	let most = 1;
	for (const row of t.rows)
		for (let i = 0; i < t.width; i++)
			most = Math.max(
				most,
				MODES.reduce((sum, m) => sum + (row.modes[m]?.[i] ?? 0), 0),
			);
	return most;
}

export interface Part {
	readonly mode: Mode;
	/** Of the height, from the bottom: where it begins, and how much it is. */
	readonly from: number;
	readonly share: number;
}

/** Modes of one piece, stacked; together at most 1. */
export function partsOf(row: CpuRow, i: number, full: number): readonly Part[] {
	const parts: Part[] = [];
	const sum = MODES.reduce((n, m) => n + (row.modes[m]?.[i] ?? 0), 0);
	const scale = 1 / Math.max(full, sum);
	let from = 0;
	for (const mode of MODES) {
		const share = (row.modes[mode]?.[i] ?? 0) * scale;
		if (share <= 0) continue;
		parts.push({ mode, from, share });
		from += share;
	}
	return parts;
}
