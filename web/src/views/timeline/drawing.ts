// SPDX-License-Identifier: MIT
// drawing: what is on the screen, with the names of its rows, as a picture to take away. The rows are pixels, so in
// an SVG they are an image; all that is text stays text.
import type { Drawing } from "../../app/picture";
import type { Pen } from "../../parts/pen";
import { CALL_HEIGHT, type Row } from "./layout";
import { forRows } from "./picture";
import { noteOf, titleOf } from "./row_names";
import { MINIMAP_PX, RULER_PX, type Screen } from "./screen";
import type { Stage } from "./stage";

const NAMES_PX = 220;
const INDENT_PX = 8;
const FONT = 'system-ui, "Noto Sans JP", sans-serif';

function drawName(pen: Pen, stage: Stage, screen: Screen, row: Row, y: number): void {
	const p = screen.picture;
	const x = INDENT_PX * (row.inner ? 3 : 1);
	const middle = MINIMAP_PX + RULER_PX + y + (row.height - row.depth * CALL_HEIGHT) / 2;
	const title = titleOf(stage, row);
	pen.font = `${row.kind === "thread" ? "" : "bold "}11px ${FONT}`.trim();
	pen.fillStyle = p.text;
	pen.fillText(title, x, middle, NAMES_PX - x - INDENT_PX);
	const end = x + pen.measureText(title).width + 6;
	const note = noteOf(stage, row);
	pen.font = `11px ${FONT}`;
	pen.fillStyle = p.quiet;
	if (note && end + pen.measureText(note).width < NAMES_PX) pen.fillText(note, end, middle);
}

export function drawingOf(stage: Stage): Drawing {
	const screen = stage.shown;
	if (!screen) throw new Error("cannot draw the picture: nothing is on the screen yet");
	const p = screen.picture;
	return {
		width: NAMES_PX + screen.cssWidth,
		height: MINIMAP_PX + RULER_PX + p.height / p.ratio,
		ground: getComputedStyle(document.documentElement).getPropertyValue("--ground").trim(),
		draw: (pen) => {
			screen.copyTo(pen, NAMES_PX);
			pen.textBaseline = "middle";
			forRows(p, (row, y) => {
				if (row.pinned || y >= p.layout.pinnedHeight) drawName(pen, stage, screen, row, y);
			});
		},
	};
}
