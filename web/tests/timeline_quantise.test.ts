// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { decodeSlicesAnswer } from "../src/views/timeline/decode";
import { feedCpu, feedTask, KIND_NAME, Labels, type Feed } from "../src/views/timeline/feed";
import { putDetailLosses, Stretches } from "../src/views/timeline/losses";
import { mix, pack, parseColour } from "../src/views/timeline/names";
import { paintColumns } from "../src/views/timeline/paint";
import { isInked } from "../src/parts/pattern";
import { makeInks } from "../src/views/timeline/patterns";
import {
	CLASS_NONE,
	CLASS_PREEMPTED,
	CLASS_RUN,
	CLASSES,
	classOf,
	Columns,
	findEnd,
	NOTHING,
	SHARED,
} from "../src/views/timeline/quantise";
import { looks, STATES, type Pattern } from "../src/parts/palette";
import { encodeSlices, example } from "./slices_encoder";

describe("columns", () => {
	it("are what one slice fills, and what has most of them at its ends", () => {
		const c = new Columns(10);
		c.put(1.25, 4.5, 1, CLASS_RUN);
		expect([...c.what]).toEqual([0, SHARED, 2, 2, SHARED, 0, 0, 0, 0, 0]);
		expect(c.lookAt(1)).toBe(2);
		expect(c.lookAt(0)).toBe(NOTHING);
	});
	it("sum up what is narrower than a pixel", () => {
		const c = new Columns(4);
		for (let i = 0; i < 10; i++) {
			c.put(1 + i / 10, 1 + i / 10 + 0.04, 1, CLASS_RUN);
			c.put(1 + i / 10 + 0.04, 1 + (i + 1) / 10, 4, CLASS_NONE);
		}
		expect(c.lookAt(1)).toBe(SHARED);
		expect(c.sum[CLASSES + CLASS_RUN]).toBeCloseTo(0.4, 4);
		expect(c.most[1]).toBe(2);
	});
	it("never lose one short slice among long sleeps", () => {
		const c = new Columns(3);
		c.put(0, 1.499, 4, classOf(4));
		c.put(1.499, 1.501, 1, classOf(1));
		c.put(1.501, 3, 4, classOf(4));
		expect(c.lookAt(1)).toBe(SHARED);
		expect(c.most[1]).toBe(5);
		expect(c.sum[CLASSES + CLASS_RUN]).toBeGreaterThan(0);
	});
	it("are cut at both ends of the screen", () => {
		const c = new Columns(4);
		c.put(-100, 100, 3, CLASS_PREEMPTED);
		expect([...c.what]).toEqual([4, 4, 4, 4]);
		c.clear();
		c.put(5, 9, 3, CLASS_PREEMPTED);
		c.put(-9, -5, 3, CLASS_PREEMPTED);
		c.put(2, 2, 3, CLASS_PREEMPTED);
		expect([...c.what]).toEqual([0, 0, 0, 0]);
	});
});

describe("finding by halving", () => {
	const ends = Float64Array.from([10, 20, 30, 40]);
	it("finds who has a time", () => {
		expect([0, 9, 10, 39, 40].map((t) => findEnd(ends, 0, 4, t))).toEqual([0, 0, 1, 3, 4]);
		expect(findEnd(ends, 2, 4, 0)).toBe(2);
	});
});

function feedOf(width: number): Feed {
	return {
		columns: new Columns(width),
		edges: new Uint8Array(width + 2),
		labels: new Labels(),
		labelWidth: 20,
		labelY: 0,
	};
}
const tile = decodeSlicesAnswer(encodeSlices(example(0)));
const names = Int32Array.from([0, 1, 2]);

describe("rows out of a tile", () => {
	it("have their tasks where they ran", () => {
		const f = feedOf(100);
		feedCpu(f, tile, names, 0, { origin: 0, from: 0, to: 1000, scale: 0.1 });
		const kinds = [0, 29, 30, 49, 50, 59, 60, 99].map((x) => f.columns.lookAt(x) - 1);
		expect(kinds).toEqual([16, 16, 17, 17, 16, 16, 0, 0]);
		expect(f.labels.n).toBe(2);
		expect([f.labels.x0[0], f.labels.x1[0], f.labels.number[0]]).toEqual([0, 30, 10]);
	});
	it("are empty where a CPU idles", () => {
		const f = feedOf(100);
		feedCpu(f, tile, names, 1, { origin: 0, from: 0, to: 1000, scale: 0.1 });
		expect(f.columns.lookAt(10)).toBe(NOTHING);
		expect(f.columns.lookAt(50)).toBe(KIND_NAME + 2 + 1);
	});
	it("stay within the place that a tile stands in for", () => {
		const f = feedOf(100);
		feedTask(f, tile, 0, { origin: 0, from: 350, to: 550, scale: 0.1 });
		const what = [34, 35, 49, 50, 54, 55].map((x) => f.columns.lookAt(x));
		expect(what).toEqual([NOTHING, 4, 4, 2, 2, NOTHING]);
	});
	it("have their losses", () => {
		const s = new Stretches();
		putDetailLosses(s, tile, 0, { origin: 0, from: 0, to: 1000, scale: 0.1 });
		putDetailLosses(s, tile, 1, { origin: 0, from: 0, to: 1000, scale: 0.1 });
		expect([s.n, s.x0[0], s.x1[0], s.events[0], s.uncounted[0]]).toEqual([1, 60, 100, 77, 0]);
		s.put(101, 102, 0);
		expect([s.n, s.events[0], s.uncounted[0]]).toEqual([1, 77, 1]);
	});
});

describe("paint", () => {
	const inks = makeInks("#ffffff");
	it("fills what is solid and leaves the rest", () => {
		const f = feedOf(100);
		feedTask(f, tile, 1, { origin: 0, from: 0, to: 1000, scale: 0.1 });
		const paper = { pixels: new Uint32Array(100 * 10).fill(inks.ground), width: 100, height: 10 };
		paintColumns(paper, inks, f.columns, f.edges, new Uint32Array(4), { y: 0, h: 10 });
		const at = (x: number, y: number): number => paper.pixels[y * 100 + x] ?? 0;
		expect(at(40, 0)).toBe(inks.colour[1]);
		expect(at(40, 9)).toBe(inks.colour[1]);
		expect(at(10, 0)).toBe(inks.ground);
		expect(at(10, 9)).toBe(inks.colour[4]);
	});
	it("makes bars as high as their share", () => {
		const c = new Columns(4);
		c.putBar(0, 0.5, 1, 0);
		c.putBar(1, 0.5, 1, 0);
		c.putBar(2, 0, 1, 0);
		const paper = { pixels: new Uint32Array(4 * 10), width: 4, height: 10 };
		paintColumns(paper, inks, c, new Uint8Array(6), new Uint32Array(4), { y: 0, h: 10 });
		const column = (x: number): number => [...Array(10).keys()].filter((y) => paper.pixels[y * 4 + x]).length;
		expect([0, 1, 2, 3].map(column)).toEqual([5, 5, 0, 0]);
	});
	it("tells states apart without colour", () => {
		const shapes = STATES.filter((s) => looks[s].height > 0).map((s) => {
			const dots = [...Array(64).keys()]
				.map((i) => Number(isInked(looks[s].pattern, i & 7, i >> 3)))
				.join("");
			return `${dots}/${looks[s].height}`;
		});
		expect(new Set(shapes).size).toBe(shapes.length);
		const patterns: readonly Pattern[] = ["rise", "fall", "dots", "cross"];
		for (const p of patterns)
			expect([...Array(64).keys()].some((i) => !isInked(p, i & 7, i >> 3))).toBe(true);
	});
});

describe("colours", () => {
	it("come out of both forms of the palette", () => {
		expect(parseColour("#010203")).toBe(pack(1, 2, 3));
		expect(parseColour("hsl(0 100% 50%)")).toBe(pack(255, 0, 0));
		expect(parseColour("hsl(240 100% 50%)")).toBe(pack(0, 0, 255));
		expect(mix(pack(255, 0, 0), pack(0, 0, 255), 0.5)).toBe(pack(128, 0, 128));
	});
});
