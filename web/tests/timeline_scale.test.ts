// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { Follow } from "../src/views/timeline/follow";
import { Motion } from "../src/parts/motion";
import { partsOf, stepOf, ticksOf } from "../src/parts/ruler";
import {
	aroundSpan,
	clampSpan,
	formatSpan,
	lengthOf,
	panSpan,
	parseSpan,
	SPAN_MIN_NS,
	toNs,
	toX,
	zoomSpan,
} from "../src/parts/scale";

const bounds = { from: 1e12, to: 1e12 + 600e9 };

describe("the scale", () => {
	it("goes from time to pixel and back", () => {
		const span = { from: 1e12, to: 1e12 + 1e6 };
		expect(toX(span, 1000, 1e12 + 250_000)).toBe(250);
		expect(toNs(span, 1000, 250)).toBe(1e12 + 250_000);
	});
	it("keeps what is under the pointer when it zooms", () => {
		const span = { from: 1e12 + 10e9, to: 1e12 + 20e9 };
		const at = 1e12 + 12e9;
		const next = zoomSpan(span, 0.5, at, bounds);
		expect(toX(next, 1000, at)).toBeCloseTo(toX(span, 1000, at), 6);
		expect(lengthOf(next)).toBe(5e9);
	});
	it("comes no closer than there is anything to see, and goes no wider than the run", () => {
		let span = { from: 1e12, to: 1e12 + 1e9 };
		for (let i = 0; i < 100; i++) span = zoomSpan(span, 0.5, 1e12 + 5e8, bounds);
		expect(lengthOf(span)).toBeGreaterThanOrEqual(SPAN_MIN_NS);
		for (let i = 0; i < 100; i++) span = zoomSpan(span, 3, 1e12 + 5e8, bounds);
		expect(lengthOf(span)).toBeLessThanOrEqual(2 * lengthOf(bounds));
	});
	it("never loses the run out of sight", () => {
		const far = panSpan({ from: 1e12, to: 1e12 + 1e9 }, 1e15, bounds);
		expect(far.from).toBeLessThan(bounds.to);
		const back = panSpan(far, -1e15, bounds);
		expect(back.to).toBeGreaterThan(bounds.from);
		expect(clampSpan(bounds, bounds)).toEqual(bounds);
	});
	it("puts air around what is fitted", () => {
		const s = aroundSpan({ from: 1e12 + 100, to: 1e12 + 200 }, 0.25, bounds);
		expect(s).toEqual({ from: 1e12 + 75, to: 1e12 + 225 });
	});
	it("is written into the address and read from it", () => {
		expect(parseSpan(formatSpan({ from: 12.4, to: 99.6 }))).toEqual({ from: 12, to: 100 });
		for (const bad of ["", "5", "9-5", "5-5", "-1-5", "1e3-9"]) expect(parseSpan(bad)).toBeNull();
	});
});

describe("the ruler", () => {
	it("has steps that people count in, far enough apart", () => {
		for (const length of [100, 3e3, 7e5, 1e7, 2e9, 45e9, 600e9, 86400e9]) {
			const step = stepOf({ from: 0, to: length }, 1000, 100);
			expect((step / length) * 1000).toBeGreaterThanOrEqual(99.999);
			expect((step / length) * 1000).toBeLessThan(600);
		}
		expect(stepOf({ from: 0, to: 600e9 }, 1000, 100)).toBe(60e9);
		expect(stepOf({ from: 0, to: 3e6 }, 1000, 100)).toBe(5e5);
		expect(partsOf(2e6)).toBe(4);
	});
	it("has its marks where they belong", () => {
		const out = new Float64Array(16);
		const n = ticksOf({ from: 1005, to: 1031 }, 10, 1001, out);
		expect([...out.subarray(0, n)]).toEqual([1011, 1021, 1031]);
		expect(ticksOf({ from: 0, to: 1e9 }, 1, 0, out)).toBe(16);
	});
});

describe("motion", () => {
	const held = { left: false, right: true, closer: false, wider: false };
	const none = { left: false, right: false, closer: false, wider: false };
	it("gathers speed and comes to rest", () => {
		const m = new Motion();
		const first = m.step(held, 0.016).pan;
		for (let i = 0; i < 60; i++) m.step(held, 0.016);
		const later = m.step(held, 0.016).pan;
		expect(later).toBeGreaterThan(2 * first);
		expect(m.isResting).toBe(false);
		for (let i = 0; i < 120; i++) m.step(none, 0.016);
		expect(m.isResting).toBe(true);
		expect(m.step(none, 0.016)).toEqual({ pan: 0, zoom: 1 });
	});
	it("goes nowhere when both keys are held", () => {
		const m = new Motion();
		for (let i = 0; i < 50; i++) m.step({ ...held, left: true }, 0.016);
		expect(m.step({ ...held, left: true }, 0.016).pan).toBe(0);
	});
});

describe("following", () => {
	it("moves evenly through bursts", () => {
		const f = new Follow();
		for (let ms = 0; ms < 2000; ms += 100) f.saw((ms - (ms % 300 ? 250 : 120)) * 1e6 + 1e12, ms);
		const a = f.now(2000);
		const b = f.now(2050);
		expect(b - a).toBeGreaterThan(45e6);
		expect(b - a).toBeLessThan(55e6);
		expect(Math.abs(a - (1e12 + 1880e6))).toBeLessThan(30e6);
	});
	it("stops soon when nothing comes", () => {
		const f = new Follow();
		f.saw(5e9, 1000);
		expect(f.now(60_000)).toBe(5e9 + 1.5e9);
	});
});
