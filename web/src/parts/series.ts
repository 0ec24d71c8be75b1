// SPDX-License-Identifier: MIT
// series: a quantity over time in a bounded number of points. When they are full, each two neighbours become one
// that has the larger value, so a day takes no more memory than a minute and a peak never disappears.

export interface Point {
	readonly at: number;
	readonly value: number;
}

export class Series {
	private list: Point[] = [];
	private step = 0;

	constructor(readonly most = 240) {}

	get points(): readonly Point[] {
		return this.list;
	}

	get last(): Point | undefined {
		return this.list.at(-1);
	}

	/** Moments must not go back; one that comes sooner than a step after the last is joined with it. */
	push(at: number, value: number): void {
		const last = this.last;
		if (last && at - last.at < this.step)
			this.list[this.list.length - 1] = { at: last.at, value: Math.max(last.value, value) };
		else this.list.push({ at, value });
		if (this.list.length > this.most) this.halve();
	}

	private halve(): void {
		const half: Point[] = [];
		for (let i = 0; i < this.list.length; i += 2) {
			const a = this.list[i];
			const b = this.list[i + 1] ?? a;
			if (a && b) half.push({ at: a.at, value: Math.max(a.value, b.value) });
		}
		const first = half[0];
		const end = half.at(-1);
		this.list = half;
		if (first && end) this.step = (end.at - first.at) / Math.max(1, half.length - 1);
	}
}

/** Points for an SVG polyline of this size; time to the right, 0 at the bottom. */
export function spark(points: readonly Point[], width: number, height: number): string {
	const first = points[0];
	const last = points.at(-1);
	if (!first || !last) return "";
	const length = Math.max(last.at - first.at, 1);
	const top = Math.max(1, ...points.map((p) => p.value));
	const place = (p: Point): string => {
		const x = ((p.at - first.at) / length) * width;
		const y = height - (p.value / top) * height;
		return `${x.toFixed(1)},${y.toFixed(1)}`;
	};
	return points.map(place).join(" ");
}
