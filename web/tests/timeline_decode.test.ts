// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { Malformed } from "../src/api/reader";
import type { Timeline } from "../src/api/schema";
import { decodeSlicesAnswer } from "../src/views/timeline/decode";
import { decodeTimeline, eventsBetween, shareByte } from "../src/views/timeline/overview";
import { encodeSlices, example } from "./slices_encoder";

describe("a detail tile", () => {
	const tile = decodeSlicesAnswer(encodeSlices(example()));
	it("has what was sent", () => {
		expect([tile.from, tile.to, tile.final, tile.cpus]).toEqual([4096, 5096, true, 2]);
		expect([...tile.pid]).toEqual([10, 11, 12]);
		expect([...tile.tgid]).toEqual([10, 10, -1]);
		expect(tile.comm).toEqual(["a", "b", "c"]);
		expect([...tile.cpuAt]).toEqual([0, 4, 6]);
		expect([...tile.sliceEnd]).toEqual([300, 500, 600, 1000, 450, 1000]);
		expect([...tile.sliceTask]).toEqual([0, 1, 0, -1, -1, 2]);
		expect([...tile.sliceKind]).toEqual([0, 0, 0, 2, 1, 4]);
		expect([...tile.spanAt]).toEqual([0, 4, 7, 10]);
		expect([...tile.spanEnd].slice(0, 4)).toEqual([300, 500, 600, 1000]);
		expect([...tile.spanState]).toEqual([1, 3, 1, 0, 4, 1, 4, 4, 2, 1]);
		expect([...tile.spanCpu]).toEqual([0, -1, 0, -1, -1, 0, -1, -1, -1, 1]);
		expect([...tile.wakeAt]).toEqual([250, 400]);
		expect([...tile.wakeRan]).toEqual([300, 450]);
		expect([...tile.waker]).toEqual([-1, 1]);
		expect([...tile.lossTo]).toEqual([1000]);
		expect([...tile.lossEvents]).toEqual([77]);
	});
	it("knows its weight", () => {
		const least = tile.sliceEnd.byteLength + tile.spanEnd.byteLength;
		expect(tile.bytes).toBeGreaterThan(least);
		expect(tile.sliceEnd.buffer.byteLength).toBe(tile.sliceEnd.byteLength);
	});
	it("refuses every answer that is cut off", () => {
		const whole = encodeSlices(example());
		for (let n = 0; n < whole.length; n++)
			expect(() => decodeSlicesAnswer(whole.slice(0, n))).toThrow(Malformed);
	});
	it("refuses tasks and states that there are not", () => {
		const spec = example();
		expect(() => decodeSlicesAnswer(encodeSlices({ ...spec, cpus: [[[0, 3, 1000]], []] }))).toThrow(
			Malformed,
		);
		expect(() => decodeSlicesAnswer(encodeSlices({ ...spec, spans: [[[10, 5]], [], []] }))).toThrow(
			Malformed,
		);
		expect(() => decodeSlicesAnswer(encodeSlices({ ...spec, wakeups: [[0, 3, 0, 0, 0]] }))).toThrow(
			Malformed,
		);
	});
});

const counts = {
	busy_ns: 0,
	idle_ns: 0,
	unknown_ns: 0,
	switches: 0,
	wakeups: 0,
	others: 0,
	lost: 0,
	uncounted: 0,
};
const answer: Timeline = {
	run: 1,
	from_ns: 1000,
	to_ns: 1400,
	piece_ns: 100,
	pieces: 4,
	decoded: true,
	run_from_ns: 1000,
	run_to_ns: 2000,
	from_tick: 0,
	to_tick: 0,
	pending_from_ns: null,
	total: counts,
	cpus: [
		{
			cpu: 0,
			total: counts,
			busy_ns: [100, 50, 0, 1],
			idle_ns: [0, 50, 0, 9999],
			unknown_ns: [0, 0, 100, 0],
			switches: [10, 20, 0, 0],
			wakeups: [],
			others: [0, 0, 0, 4],
			lost: [0, 0, 7, 0],
			uncounted: [0, 0, 1, 1],
		},
	],
	tasks_in_all: 1,
	tasks: [{ pid: 5, tgid: null, comm: "x", process: null, run_ns: 150, pieces_ns: [100, 50, 0, 0] }],
	other: { run_ns: 0, pieces_ns: [] },
};

describe("an overview tile", () => {
	const tile = decodeTimeline(answer, 1400);
	it("has shares; what is there at all is never nothing", () => {
		expect([...tile.busy]).toEqual([255, 128, 0, 1]);
		expect([...tile.unknown]).toEqual([0, 0, 255, 0]);
		expect([...tile.share]).toEqual([255, 128, 0, 0]);
		expect(shareByte(1, 1e12)).toBe(1);
	});
	it("tells counted losses from others", () => expect([...tile.lost]).toEqual([0, 0, 7, -1]));
	it("does not change any more when the run went on, and is not final before", () => {
		expect(tile.final).toBe(true);
		expect(decodeTimeline({ ...answer, run_to_ns: 1390 }, 1400).final).toBe(false);
		expect(decodeTimeline({ ...answer, pending_from_ns: 1200 }, 1400).final).toBe(false);
	});
	it("estimates events of a part", () => {
		expect(eventsBetween(tile, 1000, 1400)).toBe(34);
		expect(eventsBetween(tile, 1050, 1150)).toBe(5 + 10);
		expect(eventsBetween(tile, 0, 500)).toBe(0);
	});
});
