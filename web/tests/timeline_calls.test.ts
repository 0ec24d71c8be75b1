// SPDX-License-Identifier: MIT
import text from "../../tests/vectors/calls-slices.txt?raw";
import { describe, expect, it } from "vitest";

import { Malformed } from "../src/api/reader";
import { decodeCalls } from "../src/views/timeline/calls";
import type { Run } from "../src/api/schema";
import { Labels } from "../src/views/timeline/feed";
import { callSlice } from "../src/views/timeline/hit";
import type { Row } from "../src/views/timeline/layout";
import { CallSource, Source } from "../src/views/timeline/source";
import { callAt } from "../src/views/timeline/lanes";

/** The vector of docs/format/calls-slices.md. */
function vector(): Uint8Array {
	const bytes = text
		.split("\n")
		.flatMap((line) => line.replace(/#.*/, "").trim().split(/\s+/))
		.filter((x) => x !== "");
	return Uint8Array.from(bytes, (x) => parseInt(x, 16));
}

describe("calls", () => {
	const tile = decodeCalls(vector());
	it("are those of the document", () => {
		expect([tile.schedRun, tile.offset, tile.leftOut, tile.final]).toEqual([7, -300, 1, true]);
		expect([tile.from, tile.to]).toEqual([1150 - 300, 2000 - 300]);
		expect([...tile.tid]).toEqual([10, 11]);
		expect(tile.functions).toEqual(["main", "f", "g", "work"]);
	});
	it("lie in lanes without overlap", () => {
		expect([...tile.laneAt]).toEqual([0, 3, 4]);
		expect([...tile.callAt]).toEqual([0, 1, 4, 5, 7]);
		const lane = (l: number): (string | undefined)[] =>
			[...tile.fn.subarray(tile.callAt[l], tile.callAt[l + 1])].map((f) => tile.functions[f]);
		expect([lane(0), lane(1), lane(2), lane(3)]).toEqual([
			["main"],
			["f", "f", "f"],
			["g"],
			["work", "work"],
		]);
		for (let l = 0; l < tile.callAt.length - 1; l++)
			for (let i = (tile.callAt[l] ?? 0) + 1; i < (tile.callAt[l + 1] ?? 0); i++)
				expect(tile.begin[i]).toBeGreaterThanOrEqual(tile.end[i - 1] ?? 0);
		expect([tile.begin[4], tile.end[4], tile.flags[4]]).toEqual([310, 550, 4]);
	});
	it("are found by depth and time", () => {
		expect(callAt(tile, 10, 2, 850 + 400)).toMatchObject({ name: "g", from: 1160, to: 1400 });
		expect(callAt(tile, 10, 2, 850 + 100)).toBeNull();
		expect(callAt(tile, 10, 3, 1000)).toBeNull();
		expect(callAt(tile, 99, 0, 1000)).toBeNull();
	});
	it("are whole where the clocks of two tiles do not meet to the nanosecond", () => {
		for (const apart of [-3, 0, 3]) {
			const source = new Source({ run: 1 } as Run, 0, 0);
			const from = new CallSource(7, 0, { from: 0, to: 2 ** 18 });
			source.calls = [from];
			for (const index of [0, 1]) {
				const at = index * 2 ** 16 + index * apart;
				const one = {
					from: at,
					to: at + 2 ** 16,
					laneAt: Uint32Array.of(0, 1),
					callAt: Uint32Array.of(0, 1),
					begin: Float64Array.of(index ? 0 : 500),
					end: Float64Array.of(index ? 300 : 65536),
					fn: Int32Array.of(0),
					flags: Uint8Array.of(index ? 1 : 2),
				};
				source.putCalls(from, { level: 16, index }, { ...tile, ...one, tid: Int32Array.of(10) });
			}
			const row = { id: "1.t10", number: 10 } as Row;
			const whole = { from: 500, to: 65536 + apart + 300, isOpenBefore: false, isOpenAfter: false };
			expect(callSlice(source, row, 0, 1000, 16)).toMatchObject(whole);
			expect(callSlice(source, row, 0, 65636, 16)).toMatchObject(whole);
			const labels = new Labels();
			labels.put(0, 100, 7, 1, -1);
			expect(labels.goOn(100 + apart / 10, 120, 7, 1)).toBe(true);
			expect([labels.n, labels.x1[0]]).toEqual([1, 120]);
			expect(labels.goOn(130, 140, 7, 1)).toBe(false);
		}
	});
	it("are whole where tiles cut them", () => {
		const source = new Source({ run: 1 } as Run, 1000, 0);
		const from = new CallSource(7, 0, { from: 0, to: 2 ** 18 });
		source.calls = [from];
		const part = (index: number, begin: number, end: number, flags: number): void => {
			const at = index * 2 ** 16;
			const one = {
				from: at,
				to: at + 2 ** 16,
				laneAt: Uint32Array.of(0, 1),
				callAt: Uint32Array.of(0, 1),
				begin: Float64Array.of(begin),
				end: Float64Array.of(end),
				fn: Int32Array.of(0),
				flags: Uint8Array.of(flags),
			};
			source.putCalls(from, { level: 16, index }, { ...tile, ...one, tid: Int32Array.of(10) });
		};
		part(0, 500, 65536, 2);
		part(1, 0, 65536, 3);
		const row = { id: "1.t10", number: 10 } as Row;
		const found = () => callSlice(source, row, 0, 1000 + 70000, 16);
		expect(found()).toMatchObject({ fn: "main", from: 1500, to: 1000 + 2 * 65536, isOpenAfter: true });
		part(2, 0, 300, 1);
		expect(found()).toMatchObject({
			from: 1500,
			to: 1000 + 2 * 65536 + 300,
			isOpenBefore: false,
			isOpenAfter: false,
		});
		expect(source.depths.get(10)).toBe(1);
	});
	it("refuses what is cut off", () => {
		const whole = vector();
		for (let n = 0; n < whole.length; n++) expect(() => decodeCalls(whole.slice(0, n))).toThrow(Malformed);
	});
});
