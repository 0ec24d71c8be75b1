// SPDX-License-Identifier: MIT
// tiles: pieces of the axis that are asked for and kept. A tile of level L is 2^L ns long and starts at a multiple
// of that, so moving a bit finds what is there already, and each tile lies in exactly one of the next level.
//
// `coverSpan` says what to draw a span with: the tile of the level that fits; where that has not come yet, whatever
// finer or coarser tiles have been kept. So a picture never becomes empty while it is made better. The cache is
// bounded by bytes and gives up what was not looked at for the longest time.
import type { Span } from "../../parts/scale";

export interface TileId {
	readonly level: number;
	readonly index: number;
}

export const LEVEL_MIN = 16;
export const LEVEL_MAX = 63; /* a damaged record can have any time */
const FINER_MAX = 6; /* levels below that stand in for a tile */

export function tileLength(level: number): number {
	return 2 ** level;
}

export function tileSpan(id: TileId): Span {
	const length = tileLength(id.level);
	return { from: id.index * length, to: (id.index + 1) * length };
}

/** The level of which two to three tiles fill the span. */
export function levelOf(lengthNs: number): number {
	const level = Math.ceil(Math.log2(Math.max(lengthNs, 1) / 2));
	return Math.min(LEVEL_MAX, Math.max(LEVEL_MIN, level));
}

export function keyOf(id: TileId): string {
	return `${id.level}/${id.index}`;
}

export function tilesOf(span: Span, level: number): readonly TileId[] {
	const length = tileLength(level);
	const ids: TileId[] = [];
	const last = Math.ceil(span.to / length) - 1;
	for (let index = Math.max(0, Math.floor(span.from / length)); index <= last; index++)
		ids.push({ level, index });
	return ids;
}

/**
 * What a run that still grows is asked for: whole tiles up to its end, and for the tile with the end in it smaller
 * ones, so that what is finished is finished, and only the smallest last ones are asked for again and again.
 * `aheadNs`: how far beyond the known end something may have come meanwhile.
 */
export function splitTail(id: TileId, endNs: number, aheadNs: number, least: number): readonly TileId[] {
	const span = tileSpan(id);
	if (span.from >= endNs + aheadNs) return [];
	if (span.to <= endNs || id.level <= least) return [id];
	return halvesOf(id).flatMap((half) => splitTail(half, endNs, aheadNs, least));
}

export function halvesOf(id: TileId): readonly TileId[] {
	const level = id.level - 1;
	return [
		{ level, index: 2 * id.index },
		{ level, index: 2 * id.index + 1 },
	];
}

export interface Kept {
	readonly bytes: number;
	/** Nothing in it will change. */
	readonly final: boolean;
}

export class TileCache<T extends Kept> {
	private readonly tiles = new Map<string, T>();
	private total = 0;

	constructor(private readonly maxBytes: number) {}

	get bytes(): number {
		return this.total;
	}

	get size(): number {
		return this.tiles.size;
	}

	/** Without a mark that it was looked at. */
	peek(id: TileId): T | undefined {
		return this.tiles.get(keyOf(id));
	}

	get(id: TileId): T | undefined {
		const key = keyOf(id);
		const tile = this.tiles.get(key);
		if (tile) {
			this.tiles.delete(key);
			this.tiles.set(key, tile);
		}
		return tile;
	}

	put(id: TileId, tile: T): void {
		const key = keyOf(id);
		this.drop(key);
		this.tiles.set(key, tile);
		this.total += tile.bytes;
		for (const oldest of this.tiles.keys()) {
			if (this.total <= this.maxBytes || oldest === key) break;
			this.drop(oldest);
		}
	}

	private drop(key: string): void {
		const tile = this.tiles.get(key);
		if (!tile) return;
		this.tiles.delete(key);
		this.total -= tile.bytes;
	}

	clear(): void {
		this.tiles.clear();
		this.total = 0;
	}

	values(): IterableIterator<T> {
		return this.tiles.values();
	}

	/** Is the whole tile there for good, itself or in finer ones? */
	isWhole(id: TileId, depth = FINER_MAX): boolean {
		const tile = this.peek(id);
		if (tile) return tile.final;
		if (depth === 0 || id.level <= LEVEL_MIN) return false;
		return halvesOf(id).every((half) => this.isWhole(half, depth - 1));
	}

	/** What to ask for to have a tile whole: the half that is missing if the other one is there for good, else all. */
	missingOf(id: TileId, least: number): readonly TileId[] {
		if (this.isWhole(id)) return [];
		if (id.level <= least || this.peek(id)) return [id];
		const missing = halvesOf(id).filter((half) => !this.isWhole(half));
		const [only] = missing;
		return missing.length === 1 && only ? this.missingOf(only, least) : [id];
	}
}

/** A part of the span and the tile that it is drawn with. */
export interface Piece<T> extends Span {
	readonly tile: T;
}

function putFiner<T extends Kept>(cache: TileCache<T>, id: TileId, depth: number, out: Piece<T>[]): void {
	if (depth === 0 || id.level <= LEVEL_MIN) return;
	for (const half of halvesOf(id)) {
		const tile = cache.get(half);
		if (tile) out.push({ ...tileSpan(half), tile });
		if (!tile?.final) putFiner(cache, half, depth - 1, out);
	}
}

function findCoarser<T extends Kept>(cache: TileCache<T>, id: TileId): T | undefined {
	for (let level = id.level + 1; level <= LEVEL_MAX; level++) {
		const tile = cache.get({ level, index: Math.floor(id.index / 2 ** (level - id.level)) });
		if (tile) return tile;
	}
	return undefined;
}

/** What the span is drawn with, by time; what has nothing is left out. Only where a tile may still change do others
 * lie over it: finer ones come behind it and have what it lacks. */
export function coverSpan<T extends Kept>(
	cache: TileCache<T>,
	span: Span,
	level: number,
): readonly Piece<T>[] {
	const pieces: Piece<T>[] = [];
	for (const id of tilesOf(span, level)) {
		const tile = cache.get(id) ?? findCoarser(cache, id);
		if (tile) pieces.push({ ...tileSpan(id), tile });
		if (!tile?.final) putFiner(cache, id, FINER_MAX, pieces);
	}
	return pieces;
}
