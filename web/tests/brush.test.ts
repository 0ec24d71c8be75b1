// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { spanOf, stepOf } from "../src/parts/brush";
import { contrast, inkOn } from "../src/parts/ink";
import { placeBeside } from "../src/parts/tip";

const extent = { from: 1000, to: 2000 };

describe("a part of a stretch of time", () => {
	it("has its ends in order and within it", () => {
		expect(spanOf(1500, 1200, extent)).toEqual({ from: 1200, to: 1500 });
		expect(spanOf(0, 1500, extent)).toEqual({ from: 1000, to: 1500 });
	});
	it("is null when it is everything or nothing", () => {
		expect(spanOf(0, 9999, extent)).toBeNull();
		expect(spanOf(1500, 1500, extent)).toBeNull();
	});
	it("moves by keys, and stops at its ends", () => {
		expect(stepOf("ArrowRight", 1500, extent)).toBe(1510);
		expect(stepOf("PageDown", 1050, extent)).toBe(1000);
		expect(stepOf("End", 1500, extent)).toBe(2000);
		expect(stepOf("x", 1500, extent)).toBeNull();
	});
});

describe("ink", () => {
	it("can be read on any ground", () => {
		for (let hue = 0; hue < 360; hue += 7)
			for (let light = 0; light <= 100; light += 5) {
				const ground = `hsl(${hue} 55% ${light}%)`;
				expect(contrast(ground, inkOn(ground))).toBeGreaterThan(4.5);
			}
		expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
	});
});

describe("a tip", () => {
	it("stays in the window and off the pointer", () => {
		expect(placeBeside(100, 50, 1000)).toBe(114);
		expect(placeBeside(980, 50, 1000)).toBe(916);
		expect(placeBeside(10, 2000, 1000)).toBe(0);
	});
});
