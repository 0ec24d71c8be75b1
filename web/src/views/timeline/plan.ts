// SPDX-License-Identifier: MIT
// plan: which tiles a picture needs, the most wanted first: those in sight, then their neighbours, so that the next
// movement finds them there. Where a tile would have too many events, the overview of the same place.
import { overlaps, type Span } from "../../parts/scale";
import type { CallSource, Source } from "./source";
import { keyOf, levelOf, splitTail, tileLength, tileSpan, tilesOf, type TileId } from "./tiles";

/** Events of a detail tile; the collector refuses more. */
export const DETAIL_EVENTS = 60_000;
/** What is estimated at more is not even tried. */
const HOPELESS = 1.5;
/** The smallest tile that the growing end of a run is asked for with: 134 ms. */
export const TAIL_LEVEL = 27;
/** Columns of an overview tile. */
export const OVERVIEW_WIDTH = 720;
export const OVERVIEW_TASKS = 160;

export interface Wish {
	readonly source: Source;
	readonly kind: "detail" | "overview" | "whole" | "calls";
	/** Of calls: whose. */
	readonly from?: CallSource;
	readonly id: TileId;
	/** Names it among all wishes. */
	readonly key: string;
	readonly inSight: boolean;
}

function wish(source: Source, kind: Wish["kind"], id: TileId, inSight: boolean): Wish {
	return { source, kind, id, key: `${source.run.run}:${kind}:${keyOf(id)}`, inSight };
}

/** Whether events may be drawn one by one there. */
export function wantsDetail(source: Source, id: TileId): boolean {
	if (source.isDense(id)) return false;
	const span = tileSpan(id);
	return source.expect(span) <= HOPELESS * DETAIL_EVENTS;
}

/** Events that the collector decodes for pieces below the length of its summaries; where there are more it would
 * try in vain. */
const DECODED_EVENTS = 1.5e6;
const SUMMARY_NS = 1e9;

/** In how many columns the overview of a tile is to be asked for. */
export function overviewWidth(source: Source, id: TileId): number {
	const span = tileSpan(id);
	if (source.expect(span) < DECODED_EVENTS) return OVERVIEW_WIDTH;
	return Math.min(OVERVIEW_WIDTH, Math.ceil((span.to - span.from) / SUMMARY_NS) + 2);
}

/** Is the whole run's overview as fine as that of a tile would be, or nearly? */
function wholeIsEnough(source: Source, id: TileId): boolean {
	if (!source.whole?.final) return false;
	const finest = source.expect(tileSpan(id)) < DECODED_EVENTS ? 0 : SUMMARY_NS;
	return source.whole.pieceNs <= Math.max(finest, (2 * tileLength(id.level)) / OVERVIEW_WIDTH);
}

interface Known {
	/** How much of a growing run was known when a tile was last asked for. */
	readonly versions: ReadonlyMap<string, number>;
	/** So much of a live run is expected beyond what came already. */
	readonly aheadNs: number;
}

function planTile(source: Source, id: TileId, inSight: boolean, known: Known): readonly Wish[] {
	const isStale = (w: Wish): boolean => (known.versions.get(w.key) ?? -1) < source.version;
	if (wantsDetail(source, id)) {
		const least = Math.min(TAIL_LEVEL, id.level);
		const parts = source.live ? splitTail(id, source.end, known.aheadNs, least) : [id];
		return parts
			.flatMap((part) => source.details.missingOf(part, least))
			.map((part) => wish(source, "detail", part, inSight))
			.filter((w) => !source.details.peek(w.id) || isStale(w))
			.reverse();
	}
	if (wholeIsEnough(source, id)) return [];
	const tile = source.overviews.peek(id);
	const w = wish(source, "overview", id, inSight);
	return tile && (tile.final || !isStale(w)) ? [] : [w];
}

/** Calls shorter than this are left out of a tile: they would be less than half a pixel. */
export function leastCall(id: TileId): number {
	return Math.floor(tileLength(id.level) / 4096);
}

/** Calls are looked at where slices are drawn one by one; from far away they would say nothing. */
function planCalls(source: Source, ids: readonly TileId[], known: Known): readonly Wish[] {
	return source.calls.flatMap((from) =>
		ids
			.filter((id) => overlaps(tileSpan(id), from.span) && wantsDetail(source, id))
			.filter((id) => {
				const tile = from.tiles.peek(id);
				const key = `${from.run}:calls:${keyOf(id)}`;
				return !tile || (!tile.final && source.live && (known.versions.get(key) ?? -1) < source.version);
			})
			.map((id): Wish => ({
				source,
				from,
				kind: "calls",
				id,
				key: `${from.run}:calls:${keyOf(id)}`,
				inSight: true,
			})),
	);
}

/** All wishes for a source; the newest part of a growing run comes first. */
export function planSource(source: Source, axis: Span, known: Known): readonly Wish[] {
	if (!source.whole) return [wish(source, "whole", { level: 0, index: 0 }, true)];
	const view = source.local(axis);
	const end = source.end + (source.live ? known.aheadNs : 1);
	const clipped = { from: Math.max(view.from, source.start), to: Math.min(view.to, end) };
	if (clipped.to <= clipped.from) return [];
	const level = levelOf(view.to - view.from);
	const ids = tilesOf(clipped, level);
	const first = ids[0];
	const last = ids[ids.length - 1];
	const order = source.live ? ids.toReversed() : ids;
	const wishes = order.flatMap((id) => planTile(source, id, true, known));
	wishes.push(...planCalls(source, order, known));
	const beside = [last && { level, index: last.index + 1 }, first && { level, index: first.index - 1 }];
	for (const id of beside) {
		if (!id || id.index < 0 || id.index * tileLength(level) >= end) continue;
		if ((id.index + 1) * tileLength(level) <= source.start) continue;
		wishes.push(...planTile(source, id, false, known));
	}
	return wishes;
}
