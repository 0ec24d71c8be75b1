// SPDX-License-Identifier: MIT
// paint: puts shapes on a pen, that of the screen or of a picture.
import type { Pen } from "../parts/pen";
import type { Shape } from "./shapes";
import { FONT, LEVEL_PX } from "./shapes";
import type { Box } from "./forest";

const GAP_PX = 1;
const HATCH_PX = 6;

export interface Colors {
	readonly text: string;
	readonly accent: string;
}

/** Lines at 45 degrees, cut to the rectangle by arithmetic: a clip for each of thousands would be slow. */
export function hatch(pen: Pen, x: number, y: number, width: number, height: number, rising: boolean): void {
	pen.beginPath();
	for (let at = HATCH_PX / 2; at < width + height; at += HATCH_PX) {
		const x0 = Math.max(0, at - height);
		const x1 = Math.min(width, at);
		const y0 = Math.min(height, at);
		const y1 = Math.max(0, at - width);
		const line = (v: number): number => (rising ? v : height - v);
		pen.moveTo(x + x0, y + line(y0));
		pen.lineTo(x + x1, y + line(y1));
	}
	pen.stroke();
}

function paintGround(pen: Pen, s: Shape): void {
	const width = Math.max(s.width - GAP_PX, 0.5);
	pen.globalAlpha = s.dim ? 0.35 : 1;
	pen.fillStyle = s.fill;
	pen.fillRect(s.x, s.y, width, LEVEL_PX - GAP_PX);
	if (s.pattern && width > 3) {
		pen.strokeStyle = s.ink;
		pen.lineWidth = 1;
		pen.globalAlpha = s.dim ? 0.1 : 0.25;
		hatch(pen, s.x, s.y, width, LEVEL_PX - GAP_PX, s.pattern === "rise");
	}
	pen.globalAlpha = 1;
}

function paintFrame(pen: Pen, s: Shape, color: string, lineWidth: number): void {
	pen.strokeStyle = color;
	pen.lineWidth = lineWidth;
	const inset = lineWidth / 2;
	const width = Math.max(s.width - GAP_PX - lineWidth, 0.5);
	pen.strokeRect(s.x + inset, s.y + inset, width, LEVEL_PX - GAP_PX - lineWidth);
}

/* A dimmed box lets the page's ground through, so its words are in the page's colour. */
function paintText(pen: Pen, s: Shape, colors: Colors): void {
	if (!s.text) return;
	pen.fillStyle = s.dim ? colors.text : s.ink;
	pen.globalAlpha = s.dim ? 0.85 : 1;
	pen.fillText(s.text, s.x + 4, s.y + LEVEL_PX / 2);
	pen.globalAlpha = 1;
}

export function paint(pen: Pen, shapes: readonly Shape[], focus: Box | null, colors: Colors): void {
	pen.font = FONT;
	pen.textBaseline = "middle";
	pen.textAlign = "left";
	for (const s of shapes) {
		paintGround(pen, s);
		if (s.found) paintFrame(pen, s, colors.text, 1.5);
		paintText(pen, s, colors);
	}
	const marked = shapes.find((s) => s.box === focus);
	if (marked) paintFrame(pen, marked, colors.accent, 2.5);
}
