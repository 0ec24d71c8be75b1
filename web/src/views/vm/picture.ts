// SPDX-License-Identifier: MIT
// picture: the rows and the ruler of a stage on their canvases, and all of it as a picture to take away.
//
// What is drawn is also written on the canvas as data-…: tests wait for a complete picture by it.
import type { Drawing } from "../../app/picture";
import { drawFrame, drawLane, drawLink, drawMark, drawRuler, FONT, type Surface } from "./draw";
import { culpritRows, type VcpuPiece } from "./lanes";
import { laneName, machineName } from "./names";
import type { Stage } from "./stage";
import { say } from "./words";

export const RULER_PX = 26;
const NAMES_PX = 150;

function surfaceOf(canvas: HTMLCanvasElement, stage: Stage, height: number): Surface | null {
	const pen = canvas.getContext("2d");
	if (!pen) return null;
	const ratio = globalThis.devicePixelRatio || 1;
	const [w, h] = [Math.round(stage.width * ratio), Math.max(1, Math.round(height * ratio))];
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
	}
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	const style = getComputedStyle(canvas);
	const of = (name: string): string => style.getPropertyValue(name).trim();
	const ground = of("--ground");
	pen.fillStyle = ground;
	pen.fillRect(0, 0, stage.width, height);
	pen.font = FONT;
	pen.textBaseline = "middle";
	return {
		pen,
		span: stage.now,
		width: stage.width,
		ground,
		text: of("--text"),
		quiet: of("--quiet"),
		line: of("--line"),
		accent: of("--accent"),
	};
}

/** The chosen piece, who took the CPU from it, and the way from one to the other. */
function drawChosen(s: Surface, stage: Stage): string {
	const { chosen } = stage;
	if (!chosen) return "";
	const { rows } = stage.layout.value;
	const own = rows.find((r) => r.lane?.id === chosen.lane.id);
	if (!own) return "";
	drawFrame(s, chosen.piece, own.top, own.height, 2.5);
	const piece = chosen.lane.kind === "vcpu" ? (chosen.piece as VcpuPiece) : null;
	if (!piece || piece.merged || (piece.cls !== "steal" && piece.cls !== "waiting")) return "";
	const ids = culpritRows(piece);
	for (const row of rows) {
		if (!row.lane || !ids.includes(row.lane.id)) continue;
		drawFrame(s, piece, row.top, row.height, 2);
		const [upper, lower] = own.top < row.top ? [own, row] : [row, own];
		drawLink(s, (piece.from + piece.to) / 2, upper.top + upper.height - 2, lower.top + 2);
	}
	return ids.join();
}

export function drawRows(canvas: HTMLCanvasElement, stage: Stage): void {
	const { rows, height } = stage.layout.value;
	const s = surfaceOf(canvas, stage, height);
	if (!s) return;
	let pieces = 0;
	for (const row of rows) {
		s.pen.fillStyle = s.line;
		s.pen.fillRect(0, row.top + row.height - 0.5, s.width, 0.5);
		if (!row.lane) continue;
		for (const { lane, clip } of stage.lanesFor(row.lane.id))
			pieces += drawLane(s, lane, clip, row.top, row.height);
	}
	if (stage.state.mark) drawMark(s, stage.state.mark, height);
	const culprits = drawChosen(s, stage);
	const { dataset } = canvas;
	dataset["from"] = String(s.span.from);
	dataset["to"] = String(s.span.to);
	dataset["pieces"] = String(pieces);
	dataset["culprits"] = culprits;
	dataset["pending"] = String(stage.pending.value);
}

export function drawTop(canvas: HTMLCanvasElement, stage: Stage): void {
	const s = surfaceOf(canvas, stage, RULER_PX);
	if (!s) return;
	if (stage.state.mark) drawMark(s, stage.state.mark, RULER_PX);
	drawRuler(s, stage.bounds.from, RULER_PX);
}

/** The picture to take away: names as text, what is dense as an image. */
export function drawingOf(stage: Stage, ruler: HTMLCanvasElement, rows: HTMLCanvasElement): Drawing {
	const { layout } = stage;
	const style = getComputedStyle(rows);
	return {
		width: NAMES_PX + stage.width,
		height: RULER_PX + layout.value.height,
		ground: style.getPropertyValue("--ground").trim(),
		draw: (pen) => {
			pen.drawImage(ruler, NAMES_PX, 0, stage.width, RULER_PX);
			pen.drawImage(rows, NAMES_PX, RULER_PX, stage.width, layout.value.height);
			pen.textBaseline = "middle";
			pen.fillStyle = style.getPropertyValue("--text").trim();
			for (const row of layout.value.rows) {
				pen.font = row.lane ? FONT : `bold ${FONT}`;
				const name = row.lane
					? laneName(row.lane)
					: row.vm === null
						? say("physical")
						: machineName(row.vm, row.name);
				pen.fillText(name, row.lane ? 16 : 6, RULER_PX + row.top + row.height / 2, NAMES_PX - 20);
			}
		},
	};
}
