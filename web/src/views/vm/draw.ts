// SPDX-License-Identifier: MIT
// draw: rows of pieces on a canvas. A piece stands as high as its class does; merged ones are a stack of the shares that
// each class has, so that from far away a row shows how much of its time was spent in the guest, and how much was taken.
import { CLASSES, type Class } from "../../api/vm";
import { dark } from "../../app/theme";
import { fitText } from "../../flame/shapes";
import { formatOffset } from "../../parts/format";
import { inkOn } from "../../parts/ink";
import { colorOfName, type Pattern } from "../../parts/palette";
import { isInked, PAPER, SIDE } from "../../parts/pattern";
import { stepOf, ticksOf } from "../../parts/ruler";
import { toX, type Span } from "../../parts/scale";
import { plain } from "../../parts/text";
import { firstBehind, KINDS, type CpuPiece, type Kind, type Lane, type VcpuPiece } from "./lanes";
import { colorOfClass, colorOfMachine, LOOKS } from "./looks";
import { labelOf } from "./names";

const PAD_PX = 3;
const LABEL_PX = 26;
const MARK_PX = 110;
export const FONT = '11px system-ui, "Noto Sans JP", sans-serif';
const ticks = new Float64Array(256);

/** From the ground up; what is not here is idle, and leaves the place empty. */
const STACK: readonly Class[] = [
	"guest",
	"vmm-kernel",
	"vmm-user",
	"halt-polling",
	"waiting",
	"steal",
	"unknown",
];

export interface Surface {
	readonly pen: CanvasRenderingContext2D;
	readonly span: Span;
	readonly width: number;
	readonly ground: string;
	readonly text: string;
	readonly quiet: string;
	readonly line: string;
	readonly accent: string;
}

const patterns = new Map<string, CanvasPattern | string>();

/** A colour with its pattern; lines and what is solid need none. */
function fillOf(
	pen: CanvasRenderingContext2D,
	color: string,
	pattern: Pattern,
	ground: string,
): CanvasPattern | string {
	if (pattern === "solid" || pattern === "line") return color;
	const key = `${color} ${pattern} ${ground}`;
	let fill = patterns.get(key);
	if (fill === undefined) {
		const tile = document.createElement("canvas");
		tile.width = tile.height = SIDE;
		const t = tile.getContext("2d");
		if (t) {
			t.fillStyle = ground;
			t.fillRect(0, 0, SIDE, SIDE);
			t.fillStyle = color;
			t.globalAlpha = PAPER;
			t.fillRect(0, 0, SIDE, SIDE);
			t.globalAlpha = 1;
			for (let y = 0; y < SIDE; y++)
				for (let x = 0; x < SIDE; x++) if (isInked(pattern, x, y)) t.fillRect(x, y, 1, 1);
		}
		fill = pen.createPattern(tile, "repeat") ?? color;
		patterns.set(key, fill);
	}
	return fill;
}

interface Box {
	readonly x0: number;
	readonly x1: number;
	readonly top: number;
	readonly height: number;
}

function fill(s: Surface, b: Box, share: number, from: number, style: CanvasPattern | string): void {
	const height = Math.max(share > 0 ? 1 : 0, share * b.height);
	s.pen.fillStyle = style;
	s.pen.fillRect(b.x0, b.top + b.height - from * b.height - height, Math.max(b.x1 - b.x0, 0.5), height);
}

export function classFill(pen: CanvasRenderingContext2D, cls: Class, ground: string): CanvasPattern | string {
	return fillOf(pen, colorOfClass(cls), LOOKS[cls].pattern, ground);
}

/** The color of what ran in a guest: of its process. */
export function colorOfPlace(piece: VcpuPiece): string {
	return piece.place ? colorOfName(piece.place.process) : colorOfClass("guest");
}

function drawVcpu(s: Surface, b: Box, piece: VcpuPiece): void {
	if (piece.merged) {
		const whole = piece.to - piece.from || 1;
		let from = 0;
		for (const cls of STACK) {
			const share = (piece.merged[CLASSES.indexOf(cls)] ?? 0) / whole;
			if (share <= 0) continue;
			fill(s, b, share, from, classFill(s.pen, cls, s.ground));
			from += share;
		}
		return;
	}
	const style = piece.cls === "guest" ? colorOfPlace(piece) : classFill(s.pen, piece.cls, s.ground);
	fill(s, b, LOOKS[piece.cls].height, 0, style);
}

const KIND_CLASS: Readonly<Record<Exclude<Kind, "vcpu">, Class>> = {
	unknown: "unknown",
	idle: "halt",
	other: "waiting",
};

/** Virtual CPUs of which nobody can tell any more whose they were. */
const SEVERAL = { light: "#aebdca", dark: "#56626e" } as const;

/** Of a task of the host: a virtual CPU has its machine's color. */
export function colorOfTask(piece: CpuPiece): string {
	if (!piece.task) return colorOfClass("unknown");
	return piece.task.vcpu === null ? colorOfName(piece.task.comm) : colorOfMachine(piece.task.pid);
}

function drawCpu(s: Surface, b: Box, piece: CpuPiece): void {
	if (piece.merged) {
		const whole = piece.to - piece.from || 1;
		let from = 0;
		for (const kind of ["vcpu", "other", "unknown"] as const) {
			const share = (piece.merged[KINDS.indexOf(kind)] ?? 0) / whole;
			const several = dark.value ? SEVERAL.dark : SEVERAL.light;
			fill(s, b, share, from, kind === "vcpu" ? several : colorOfClass(KIND_CLASS[kind]));
			from += share;
		}
		return;
	}
	if (piece.kind === "idle" || piece.kind === "unknown") {
		const cls = KIND_CLASS[piece.kind];
		fill(s, b, LOOKS[cls].height, 0, classFill(s.pen, cls, s.ground));
	} else fill(s, b, 1, 0, colorOfTask(piece));
}

/** On paper that it can be read on: what is under it may have lines. */
function drawLabel(s: Surface, b: Box, lane: Lane, piece: VcpuPiece | CpuPiece): void {
	const room = b.x1 - b.x0 - 2 * PAD_PX;
	if (room < LABEL_PX || piece.merged) return;
	const text = fitText(plain(labelOf(piece)), room, (t) => s.pen.measureText(t).width);
	if (!text) return;
	const solid =
		lane.kind === "cpu"
			? colorOfTask(piece as CpuPiece)
			: (piece as VcpuPiece).cls === "guest"
				? colorOfPlace(piece as VcpuPiece)
				: null;
	const width = s.pen.measureText(text).width;
	const middle = b.top + b.height / 2;
	if (solid === null) {
		s.pen.globalAlpha = 0.82;
		s.pen.fillStyle = s.ground;
		s.pen.fillRect(b.x0 + 1, middle - 8, width + 2 * PAD_PX, 16);
		s.pen.globalAlpha = 1;
	}
	s.pen.fillStyle = solid === null ? s.text : inkOn(solid);
	s.pen.fillText(text, b.x0 + PAD_PX, middle);
}

/** The pieces of a row between two moments; gives how many were drawn. */
export function drawLane(s: Surface, lane: Lane, clip: Span, top: number, height: number): number {
	const from = Math.max(clip.from, s.span.from);
	const to = Math.min(clip.to, s.span.to);
	const pieces: readonly (VcpuPiece | CpuPiece)[] = lane.pieces;
	let n = 0;
	for (let i = firstBehind(pieces, from); i < pieces.length; i++) {
		const piece = pieces[i];
		if (!piece || piece.from >= to) break;
		const x0 = toX(s.span, s.width, Math.max(piece.from, from));
		const x1 = toX(s.span, s.width, Math.min(piece.to, to));
		const box = { x0, x1, top: top + PAD_PX, height: height - 2 * PAD_PX };
		if (lane.kind === "vcpu") drawVcpu(s, box, piece as VcpuPiece);
		else drawCpu(s, box, piece as CpuPiece);
		if (x1 - x0 > 3 && piece.from > from) {
			s.pen.fillStyle = s.ground;
			s.pen.fillRect(x0, box.top, 0.6, box.height);
		}
		drawLabel(s, box, lane, piece);
		n++;
	}
	return n;
}

export function drawFrame(s: Surface, span: Span, top: number, height: number, lineWidth: number): void {
	const x0 = toX(s.span, s.width, span.from);
	const x1 = toX(s.span, s.width, span.to);
	s.pen.strokeStyle = s.accent;
	s.pen.lineWidth = lineWidth;
	s.pen.strokeRect(x0, top + 1.5, Math.max(2, x1 - x0), height - 3);
}

/** From what was taken down to who took it. */
export function drawLink(s: Surface, ns: number, fromY: number, toY: number): void {
	const x = toX(s.span, s.width, ns);
	s.pen.strokeStyle = s.accent;
	s.pen.lineWidth = 1.5;
	s.pen.setLineDash([4, 3]);
	s.pen.beginPath();
	s.pen.moveTo(x, fromY);
	s.pen.lineTo(x, toY);
	s.pen.stroke();
	s.pen.setLineDash([]);
}

export function drawMark(s: Surface, mark: Span, height: number): void {
	const x0 = toX(s.span, s.width, mark.from);
	const x1 = toX(s.span, s.width, mark.to);
	s.pen.fillStyle = s.accent;
	s.pen.globalAlpha = 0.14;
	s.pen.fillRect(x0, 0, Math.max(1, x1 - x0), height);
	s.pen.globalAlpha = 1;
	s.pen.fillRect(x0 - 0.5, 0, 1, height);
	s.pen.fillRect(x1 - 0.5, 0, 1, height);
}

export function drawRuler(s: Surface, zero: number, height: number): void {
	const step = stepOf(s.span, s.width, MARK_PX);
	const n = ticksOf(s.span, step, zero, ticks);
	s.pen.font = FONT;
	s.pen.textBaseline = "middle";
	for (let i = 0; i < n; i++) {
		const at = ticks[i] ?? 0;
		const x = Math.round(toX(s.span, s.width, at));
		s.pen.fillStyle = s.quiet;
		s.pen.fillRect(x, 2, 1, height);
		s.pen.fillStyle = s.text;
		s.pen.fillText(formatOffset(at - zero, step), x + 4, height / 2);
	}
}
