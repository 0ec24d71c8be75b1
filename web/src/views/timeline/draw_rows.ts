// SPDX-License-Identifier: MIT
// draw_rows: all rows in sight: first the overview where details are missing, then the details over it, then what is
// written on slices. Its memory is made when the canvas changes its size and used by every frame.
import { feedCpu, feedLane, feedShares, feedTask, Labels, type Feed, type Shares, type Window } from "./feed";
import { RUNNING, type Detail } from "./decode";
import type { Row } from "./layout";
import { CALL_HEIGHT } from "./layout";
import { indexCalls } from "./lanes";
import { nameColours, nameText } from "./names";
import type { Overview } from "./overview";
import { paintBox, paintColumns, type Paper } from "./paint";
import { forRows, type Cover, type Picture } from "./picture";
import { Columns } from "./quantise";
import type { Source } from "./source";
import type { TileTasks } from "./tasks";
import { plain } from "../../parts/text";

const LABEL_PX = 34; /* a slice narrower than this has no name on it */
const GAP_PX = 3; /* between rows */

export class RowsPainter {
	private image: ImageData;
	private paper: Paper;
	private feed: Feed;
	private readonly window: Window = { origin: 0, from: 0, to: 1, scale: 1 };
	/** The part of it that a tile is drawn in: one that stands in for a missing one has a place that is smaller. */
	private readonly clip: Window = { origin: 0, from: 0, to: 1, scale: 1 };
	private readonly shares: Shares = { run: new Uint8Array(0), unknown: null, at: [] };
	private readonly widths = new Map<number, number>();
	private font = "";

	constructor(private readonly context: CanvasRenderingContext2D) {
		this.image = context.createImageData(1, 1);
		this.paper = { pixels: new Uint32Array(1), width: 1, height: 1 };
		this.feed = this.makeFeed(1);
	}

	private makeFeed(width: number): Feed {
		return {
			columns: new Columns(width),
			edges: new Uint8Array(width + 2),
			labels: new Labels(),
			labelWidth: LABEL_PX,
			labelY: 0,
		};
	}

	private fit(p: Picture): void {
		if (this.paper.width === p.width && this.paper.height === p.height) return;
		this.image = this.context.createImageData(p.width, p.height);
		this.paper = {
			pixels: new Uint32Array(this.image.data.buffer),
			width: p.width,
			height: p.height,
		};
		this.feed = this.makeFeed(p.width);
	}

	draw(p: Picture): void {
		this.fit(p);
		this.paper.pixels.fill(p.inks.ground);
		this.feed.labels.n = 0;
		forRows(p, (row, y) => this.drawRow(p, row, y));
		if (p.layout.pinnedHeight) this.drawPinned(p);
		this.context.putImageData(this.image, 0, 0);
		this.drawLabels(p);
	}

	/** Pinned rows lie over the others: they are painted after them. */
	private drawPinned(p: Picture): void {
		const bottom = Math.round(p.layout.pinnedHeight * p.ratio);
		paintBox(this.paper, 0, p.width, 0, bottom, p.inks.ground);
		const { labels } = this.feed;
		let kept = 0;
		for (let i = 0; i < labels.n; i++)
			if ((labels.y[i] ?? 0) >= bottom) {
				labels.x0[kept] = labels.x0[i] ?? 0;
				labels.x1[kept] = labels.x1[i] ?? 0;
				labels.y[kept] = labels.y[i] ?? 0;
				labels.name[kept] = labels.name[i] ?? 0;
				labels.number[kept++] = labels.number[i] ?? 0;
			}
		labels.n = kept;
		for (const row of p.layout.pinned) this.drawRow(p, row, row.top);
		paintBox(this.paper, 0, p.width, bottom - Math.ceil(p.ratio), bottom, p.line);
	}

	private drawRow(p: Picture, row: Row, cssY: number): void {
		const source = p.sources[row.source];
		const cover = p.covers[row.source];
		const y = Math.round(cssY * p.ratio);
		const h = Math.round((row.height - row.depth * CALL_HEIGHT) * p.ratio);
		if (row.kind === "device") {
			paintBox(this.paper, 0, p.width, y, y + h, p.raised);
			return;
		}
		paintBox(this.paper, 0, p.width, y + h - 1, y + h, p.raised);
		if (!source || !cover) return;
		const gap = Math.round(GAP_PX * p.ratio);
		this.feed.columns.clear();
		this.feed.edges.fill(0);
		this.feed.labelY = y + h / 2;
		this.feed.labelWidth = LABEL_PX * p.ratio;
		this.fill(p, row, source, cover);
		this.paint(p, { y: y + gap - 1, h: h - gap });
		if (row.depth > 0) this.drawLanes(p, row, y + h);
	}

	/** What was fed. Feeding may have met names for the first time, so their colours are asked for behind it. */
	private paint(p: Picture, place: { readonly y: number; readonly h: number }): void {
		paintColumns(this.paper, p.inks, this.feed.columns, this.feed.edges, nameColours(), place);
	}

	/** Functions under a thread, one lane for each depth. */
	private drawLanes(p: Picture, row: Row, top: number): void {
		const cover = p.covers[row.source];
		if (!cover) return;
		const h = Math.round(CALL_HEIGHT * p.ratio);
		const { clip, feed, window: w } = this;
		clip.origin = w.origin;
		clip.scale = w.scale;
		for (let lane = 0; lane < row.depth; lane++) {
			const y = top + lane * h;
			feed.columns.clear();
			feed.edges.fill(0);
			feed.labelY = y + h / 2;
			for (const { tile, from, to } of cover.calls) {
				const index = indexCalls(tile);
				const thread = index.thread.get(row.number);
				if (thread === undefined) continue;
				const at = (tile.laneAt[thread] ?? 0) + lane;
				if (at >= (tile.laneAt[thread + 1] ?? 0)) continue;
				clip.from = Math.max(w.from, from, tile.from);
				clip.to = Math.min(w.to, to, tile.to);
				if (clip.to > clip.from) feedLane(feed, tile, index.names, at, clip);
			}
			this.paint(p, { y, h: h - 1 });
		}
	}

	private fill(p: Picture, row: Row, source: Source, cover: Cover): void {
		const w = this.window;
		w.origin = w.from = p.span.from - source.shift;
		w.to = p.span.to - source.shift;
		w.scale = p.width / (p.span.to - p.span.from);
		for (const { tile, from, to } of cover.overviews) {
			const clip = this.clip;
			clip.origin = w.origin;
			clip.scale = w.scale;
			clip.from = Math.max(w.from, from);
			clip.to = Math.min(w.to, to);
			this.fillShares(row, source, tile);
		}
		for (const piece of cover.details) this.fillDetail(row, source, piece);
	}

	private fillShares(row: Row, source: Source, tile: Overview): void {
		const { shares } = this;
		shares.at.length = 0;
		shares.run = row.kind === "cpu" ? tile.busy : tile.share;
		shares.unknown = row.kind === "cpu" ? tile.unknown : null;
		if (row.kind === "cpu") {
			if (row.number < tile.cpus) shares.at.push(row.number * tile.pieces);
		} else {
			const { byPid } = source.index(tile);
			for (const pid of row.kind === "process" ? row.members : [row.number])
				for (const task of byPid.get(pid) ?? []) shares.at.push(task * tile.pieces);
		}
		if (shares.at.length) feedShares(this.feed, tile, shares, this.clip);
	}

	private fillDetail(row: Row, source: Source, piece: Cover["details"][number]): void {
		const { tile } = piece;
		const w = this.window;
		const clip = this.clip;
		clip.origin = w.origin;
		clip.scale = w.scale;
		clip.from = Math.max(w.from, piece.from, tile.from);
		clip.to = Math.min(w.to, piece.to, tile.to);
		if (clip.to <= clip.from) return;
		/* Columns at the borders are shared with the tile beside it. */
		const first = Math.max(0, Math.ceil((clip.from - w.origin) * w.scale));
		const last = Math.min(this.feed.columns.width, Math.floor((clip.to - w.origin) * w.scale));
		if (last > first) this.feed.columns.erase(first, last);
		const index = source.index(tile);
		if (row.kind === "cpu") {
			feedCpu(this.feed, tile, index.names, row.number, clip);
			return;
		}
		for (const pid of row.kind === "process" ? row.members : [row.number])
			this.fillTasks(row, tile, index, pid);
	}

	/** All tasks that had a pid, each up to where the next one is there. */
	private fillTasks(row: Row, tile: Detail, index: TileTasks, pid: number): void {
		const { clip } = this;
		const { from, to } = clip;
		for (const task of index.byPid.get(pid) ?? []) {
			clip.to = Math.min(to, tile.from + (index.until[task] ?? Infinity));
			if (clip.to <= clip.from) continue;
			if (row.kind === "process") feedTask(this.feed, tile, task, clip, RUNNING);
			else feedTask(this.feed, tile, task, clip);
			clip.from = clip.to;
		}
		clip.from = from;
		clip.to = to;
	}

	private drawLabels(p: Picture): void {
		const { labels } = this.feed;
		const c = this.context;
		c.font = p.font;
		if (this.font !== p.font) this.widths.clear();
		this.font = p.font;
		c.textBaseline = "middle";
		c.fillStyle = p.text;
		const pad = 4 * p.ratio;
		for (let i = 0; i < labels.n; i++) {
			const x0 = Math.max(0, labels.x0[i] ?? 0);
			const room = Math.min(p.width, labels.x1[i] ?? 0) - x0 - 2 * pad;
			if (room < LABEL_PX / 2) continue;
			const text = this.cut(labels.name[i] ?? 0, labels.number[i] ?? 0, room);
			c.fillText(text, x0 + pad, labels.y[i] ?? 0);
		}
	}

	/** As much of a name as there is room for; with the pid where all of it fits. */
	private cut(name: number, pid: number, room: number): string {
		let width = this.widths.get(name);
		const text = plain(nameText(name));
		if (width === undefined) {
			width = this.context.measureText(text).width;
			this.widths.set(name, width);
		}
		if (pid > 0 && width * 1.9 < room) return `${text} ${pid}`;
		if (width <= room) return text;
		const letters = [...text];
		return letters.slice(0, Math.max(1, Math.floor((letters.length * room) / width) - 1)).join("") + "…";
	}
}
