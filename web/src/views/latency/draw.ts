// SPDX-License-Identifier: MIT
// draw: the histogram, on any pen. What belongs to the chosen task is darker and hatched besides being coloured.
import type { Bucket, Waits } from "../../api/latency";
import { formatCount, formatLength } from "../../parts/format";
import type { Pen } from "../../parts/pen";
import {
	axisOf,
	barsOf,
	countTicks,
	marksOf,
	timeTicks,
	xOf,
	yOf,
	type Axis,
	type Bar,
	type Mark,
} from "./histogram";

export interface Colours {
	readonly ground: string;
	readonly text: string;
	readonly quiet: string;
	readonly line: string;
	readonly bar: string;
	readonly chosen: string;
}

export interface Chart {
	readonly width: number;
	readonly height: number;
	readonly title: string;
	/** What the bars are of. */
	readonly all: Waits;
	/** A task of them, drawn over. */
	readonly chosen: Waits | null;
	readonly logarithmic: boolean;
	readonly colours: Colours;
	readonly hover: Bucket | null;
}

const FONT = "12px system-ui, sans-serif";
const LEFT = 56;
const RIGHT = 16;
const BOTTOM = 24;
const LABEL_PX = 16;
const TITLE_PX = 20;

/** As high as the rows of labels leave; the places of those depend on the width alone. */
function layOut(c: Chart, measure: (text: string) => number): { a: Axis; marks: readonly Mark[] } {
	const box = { x: LEFT, y: 0, width: c.width - LEFT - RIGHT, height: 0 };
	const a = axisOf(c.all.histogram ?? [], c.all.max_ns, c.logarithmic, box);
	const marks = marksOf(a, c.chosen ?? c.all, c.width, measure);
	const top = TITLE_PX + LABEL_PX * (1 + Math.max(0, ...marks.map((m) => m.row)));
	return { a: { ...a, box: { ...box, y: top, height: Math.max(20, c.height - top - BOTTOM) } }, marks };
}

/** For what is asked about places along the time. */
export function chartAxis(c: Chart): Axis {
	return layOut(c, () => 0).a;
}

function drawGrid(pen: Pen, c: Chart, a: Axis): void {
	const bottom = a.box.y + a.box.height;
	pen.lineWidth = 1;
	pen.strokeStyle = c.colours.line;
	pen.fillStyle = c.colours.quiet;
	pen.textBaseline = "middle";
	pen.textAlign = "right";
	for (const n of countTicks(a)) {
		const y = Math.round(yOf(a, n)) + 0.5;
		pen.beginPath();
		pen.moveTo(a.box.x, y);
		pen.lineTo(a.box.x + a.box.width, y);
		pen.stroke();
		pen.fillText(formatCount(n), a.box.x - 6, y);
	}
	pen.textAlign = "center";
	pen.textBaseline = "top";
	for (const ns of timeTicks(a)) {
		const x = Math.round(xOf(a, ns)) + 0.5;
		pen.beginPath();
		pen.moveTo(x, bottom);
		pen.lineTo(x, bottom + 4);
		pen.stroke();
		pen.fillText(formatLength(ns).replace(/\.0+ /, " "), x, bottom + 7);
	}
}

function hatch(pen: Pen, bar: Bar, colour: string): void {
	pen.save();
	pen.beginPath();
	pen.rect(bar.x, bar.y, bar.width, bar.height);
	pen.clip();
	pen.beginPath();
	for (let d = -bar.height; d < bar.width; d += 6) {
		pen.moveTo(bar.x + d, bar.y + bar.height);
		pen.lineTo(bar.x + d + bar.height, bar.y);
	}
	pen.strokeStyle = colour;
	pen.lineWidth = 1;
	pen.stroke();
	pen.restore();
}

function drawBars(pen: Pen, c: Chart, a: Axis): void {
	for (const bar of barsOf(a, c.all.histogram ?? [])) {
		pen.fillStyle = c.colours.bar;
		pen.fillRect(bar.x, bar.y, bar.width, bar.height);
		if (c.hover?.from_ns !== bar.bucket.from_ns) continue;
		pen.strokeStyle = c.colours.text;
		pen.lineWidth = 1.5;
		pen.strokeRect(bar.x, bar.y, bar.width, bar.height);
	}
	for (const bar of barsOf(a, c.chosen?.histogram ?? [])) {
		pen.fillStyle = c.colours.chosen;
		pen.fillRect(bar.x, bar.y, bar.width, bar.height);
		hatch(pen, bar, c.colours.ground);
	}
}

function drawMarks(pen: Pen, c: Chart, a: Axis, marks: readonly Mark[]): void {
	pen.textAlign = "left";
	pen.textBaseline = "middle";
	for (const m of marks) {
		const x = Math.round(m.x) + 0.5;
		const y = TITLE_PX + m.row * LABEL_PX + LABEL_PX / 2;
		pen.strokeStyle = c.colours.text;
		pen.lineWidth = 1;
		pen.setLineDash([4, 3]);
		pen.beginPath();
		pen.moveTo(x, y - 6);
		pen.lineTo(x, a.box.y + a.box.height);
		pen.stroke();
		pen.setLineDash([]);
		pen.fillStyle = c.colours.ground;
		pen.fillRect(m.left - 1, y - 7, pen.measureText(m.text).width + 2, 14);
		pen.fillStyle = c.colours.text;
		pen.fillText(m.text, m.left, y);
	}
}

export function drawChart(pen: Pen, c: Chart): void {
	pen.font = FONT;
	const { a, marks } = layOut(c, (text) => pen.measureText(text).width);
	drawGrid(pen, c, a);
	drawBars(pen, c, a);
	drawMarks(pen, c, a, marks);
	pen.textAlign = "left";
	pen.textBaseline = "middle";
	pen.fillStyle = c.colours.quiet;
	pen.fillText(c.title, 8, TITLE_PX / 2);
}
