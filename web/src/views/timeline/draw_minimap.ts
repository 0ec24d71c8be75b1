// SPDX-License-Identifier: MIT
// draw_minimap: the whole run in one strip: how busy all CPUs were, where something is lost, and which part is in
// sight. It is painted when data comes; the frame around what is in sight is painted over it each time.
import { cssOf } from "./names";
import type { Picture } from "./picture";
import { toX, type Span } from "../../parts/scale";

export interface MinimapInput {
	readonly context: CanvasRenderingContext2D;
	readonly height: number;
	/** All of the axis. */
	readonly bounds: Span;
	readonly mark: Span | null;
}

function busyAt(busy: Uint8Array, pieces: number, cpus: number, i: number): number {
	let sum = 0;
	for (let c = 0; c < cpus; c++) sum += busy[c * pieces + i] ?? 0;
	return cpus ? sum / cpus / 255 : 0;
}

function drawSource(p: Picture, m: MinimapInput, index: number): void {
	const source = p.sources[index];
	const o = source?.whole;
	if (!source || !o) return;
	const lane = m.height / p.sources.length;
	const bottom = lane * (index + 1);
	const c = m.context;
	c.fillStyle = cssOf(p.inks.colour[1] ?? 0);
	for (let i = 0; i < o.pieces; i++) {
		const at = o.from + i * o.pieceNs + source.shift;
		const x = Math.floor(toX(m.bounds, p.width, at));
		const width = Math.max(1, Math.ceil(toX(m.bounds, p.width, at + o.pieceNs)) - x);
		const h = busyAt(o.busy, o.pieces, o.cpus, i) * (lane - 2);
		if (h > 0) c.fillRect(x, bottom - Math.max(1, h), width, Math.max(1, h));
	}
	c.fillStyle = cssOf(p.inks.colour[0] ?? 0);
	for (let i = 0; i < o.lost.length; i++) {
		if (!o.lost[i]) continue;
		const at = o.from + (i % o.pieces) * o.pieceNs + source.shift;
		const x = toX(m.bounds, p.width, at);
		c.fillRect(
			x,
			bottom - lane,
			Math.max(2 * p.ratio, toX(m.bounds, p.width, at + o.pieceNs) - x),
			4 * p.ratio,
		);
	}
}

export function drawMinimap(p: Picture, m: MinimapInput): void {
	const c = m.context;
	c.fillStyle = cssOf(p.raised);
	c.fillRect(0, 0, p.width, m.height);
	p.sources.forEach((_, i) => drawSource(p, m, i));
	if (m.mark) {
		c.fillStyle = p.accent;
		c.globalAlpha = 0.35;
		const x = toX(m.bounds, p.width, m.mark.from);
		c.fillRect(x, 0, Math.max(2, toX(m.bounds, p.width, m.mark.to) - x), m.height);
		c.globalAlpha = 1;
	}
	const x0 = Math.max(0, toX(m.bounds, p.width, p.span.from));
	const x1 = Math.min(p.width, toX(m.bounds, p.width, p.span.to));
	c.fillStyle = cssOf(p.inks.ground);
	c.globalAlpha = 0.6;
	c.fillRect(0, 0, x0, m.height);
	c.fillRect(x1, 0, p.width - x1, m.height);
	c.globalAlpha = 1;
	c.strokeStyle = p.accent;
	c.lineWidth = 2 * p.ratio;
	c.strokeRect(x0 + p.ratio, p.ratio, Math.max(3 * p.ratio, x1 - x0) - 2 * p.ratio, m.height - 2 * p.ratio);
}
