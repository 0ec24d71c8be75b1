// SPDX-License-Identifier: MIT
// screen: the three canvases of the timeline and one picture for all of them. Sizes are told, never read, so that no
// frame makes the browser lay the page out. What is drawn is also written on the canvas as data-…: tests wait for
// a complete picture by it, and nothing else needs it.
import { dark } from "../../app/theme";
import { clockOf } from "../../api/timeline";
import type { Pen } from "../../parts/pen";
import { drawArrows, drawChain } from "./draw_arrows";
import { drawLosses } from "./draw_losses";
import { drawMarks } from "./draw_marks";
import { drawMinimap } from "./draw_minimap";
import { RowsPainter } from "./draw_rows";
import { drawRuler } from "./draw_ruler";
import { parseColour } from "./names";
import { makeInks } from "./patterns";
import type { Cover, Picture } from "./picture";
import type { Stage } from "./stage";
import { say } from "./words";

export interface Canvases {
	readonly minimap: HTMLCanvasElement;
	readonly ruler: HTMLCanvasElement;
	readonly rows: HTMLCanvasElement;
}

export const MINIMAP_PX = 40;
export const RULER_PX = 34;

function contextOf(canvas: HTMLCanvasElement, alpha: boolean): CanvasRenderingContext2D {
	const context = canvas.getContext("2d", { alpha, willReadFrequently: true });
	if (!context) throw new Error("this browser has no canvas");
	return context;
}

export class Screen {
	readonly picture: Picture;
	cssWidth = 1;
	private readonly minimap: CanvasRenderingContext2D;
	private readonly ruler: CanvasRenderingContext2D;
	private readonly rows: CanvasRenderingContext2D;
	private readonly painter: RowsPainter;
	private isDark: boolean | null = null;
	private said = "";

	constructor(private readonly canvases: Canvases) {
		this.minimap = contextOf(canvases.minimap, false);
		this.ruler = contextOf(canvases.ruler, true);
		this.rows = contextOf(canvases.rows, false);
		this.painter = new RowsPainter(this.rows);
		this.picture = {
			span: { from: 0, to: 1 },
			width: 1,
			height: 1,
			ratio: 1,
			scrollTop: 0,
			layout: { pinned: [], pinnedHeight: 0, rows: [], height: 0, byId: new Map() },
			sources: [],
			covers: [],
			inks: makeInks("#ffffff"),
			raised: 0,
			line: 0,
			text: "",
			quiet: "",
			accent: "",
			font: "",
		};
	}

	resize(width: number, height: number, ratio: number): void {
		const p = this.picture;
		this.cssWidth = width;
		p.ratio = ratio;
		p.width = Math.max(1, Math.round(width * ratio));
		p.height = Math.max(1, Math.round(height * ratio));
		const size = (canvas: HTMLCanvasElement, cssHeight: number): void => {
			canvas.width = p.width;
			canvas.height = Math.max(1, Math.round(cssHeight * ratio));
			canvas.style.setProperty("width", `${width}px`);
			canvas.style.setProperty("height", `${cssHeight}px`);
		};
		size(this.canvases.minimap, MINIMAP_PX);
		size(this.canvases.ruler, RULER_PX);
		size(this.canvases.rows, height);
		p.font = `${Math.round(11 * ratio)}px system-ui, "Noto Sans JP", sans-serif`;
	}

	/** Colours of the style sheet, when the theme has changed. */
	private takeColours(): void {
		if (this.isDark === dark.value) return;
		this.isDark = dark.value;
		const style = getComputedStyle(document.documentElement);
		const get = (name: string): string => style.getPropertyValue(name).trim();
		const p = this.picture;
		p.inks = makeInks(get("--ground"));
		p.raised = parseColour(get("--raised"));
		p.line = parseColour(get("--line"));
		p.text = get("--text");
		p.quiet = get("--quiet");
		p.accent = get("--accent");
	}

	/** Gives the number of losses in sight. */
	draw(stage: Stage, covers: readonly Cover[]): number {
		this.takeColours();
		const p = this.picture;
		p.span = stage.now;
		p.layout = stage.layout.value;
		p.scrollTop = stage.scrollTop.value;
		p.sources = stage.sources;
		p.covers = covers;
		this.painter.draw(p);
		this.rows.font = p.font;
		this.rows.textBaseline = "middle";
		const losses = drawLosses(this.rows, p, (n, uncounted) =>
			n > 0 ? say(uncounted ? "lostAtLeast" : "lostEvents", { n }) : say("lostUncounted"),
		);
		const slice = stage.slice.value;
		const row = slice && p.layout.byId.get(slice.rowId);
		const chosen = row && slice.pid > 0 ? { source: row.source, pid: slice.pid, slice } : null;
		drawArrows(this.rows, p, stage.place.arrows, chosen);
		if (stage.chain) drawChain(this.rows, p, stage.chain.source, stage.chain.steps);
		const cursor = stage.hover.value?.ns ?? null;
		drawMarks(this.rows, p, { mark: stage.place.mark, slice, cursor });
		this.drawTop(stage, cursor);
		this.tell(stage, losses);
		return losses;
	}

	/** All three canvases, one below the other, as they are now. */
	copyTo(pen: Pen, x: number): void {
		const { minimap, ruler, rows } = this.canvases;
		let y = 0;
		for (const canvas of [minimap, ruler, rows]) {
			const height = canvas.height / this.picture.ratio;
			pen.drawImage(canvas, x, y, this.cssWidth, height);
			y += height;
		}
	}

	private drawTop(stage: Stage, cursor: number | null): void {
		const p = this.picture;
		const first = stage.sources[0];
		const clock = first && clockOf(first.run);
		drawRuler(p, {
			context: this.ruler,
			height: Math.round(RULER_PX * p.ratio),
			zero: first ? first.start + first.shift : 0,
			realOffset: clock ? clock.real_offset_ns : null,
			mark: stage.place.mark,
			cursor,
		});
		drawMinimap(p, {
			context: this.minimap,
			height: Math.round(MINIMAP_PX * p.ratio),
			bounds: stage.bounds,
			mark: stage.place.mark,
		});
	}

	private tell(stage: Stage, losses: number): void {
		const p = this.picture;
		const { dataset } = this.canvases.rows;
		const kinds = p.covers.map((c) => (c.details.length ? (c.isWhole ? "detail" : "both") : "overview"));
		const said = `${p.span.from} ${p.span.to} ${p.layout.rows.length} ${stage.pending} ${losses} ${kinds.join()}`;
		if (said === this.said) return;
		this.said = said;
		dataset["from"] = String(p.span.from);
		dataset["to"] = String(p.span.to);
		dataset["rows"] = String(p.layout.rows.length + p.layout.pinned.length);
		dataset["pending"] = String(stage.isReady.value ? stage.pending : stage.pending + 1);
		dataset["losses"] = String(losses);
		dataset["kinds"] = kinds.join();
	}
}
