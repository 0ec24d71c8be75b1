// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import {
	coverSpan,
	levelOf,
	splitTail,
	TileCache,
	tileSpan,
	tilesOf,
	type Kept,
	type TileId,
} from "../src/views/timeline/tiles";

interface Fake extends Kept {
	readonly name: string;
}
const fake = (name: string, bytes = 1, final = true): Fake => ({ name, bytes, final });
const id = (level: number, index: number): TileId => ({ level, index });

describe("tiles", () => {
	it("fill a span with two or three", () => {
		for (const length of [1e5, 1e6, 12345678, 3e9, 600e9]) {
			const n = tilesOf({ from: 7e9, to: 7e9 + length }, levelOf(length)).length;
			expect(n).toBeGreaterThanOrEqual(2);
			expect(n).toBeLessThanOrEqual(3);
		}
	});
	it("touch without overlap, at large times too", () => {
		const span = { from: 71_600_000_000_000, to: 71_600_060_000_000 };
		const ids = tilesOf(span, levelOf(6e7));
		expect(tileSpan(ids[0] ?? id(0, 0)).from).toBeLessThanOrEqual(span.from);
		expect(tileSpan(ids.at(-1) ?? id(0, 0)).to).toBeGreaterThanOrEqual(span.to);
		for (let i = 1; i < ids.length; i++)
			expect(tileSpan(ids[i] ?? id(0, 0)).from).toBe(tileSpan(ids[i - 1] ?? id(0, 0)).to);
	});
	it("do not reach beyond an end that is a border", () => {
		expect(tilesOf({ from: 0, to: 2 ** 20 }, 20)).toEqual([id(20, 0)]);
	});
});

describe("the growing end", () => {
	it("is asked for in pieces that finish", () => {
		const parts = splitTail(id(22, 0), 2 ** 21 + 2 ** 20 + 5, 0, 20);
		expect(parts).toEqual([id(21, 0), id(20, 2), id(20, 3)]);
	});
	it("reaches a bit beyond what is known", () => {
		expect(splitTail(id(22, 0), 2 ** 20, 1000, 20)).toEqual([id(20, 0), id(20, 1)]);
	});
	it("is nothing where nothing has come yet", () => expect(splitTail(id(20, 5), 2 ** 20, 0, 18)).toEqual([]));
	it("is one tile where it lies before the end", () =>
		expect(splitTail(id(20, 0), 2 ** 20, 0, 18)).toEqual([id(20, 0)]));
});

describe("the cache", () => {
	it("keeps to its bytes and gives up what was not looked at", () => {
		const cache = new TileCache<Fake>(10);
		cache.put(id(20, 1), fake("a", 4));
		cache.put(id(20, 2), fake("b", 4));
		cache.get(id(20, 1));
		cache.put(id(20, 3), fake("c", 4));
		expect(cache.peek(id(20, 2))).toBeUndefined();
		expect(cache.peek(id(20, 1))?.name).toBe("a");
		expect(cache.bytes).toBe(8);
		cache.put(id(20, 1), fake("a2", 2));
		expect(cache.bytes).toBe(6);
		cache.put(id(20, 9), fake("huge", 100));
		expect([cache.size, cache.bytes]).toEqual([1, 100]);
	});
	it("knows a tile as whole when its parts are", () => {
		const cache = new TileCache<Fake>(100);
		cache.put(id(20, 2), fake("left"));
		expect(cache.isWhole(id(21, 1))).toBe(false);
		cache.put(id(20, 3), fake("right", 1, false));
		expect(cache.isWhole(id(21, 1))).toBe(false);
		cache.put(id(20, 3), fake("right"));
		expect(cache.isWhole(id(21, 1))).toBe(true);
	});
	it("asks for parts that are missing, not for all again", () => {
		const cache = new TileCache<Fake>(100);
		expect(cache.missingOf(id(22, 0), 20)).toEqual([id(22, 0)]);
		cache.put(id(21, 1), fake("right"));
		expect(cache.missingOf(id(22, 0), 20)).toEqual([id(21, 0)]);
		cache.put(id(20, 1), fake("x"));
		expect(cache.missingOf(id(22, 0), 20)).toEqual([id(20, 0)]);
		cache.put(id(22, 0), fake("all", 1, false));
		expect(cache.missingOf(id(22, 0), 20)).toEqual([id(22, 0)]);
	});
	it("lays finer tiles over one that may still change", () => {
		const cache = new TileCache<Fake>(100);
		cache.put(id(21, 0), fake("old", 1, false));
		cache.put(id(20, 1), fake("new"));
		const cover = coverSpan(cache, { from: 0, to: 2 ** 21 }, 21);
		expect(cover.map((p) => p.tile.name)).toEqual(["old", "new"]);
	});
	it("covers a span with the level that fits, else with what there is", () => {
		const cache = new TileCache<Fake>(100);
		const span = { from: 0, to: 4 * 2 ** 20 };
		const names = (): string[] => coverSpan(cache, span, 20).map((p) => `${p.tile.name}@${p.from / 2 ** 20}`);
		expect(names()).toEqual([]);
		cache.put(id(23, 0), fake("coarse"));
		expect(names()).toEqual(["coarse@0", "coarse@1", "coarse@2", "coarse@3"]);
		cache.put(id(20, 1), fake("exact"));
		expect(names()).toEqual(["coarse@0", "exact@1", "coarse@2", "coarse@3"]);
		const other = new TileCache<Fake>(100);
		other.put(id(18, 5), fake("fine"));
		expect(coverSpan(other, span, 20).map((p) => p.tile.name)).toEqual(["fine"]);
	});
});
