// SPDX-License-Identifier: MIT
// source: one run on the axis: what is known of it and which of its tiles are there. Times in here are those of the
// run's own clock; `shift` takes them to the axis, which is the clock of the first run. Several devices are put
// on one axis by what the collector knows of their clocks, and `errorNs` says how far that may be off.
import { clockOf } from "../../api/timeline";
import type { Run } from "../../api/schema";
import type { Calls } from "./calls";
import type { Detail } from "./decode";
import { eventsBetween, type Overview } from "./overview";
import type { Span } from "../../parts/scale";
import { indexTasks, Tasks, type TileTasks } from "./tasks";
import { coverSpan, keyOf, levelOf, TileCache, type Piece, type TileId } from "./tiles";

export const DETAIL_BYTES = 72e6;
export const OVERVIEW_BYTES = 24e6;
export const CALLS_BYTES = 24e6;

/** Calls of programs on the same device at the same time: a run of their own, with a clock of its own. */
export class CallSource {
	readonly tiles = new TileCache<Calls>(CALLS_BYTES);

	/** `offset`: add it to a time of the calls to have one of the scheduler's run; `span` is by the latter. */
	constructor(
		readonly run: number,
		readonly offset: number,
		readonly span: Span,
	) {}
}

export class Source {
	readonly details: TileCache<Detail>;
	readonly overviews: TileCache<Overview>;
	readonly tasks = new Tasks();
	readonly depths = new Map<number, number>();
	laneVersion = 0;
	/** Tiles that have too many events to be drawn one by one. */
	readonly dense = new Set<string>();
	calls: readonly CallSource[] = [];
	whole: Overview | null = null;
	cpus = 0;
	start = 0;
	end = 0;
	/** It still grows; and how often it is known to have grown. */
	live = false;
	version = 0;
	private readonly indexes = new WeakMap<Detail | Overview, TileTasks>();

	constructor(
		readonly run: Run,
		public shift: number,
		readonly errorNs: number,
		share = 1,
	) {
		this.details = new TileCache<Detail>(DETAIL_BYTES * share);
		this.overviews = new TileCache<Overview>(OVERVIEW_BYTES * share);
	}

	putWhole(tile: Overview): void {
		this.whole = tile;
		this.start = tile.runFrom;
		this.end = Math.max(this.end, tile.runTo);
		this.take(tile);
	}

	putOverview(id: TileId, tile: Overview): void {
		this.overviews.put(id, tile);
		this.end = Math.max(this.end, tile.runTo);
		this.take(tile);
	}

	putDetail(id: TileId, tile: Detail): void {
		this.details.put(id, tile);
		/* An answer without any time says only that nothing is there yet. */
		if (tile.to > tile.from) this.end = Math.max(this.end, tile.to);
		this.take(tile);
	}

	putCalls(from: CallSource, id: TileId, tile: Calls): void {
		from.tiles.put(id, tile);
		for (let t = 0; t < tile.tid.length; t++) {
			const lanes = (tile.laneAt[t + 1] ?? 0) - (tile.laneAt[t] ?? 0);
			const tid = tile.tid[t] ?? 0;
			if (lanes <= (this.depths.get(tid) ?? 0)) continue;
			this.depths.set(tid, lanes);
			this.laneVersion++;
		}
	}

	private take(tile: Detail | Overview): void {
		this.cpus = Math.max(this.cpus, tile.cpus);
		this.tasks.putAll(tile);
	}

	index(tile: Detail | Overview): TileTasks {
		let index = this.indexes.get(tile);
		if (!index) {
			index = indexTasks(tile);
			this.indexes.set(tile, index);
		}
		return index;
	}

	/** A part of the axis by this run's clock. */
	local(span: Span): Span {
		return { from: span.from - this.shift, to: span.to - this.shift };
	}

	/** Events of a tile, as far as somebody knows. */
	expect(span: Span): number {
		if (this.whole && this.whole.pieceNs <= span.to - span.from)
			return eventsBetween(this.whole, span.from, span.to);
		const level = levelOf(2 * (span.to - span.from));
		const [piece] = coverSpan(this.overviews, span, level);
		if (piece) return eventsBetween(piece.tile, span.from, span.to);
		const length = Math.max(1, this.end - this.start);
		return (this.run.events * (span.to - span.from)) / length;
	}

	isDense(id: TileId): boolean {
		return this.dense.has(keyOf(id));
	}

	/** The tile with most detail at a time. */
	detailAt(ns: number, level: number): Piece<Detail> | undefined {
		return coverSpan(this.details, { from: ns, to: ns + 1 }, level).find((p) => p.from <= ns && ns < p.to);
	}
}

/** Sources for the runs of the address, on the clock of the first. */
/** Runs whose clocks were never compared begin together: the only thing that can be said of them. */
export function alignStarts(sources: readonly Source[]): void {
	const [first] = sources;
	if (!first?.whole) return;
	const isKnown = !Number.isNaN(first.errorNs);
	for (const s of sources)
		if (s !== first && s.whole && !(isKnown && !Number.isNaN(s.errorNs))) s.shift = first.start - s.start;
}

export function makeSources(runs: readonly Run[]): readonly Source[] {
	const first = runs[0] && clockOf(runs[0]);
	return runs.map((run, i) => {
		const clock = clockOf(run);
		const shift = i && first && clock ? clock.real_offset_ns - first.real_offset_ns : 0;
		return new Source(run, shift, clock?.error_ns ?? Number.NaN, 1 / runs.length);
	});
}
