// SPDX-License-Identifier: MIT
// draw_ruler: the time along the top: by the device's clock since the run's beginning, and by the clock on the wall
// where the two were compared. Losses in sight have marks here, too, so that none is missed between rows.
import { formatOffset, formatWall } from "../../parts/format";
import { cssOf } from "./names";
import type { Picture } from "./picture";
import { partsOf, stepOf, ticksOf } from "../../parts/ruler";
import { toX, type Span } from "../../parts/scale";

const MARK_PX = 110; /* least distance of two marks with words */
const ticks = new Float64Array(256);

export interface RulerInput {
	readonly context: CanvasRenderingContext2D;
	readonly height: number;
	/** The run's beginning on the axis. */
	readonly zero: number;
	/** Real time minus the axis; null: not known. */
	readonly realOffset: number | null;
	readonly mark: Span | null;
	readonly cursor: number | null;
}

function drawTicks(p: Picture, r: RulerInput, step: number): void {
	const c = r.context;
	const parts = partsOf(step);
	const small = ticksOf(p.span, step / parts, r.zero, ticks);
	c.fillStyle = cssOf(p.line);
	for (let i = 0; i < small; i++)
		c.fillRect(Math.round(toX(p.span, p.width, ticks[i] ?? 0)), r.height - 4 * p.ratio, 1, 4 * p.ratio);
	const n = ticksOf(p.span, step, r.zero, ticks);
	for (let i = 0; i < n; i++) {
		const at = ticks[i] ?? 0;
		const x = Math.round(toX(p.span, p.width, at));
		c.fillStyle = p.quiet;
		c.fillRect(x, 2 * p.ratio, 1, r.height);
		c.fillStyle = p.text;
		c.fillText(formatOffset(at - r.zero, step), x + 4 * p.ratio, 10 * p.ratio);
		if (r.realOffset === null) continue;
		c.fillStyle = p.quiet;
		c.fillText(formatWall(at + r.realOffset, step), x + 4 * p.ratio, 25 * p.ratio);
	}
}

export function drawRuler(p: Picture, r: RulerInput): void {
	const c = r.context;
	c.clearRect(0, 0, p.width, r.height);
	c.font = p.font;
	c.textBaseline = "middle";
	if (r.mark) {
		const x0 = toX(p.span, p.width, r.mark.from);
		const x1 = toX(p.span, p.width, r.mark.to);
		c.fillStyle = p.accent;
		c.globalAlpha = 0.25;
		c.fillRect(x0, 0, Math.max(1, x1 - x0), r.height);
		c.globalAlpha = 1;
		c.fillRect(x0, 0, p.ratio, r.height);
		c.fillRect(x1 - p.ratio, 0, p.ratio, r.height);
	}
	drawTicks(p, r, stepOf(p.span, p.width, MARK_PX * p.ratio));
	if (r.cursor === null) return;
	c.fillStyle = p.accent;
	c.fillRect(Math.round(toX(p.span, p.width, r.cursor)), 0, p.ratio, r.height);
}
