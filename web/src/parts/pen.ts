// SPDX-License-Identifier: MIT
// pen: the part of a canvas that pictures are drawn with, and an SVG document that can be drawn on the same way.
//
// A view draws once, on a Pen; whether that is the screen, a PNG or an SVG is not its matter. An SvgPen
// knows translate and scale along the axes (a state of four numbers), rectangular clips, and paths of straight lines
// and arcs: enough for charts. A fill that is not a colour (a canvas pattern) becomes its `fallback`.

export type Pen = Pick<
	CanvasRenderingContext2D,
	| "fillStyle"
	| "strokeStyle"
	| "lineWidth"
	| "font"
	| "textAlign"
	| "textBaseline"
	| "globalAlpha"
	| "fillRect"
	| "strokeRect"
	| "beginPath"
	| "moveTo"
	| "lineTo"
	| "closePath"
	| "rect"
	| "arc"
	| "fill"
	| "stroke"
	| "clip"
	| "save"
	| "restore"
	| "translate"
	| "scale"
	| "setLineDash"
	| "fillText"
	| "measureText"
> & {
	/** A picture that is there already; in an SVG it is a picture in the picture. */
	drawImage(image: HTMLCanvasElement, x: number, y: number, w: number, h: number): void;
};

type Paint = string | CanvasGradient | CanvasPattern;

interface State {
	fillStyle: Paint;
	strokeStyle: Paint;
	lineWidth: number;
	font: string;
	textAlign: CanvasTextAlign;
	textBaseline: CanvasTextBaseline;
	globalAlpha: number;
	dash: readonly number[];
	x: number;
	y: number;
	sx: number;
	sy: number;
	/** How many <g> of clips are open. */
	clips: number;
}

const ANCHORS: Record<CanvasTextAlign, string> = {
	left: "start",
	start: "start",
	center: "middle",
	right: "end",
	end: "end",
};
const BASELINES: Partial<Record<CanvasTextBaseline, string>> = {
	top: "text-before-edge",
	hanging: "hanging",
	middle: "central",
	bottom: "text-after-edge",
};
/* What XML cannot hold in any form, besides lone surrogates. */
const NO_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

export function escapeXml(text: string): string {
	return text
		.replace(NO_XML, "\ufffd")
		.replace(/&/g, "&amp;")
		.replace(/</g, "&lt;")
		.replace(/>/g, "&gt;")
		.replace(/"/g, "&quot;");
}

function short(n: number): string {
	return String(Math.round(n * 100) / 100);
}

export class SvgPen implements Pen {
	fillStyle: Paint = "#000";
	strokeStyle: Paint = "#000";
	lineWidth = 1;
	font = "10px sans-serif";
	textAlign: CanvasTextAlign = "start";
	textBaseline: CanvasTextBaseline = "alphabetic";
	globalAlpha = 1;

	private dash: readonly number[] = [];
	private x = 0;
	private y = 0;
	private sx = 1;
	private sy = 1;
	private clips = 0;
	private nextClip = 0;
	private path: string[] = [];
	private readonly kept: State[] = [];
	private readonly out: string[] = [];

	constructor(
		readonly width: number,
		readonly height: number,
		readonly fallback = "#888",
	) {}

	private at(x: number, y: number): string {
		return `${short(this.x + x * this.sx)} ${short(this.y + y * this.sy)}`;
	}

	private paint(p: Paint): string {
		return escapeXml(typeof p === "string" ? p : this.fallback);
	}

	private alpha(): string {
		return this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
	}

	private line(): string {
		const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map(short).join(" ")}"` : "";
		return ` stroke="${this.paint(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"${dash}`;
	}

	private box(x: number, y: number, w: number, h: number): string {
		const left = this.x + this.sx * Math.min(x, x + w);
		const top = this.y + this.sy * Math.min(y, y + h);
		return `x="${short(left)}" y="${short(top)}" width="${short(Math.abs(w) * this.sx)}" height="${short(Math.abs(h) * this.sy)}"`;
	}

	fillRect(x: number, y: number, w: number, h: number): void {
		this.out.push(`<rect ${this.box(x, y, w, h)} fill="${this.paint(this.fillStyle)}"${this.alpha()}/>`);
	}

	strokeRect(x: number, y: number, w: number, h: number): void {
		this.out.push(`<rect ${this.box(x, y, w, h)} fill="none"${this.line()}${this.alpha()}/>`);
	}

	beginPath(): void {
		this.path = [];
	}

	moveTo(x: number, y: number): void {
		this.path.push(`M${this.at(x, y)}`);
	}

	lineTo(x: number, y: number): void {
		this.path.push(`${this.path.length ? "L" : "M"}${this.at(x, y)}`);
	}

	closePath(): void {
		if (this.path.length) this.path.push("Z");
	}

	rect(x: number, y: number, w: number, h: number): void {
		this.path.push(`M${this.at(x, y)}L${this.at(x + w, y)}L${this.at(x + w, y + h)}L${this.at(x, y + h)}Z`);
	}

	arc(x: number, y: number, radius: number, start: number, end: number, backward = false): void {
		const point = (angle: number): string =>
			this.at(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
		const turn = Math.min(Math.abs(end - start), 2 * Math.PI);
		const sweep = backward ? 0 : 1;
		const step = (sweep ? 1 : -1) * (turn / 2);
		const size = `${short(radius * this.sx)} ${short(radius * this.sy)}`;
		this.path.push(`${this.path.length ? "L" : "M"}${point(start)}`);
		/* Two halves: an SVG arc whose ends are the same point is nothing. */
		this.path.push(
			`A${size} 0 0 ${sweep} ${point(start + step)}A${size} 0 0 ${sweep} ${point(start + 2 * step)}`,
		);
	}

	fill(): void {
		if (!this.path.length) return;
		this.out.push(`<path d="${this.path.join("")}" fill="${this.paint(this.fillStyle)}"${this.alpha()}/>`);
	}

	stroke(): void {
		if (!this.path.length) return;
		this.out.push(`<path d="${this.path.join("")}" fill="none"${this.line()}${this.alpha()}/>`);
	}

	/** What is drawn until the next restore is cut to the path. */
	clip(): void {
		const id = `c${this.nextClip++}`;
		this.out.push(
			`<clipPath id="${id}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#${id})">`,
		);
		this.clips++;
	}

	save(): void {
		const { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha } = this;
		const { dash, x, y, sx, sy, clips } = this;
		this.kept.push({
			...{ fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha },
			...{ dash, x, y, sx, sy, clips },
		});
	}

	restore(): void {
		const state = this.kept.pop();
		if (!state) return;
		for (; this.clips > state.clips; this.clips--) this.out.push("</g>");
		Object.assign(this, state);
	}

	translate(x: number, y: number): void {
		this.x += x * this.sx;
		this.y += y * this.sy;
	}

	scale(x: number, y: number): void {
		this.sx *= x;
		this.sy *= y;
	}

	setLineDash(dash: Iterable<number>): void {
		this.dash = [...dash];
	}

	fillText(text: string, x: number, y: number, maxWidth?: number): void {
		const [px, py] = this.at(x, y).split(" ");
		const size = /(?:^|\s)(?:(bold|\d00)\s+)?([\d.]+)px(?:\/\S+)?\s+(.+)$/.exec(this.font);
		const weight = size?.[1] ? ` font-weight="${size[1]}"` : "";
		const base = BASELINES[this.textBaseline];
		const wide = maxWidth !== undefined && this.measureText(text).width > maxWidth;
		this.out.push(
			`<text x="${px}" y="${py}" fill="${this.paint(this.fillStyle)}"${this.alpha()}` +
				` font-size="${size?.[2] ?? 10}" font-family="${escapeXml(size?.[3] ?? "sans-serif")}"${weight}` +
				` text-anchor="${ANCHORS[this.textAlign]}"${base ? ` dominant-baseline="${base}"` : ""}` +
				`${wide ? ` textLength="${short(maxWidth)}" lengthAdjust="spacingAndGlyphs"` : ""}` +
				` xml:space="preserve">${escapeXml(text)}</text>`,
		);
	}

	measureText(text: string): TextMetrics {
		return measure(text, this.font);
	}

	drawImage(image: HTMLCanvasElement, x: number, y: number, w: number, h: number): void {
		this.out.push(
			`<image ${this.box(x, y, w, h)} preserveAspectRatio="none" href="${escapeXml(image.toDataURL())}"/>`,
		);
	}

	document(): string {
		const open = "</g>".repeat(this.clips);
		const size = `width="${short(this.width)}" height="${short(this.height)}"`;
		return (
			`<?xml version="1.0" encoding="UTF-8"?>\n` +
			`<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${short(this.width)} ${short(this.height)}">\n` +
			`${this.out.join("\n")}${open}\n</svg>\n`
		);
	}
}

let ruler: CanvasRenderingContext2D | null = null;

/* The browser's own measure; without one (unit tests) half the size for each letter, which is about right. */
function measure(text: string, font: string): TextMetrics {
	ruler ??= globalThis.document?.createElement("canvas").getContext("2d") ?? null;
	if (ruler) {
		ruler.font = font;
		return ruler.measureText(text);
	}
	const px = Number(/([\d.]+)px/.exec(font)?.[1] ?? 10);
	return { width: (text.length * px) / 2 } as TextMetrics;
}
