// SPDX-License-Identifier: MIT
// board: rows of virtual and physical CPUs over time, with their names beside them and the ruler above.
//
// What is drawn is also written on the canvas as data-…: tests wait for a complete picture by it.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { setParams } from "../../app/address";
import { useKeys, type Key } from "../../app/keys";
import { nameKey } from "../../app/keys";
import { pictureOf, usePicture, type Drawing } from "../../app/picture";
import { dark } from "../../app/theme";
import type { Held } from "../../parts/motion";
import { PlotInput } from "../../parts/plot_input";
import { aroundSpan, formatSpan, lengthOf, panSpan, type Span } from "../../parts/scale";
import { useSize } from "../../parts/size";
import { Tip } from "../../parts/tip";
import { drawFrame, drawLane, drawLink, drawMark, drawRuler, FONT, type Surface } from "./draw";
import { describe, Facts } from "./facts";
import { culpritRows, type VcpuPiece } from "./lanes";
import { rowAt, type Row } from "./layout";
import { colorOfMachine } from "./looks";
import { laneName, machineName } from "./names";
import type { Stage } from "./stage";
import { change, choose, type Chosen } from "./state";
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

function drawRows(canvas: HTMLCanvasElement, stage: Stage): void {
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

function drawTop(canvas: HTMLCanvasElement, stage: Stage): void {
	const s = surfaceOf(canvas, stage, RULER_PX);
	if (!s) return;
	if (stage.state.mark) drawMark(s, stage.state.mark, RULER_PX);
	drawRuler(s, stage.bounds.from, RULER_PX);
}

function markTo(span: Span | null, isDone: boolean): void {
	setParams({ mark: span && formatSpan(span) }, isDone);
}

/** What keys do; `spoken` says aloud what they led to. */
class Actions {
	readonly spoken = signal("");
	readonly keys: readonly Key[];

	constructor(private readonly stage: Stage) {
		const hold = (key: string, what: () => string, field: keyof Held): Key => ({
			keys: [key],
			what,
			run: () => this.hold(field, true),
			release: () => this.hold(field, false),
		});
		const press = (keys: readonly string[], what: () => string, run: () => void): Key => ({
			keys,
			what,
			run,
		});
		this.keys = [
			hold("w", () => say("keyZoom"), "closer"),
			hold("s", () => say("keyZoom"), "wider"),
			hold("a", () => say("keyPan"), "left"),
			hold("d", () => say("keyPan"), "right"),
			press(
				["f"],
				() => say("keyFit"),
				() => this.fit(),
			),
			press(
				["0", "home"],
				() => say("keyAll"),
				() => this.stage.setSpan(this.stage.bounds),
			),
			press(
				["arrowright"],
				() => say("keyNext"),
				() => this.step(1),
			),
			press(
				["arrowleft"],
				() => say("keyNext"),
				() => this.step(-1),
			),
			press(
				["arrowdown"],
				() => say("keyRow"),
				() => this.stepRow(1),
			),
			press(
				["arrowup"],
				() => say("keyRow"),
				() => this.stepRow(-1),
			),
			press(
				["m"],
				() => say("keyMark"),
				() => this.mark(),
			),
			press(
				["l"],
				() => say("keyFollow"),
				() => change({ follow: !this.stage.state.follow }),
			),
			press(
				["escape"],
				() => say("keyClear"),
				() => setParams({ sel: null, mark: null }, true),
			),
		];
	}

	private hold(field: keyof Held, isDown: boolean): void {
		this.stage.held[field] = isDown;
		if (isDown && this.stage.state.follow) change({ follow: false }, false);
		this.stage.redraw();
	}

	choose(chosen: Chosen | null, remember = false): void {
		choose(this.stage.run, chosen, remember);
		const lane = chosen && this.stage.laneOf(chosen.lane);
		const piece = lane && this.stage.pieceOf(lane.id, chosen.ns);
		if (piece) this.spoken.value = describe(lane, piece, this.stage.bounds.from);
	}

	private fit(): void {
		const { stage } = this;
		const span = stage.chosen?.piece ?? stage.state.mark;
		stage.setSpan(span ? aroundSpan(span, 0.25, stage.bounds) : stage.bounds);
	}

	private mark(): void {
		const { chosen } = this.stage;
		if (chosen) markTo(chosen.piece, true);
	}

	private step(direction: 1 | -1): void {
		const { stage } = this;
		const { chosen } = stage;
		if (!chosen) return this.stepRow(1);
		const ns = direction > 0 ? chosen.piece.to : chosen.piece.from - 1;
		if (ns < stage.bounds.from || ns >= stage.bounds.to) return undefined;
		if (ns < stage.now.from || ns > stage.now.to)
			stage.setSpan(panSpan(stage.now, ns - (stage.now.from + stage.now.to) / 2, stage.bounds));
		return this.choose({ lane: chosen.lane.id, ns });
	}

	private stepRow(direction: 1 | -1): void {
		const { stage } = this;
		const lanes = stage.layout.value.rows.flatMap((r) => (r.lane ? [r.lane] : []));
		const { chosen } = stage.state;
		const at = chosen ? lanes.findIndex((l) => l.id === chosen.lane) : direction > 0 ? -1 : lanes.length;
		const lane = lanes[at + direction];
		const middle = stage.now.from + lengthOf(stage.now) / 2;
		if (lane) this.choose({ lane: lane.id, ns: chosen ? chosen.ns : middle });
	}
}

function RowName({ row }: { row: Row }) {
	const place = (e: HTMLElement | null): void => {
		e?.style.setProperty("top", `${row.top}px`);
		e?.style.setProperty("height", `${row.height}px`);
	};
	if (row.lane)
		return (
			<div class="row-name" ref={place} data-lane={row.lane.id}>
				{laneName(row.lane)}
				{row.lane.kind === "vcpu" && row.lane.ended && <small> {say("ended")}</small>}
			</div>
		);
	const { vm } = row;
	return (
		<div class="row-name caption" ref={place}>
			{vm !== null && (
				<i
					class="machine-color"
					aria-hidden="true"
					ref={(e) => e?.style.setProperty("background", colorOfMachine(vm))}
				/>
			)}
			<bdi>{vm === null ? say("physical") : machineName(vm, row.name)}</bdi>
		</div>
	);
}

/** The picture to take away: names as text, what is dense as an image. */
function drawingOf(stage: Stage, ruler: HTMLCanvasElement, rows: HTMLCanvasElement): Drawing {
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

function Pointed({ stage }: { stage: Stage }) {
	const hover = stage.hover.value;
	const box = useRef<HTMLElement | null>(null);
	box.current ??= document.querySelector(".vm-rows");
	if (!hover?.lane || !hover.piece) return null;
	const at = box.current?.getBoundingClientRect();
	return (
		<Tip x={hover.x + (at?.left ?? 0)} y={hover.y + (at?.top ?? 0)}>
			<Facts lane={hover.lane} piece={hover.piece} zero={stage.bounds.from} />
		</Tip>
	);
}

function useDrawing(
	stage: Stage,
	rows: { current: HTMLCanvasElement | null },
	ruler: { current: HTMLCanvasElement | null },
): void {
	useLayoutEffect(() => {
		stage.draw = () => {
			if (rows.current) drawRows(rows.current, stage);
			if (ruler.current) drawTop(ruler.current, stage);
		};
		stage.redraw();
		return () => {
			stage.draw = () => undefined;
		};
	}, [stage]);
	usePicture(
		useMemo(
			() =>
				pictureOf(
					() => {
						if (!ruler.current || !rows.current)
							throw new Error("cannot draw the picture: nothing is on the screen yet");
						return drawingOf(stage, ruler.current, rows.current);
					},
					() => "machines",
				),
			[stage],
		),
	);
}

export function Board({ stage }: { stage: Stage }) {
	const rows = useRef<HTMLCanvasElement>(null);
	const ruler = useRef<HTMLCanvasElement>(null);
	const plot = useRef<HTMLDivElement>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const size = useSize(plot);
	const layout = stage.layout.value;
	const actions = useMemo(() => new Actions(stage), [stage]);
	useKeys(actions.keys);
	useDrawing(stage, rows, ruler);
	useLayoutEffect(() => {
		stage.width = Math.max(1, size.width);
		stage.redraw();
	}, [stage, size.width, layout.height, dark.value]);
	useEffect(() => {
		const input = new PlotInput(stage, {
			click: (x, y) => {
				const lane = rowAt(stage.layout.value, y)?.lane;
				const ns = stage.now.from + (x / stage.width) * lengthOf(stage.now);
				actions.choose(lane ? { lane: lane.id, ns } : null, true);
			},
			mark: markTo,
			scrollBy: (px) => scroller.current?.scrollBy(0, px),
			grab: () => stage.state.follow && change({ follow: false }, false),
		});
		if (ruler.current) input.listen(ruler.current, true);
		if (rows.current) input.listen(rows.current, false);
		return () => input.close();
	}, [stage]);
	/* Where the rows have the focus their keys come first: a flame graph below has some of the same. */
	const press = (e: KeyboardEvent): void => {
		const key = actions.keys.find((k) => !k.release && k.keys.includes(nameKey(e)));
		if (!key) return;
		e.preventDefault();
		e.stopPropagation();
		key.run(e);
	};
	const setHeight = (e: HTMLElement | null): void => e?.style.setProperty("height", `${layout.height}px`);
	return (
		<div class="vm-board">
			<div class="vm-ruler">
				<canvas ref={ruler} role="img" aria-label={say("ruler")} />
			</div>
			<div class="vm-scroller" ref={scroller}>
				<div class="vm-names" ref={setHeight}>
					{layout.rows.map((row) => (
						<RowName key={row.lane?.id ?? `vm${row.vm}`} row={row} />
					))}
				</div>
				<div class="vm-plot" ref={plot}>
					<canvas
						class="vm-rows"
						tabIndex={0}
						role="application"
						aria-label={say("rowsLabel")}
						data-pending="1"
						onKeyDown={press}
						ref={(e) => {
							rows.current = e;
							setHeight(e);
						}}
					/>
				</div>
			</div>
			<Pointed stage={stage} />
			<p class="spoken" role="status">
				{actions.spoken.value}
			</p>
		</div>
	);
}
