// SPDX-License-Identifier: MIT
// draw_losses: losses as marked gaps on the rows of their CPUs: a frame over the hatched gap, a flag at its beginning,
// and, where there is room, how many events are missing. A loss of no length has its flag all the same.
import type { Window } from "./feed";
import { putDetailLosses, putOverviewLosses, Stretches } from "./losses";
import { cssOf } from "./names";
import { forRows, type Picture } from "./picture";

const stretches = new Stretches();
const clip: Window = { origin: 0, from: 0, to: 1, scale: 1 };

function drawStretches(
	c: CanvasRenderingContext2D,
	p: Picture,
	y: number,
	h: number,
	words: (n: number, uncounted: boolean) => string,
): void {
	const r = p.ratio;
	for (let i = 0; i < stretches.n; i++) {
		const x0 = Math.max(-2, stretches.x0[i] ?? 0);
		const x1 = Math.max(x0 + r, Math.min(p.width + 2, stretches.x1[i] ?? 0));
		c.strokeStyle = c.fillStyle = cssOf(p.inks.colour[0] ?? 0);
		c.lineWidth = r;
		c.strokeRect(x0 + r / 2, y + r, Math.max(r, x1 - x0 - r), h - 2 * r);
		c.beginPath();
		c.moveTo(x0, y + r);
		c.lineTo(x0 + 6 * r, y + r);
		c.lineTo(x0, y + 8 * r);
		c.fill();
		const text = words(stretches.events[i] ?? 0, stretches.uncounted[i] === 1);
		const width = c.measureText(text).width;
		if (width + 16 * r > x1 - x0) continue;
		c.fillStyle = cssOf(p.inks.ground);
		c.fillRect(x0 + 8 * r, y + h / 2 - 7 * r, width + 6 * r, 14 * r);
		c.fillStyle = p.text;
		c.fillText(text, x0 + 11 * r, y + h / 2);
	}
}

/** How many stretches there are in sight, for whoever wants to say so. */
export function drawLosses(
	c: CanvasRenderingContext2D,
	p: Picture,
	words: (n: number, uncounted: boolean) => string,
): number {
	let sum = 0;
	forRows(p, (row, y) => {
		const source = p.sources[row.source];
		const cover = p.covers[row.source];
		if (row.kind !== "cpu" || !source || !cover) return;
		if (!row.pinned && y < p.layout.pinnedHeight) return;
		stretches.n = 0;
		clip.origin = p.span.from - source.shift;
		clip.scale = p.width / (p.span.to - p.span.from);
		for (const piece of cover.details) {
			clip.from = Math.max(clip.origin, piece.from);
			clip.to = Math.min(p.span.to - source.shift, piece.to);
			putDetailLosses(stretches, piece.tile, row.number, clip);
		}
		if (!cover.isWhole && !cover.details.length) {
			clip.from = clip.origin;
			clip.to = p.span.to - source.shift;
			const finest = cover.overviews[cover.overviews.length - 1];
			for (const piece of cover.overviews.length > 1 ? cover.overviews.slice(1) : finest ? [finest] : [])
				putOverviewLosses(stretches, piece.tile, row.number, clip);
		}
		sum += stretches.n;
		drawStretches(c, p, Math.round(y * p.ratio), Math.round(row.height * p.ratio), words);
	});
	return sum;
}
