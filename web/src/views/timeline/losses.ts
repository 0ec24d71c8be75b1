// SPDX-License-Identifier: MIT
// losses: where events of a CPU are missing, as stretches of pixels. Losses that lie closer than a few pixels are
// told as one, with the sum of what they lack, so that a thousand of them are a thousand pixels at most.
import type { Detail } from "./decode";
import type { Overview } from "./overview";
import type { Window } from "./feed";

const NEAR_PX = 3;

export class Stretches {
	static readonly MAX = 400;
	n = 0;
	readonly x0 = new Float32Array(Stretches.MAX);
	readonly x1 = new Float32Array(Stretches.MAX);
	/** Events that are known to be missing. */
	readonly events = new Float64Array(Stretches.MAX);
	/** Some of them were not counted. */
	readonly uncounted = new Uint8Array(Stretches.MAX);

	put(x0: number, x1: number, events: number): void {
		const last = this.n - 1;
		const counted = events > 0 ? events : 0;
		if (last >= 0 && x0 - (this.x1[last] ?? 0) < NEAR_PX) {
			this.x1[last] = Math.max(this.x1[last] ?? 0, x1);
			this.events[last] = (this.events[last] ?? 0) + counted;
			if (events <= 0) this.uncounted[last] = 1;
			return;
		}
		if (this.n >= Stretches.MAX) return;
		this.x0[this.n] = x0;
		this.x1[this.n] = x1;
		this.events[this.n] = counted;
		this.uncounted[this.n++] = events <= 0 ? 1 : 0;
	}
}

export function putDetailLosses(out: Stretches, tile: Detail, cpu: number, w: Window): void {
	for (let i = 0; i < tile.lossFrom.length; i++) {
		if (tile.lossCpu[i] !== cpu) continue;
		const from = Math.max(w.from, tile.from + (tile.lossFrom[i] ?? 0));
		const to = Math.min(w.to, tile.from + (tile.lossTo[i] ?? 0));
		if (to < from) continue;
		out.put((from - w.origin) * w.scale, (to - w.origin) * w.scale, tile.lossEvents[i] ?? 0);
	}
}

export function putOverviewLosses(out: Stretches, o: Overview, cpu: number, w: Window): void {
	const first = Math.max(0, Math.floor((w.from - o.from) / o.pieceNs));
	const last = Math.min(o.pieces - 1, Math.floor((w.to - o.from) / o.pieceNs));
	for (let i = first; i <= last; i++) {
		const lost = o.lost[cpu * o.pieces + i] ?? 0;
		if (!lost) continue;
		const from = o.from + i * o.pieceNs;
		out.put((from - w.origin) * w.scale, (from + o.pieceNs - w.origin) * w.scale, lost);
	}
}
