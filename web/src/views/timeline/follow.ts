// SPDX-License-Identifier: MIT
// follow: what time it is on a device now, as seen from here. Its events come some hundred milliseconds late, in
// bursts; the least delay that was seen lately is taken for the true one, so that the picture moves evenly.
// It is forgotten slowly, or one early burst would shift everything for good.

const FORGET_NS_PER_MS = 10_000; /* 1 % */
const AHEAD_MAX_NS = 1.5e9;

export class Follow {
	private offset = Number.NaN; /* device ns at performance time 0 */
	private end = 0;
	private at = 0;

	/** Events up to `endNs` were there at `nowMs`. */
	saw(endNs: number, nowMs: number): void {
		if (endNs <= this.end) return;
		const offset = endNs - nowMs * 1e6;
		const faded = this.offset - (nowMs - this.at) * FORGET_NS_PER_MS;
		this.offset = Number.isNaN(this.offset) ? offset : Math.max(offset, faded);
		this.end = endNs;
		this.at = nowMs;
	}

	/** The device's time now; never far beyond what came. */
	now(nowMs: number): number {
		if (Number.isNaN(this.offset)) return this.end;
		const faded = this.offset - (nowMs - this.at) * FORGET_NS_PER_MS;
		return Math.min(nowMs * 1e6 + faded, this.end + AHEAD_MAX_NS);
	}
}
