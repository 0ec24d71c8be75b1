// SPDX-License-Identifier: MIT
import { describe, expect, it, vi } from "vitest";

// The chart itself needs a browser; only what is around it is tested here.
vi.mock("../chart/mount.js", () => ({ mount: () => null }));
vi.mock("../chart/style.css", () => ({}));

import { isSame, spanOf } from "../src/views/boot/chart";
import { formatDifference } from "../src/views/boot/diff";
import { formatBoot, stretchOf } from "../src/views/boot/moment";
import { readState, tabsOf } from "../src/views/boot/state";

const all = { from: 0, to: 7e9 };

describe("what is in sight of a boot", () => {
	it("is counted from the boot's start on the axis, and by its clock in the address", () => {
		expect(spanOf({ from: 3e9, to: 4e9 }, 1e9, all)).toEqual({ from: 2e9, to: 3e9 });
		expect(spanOf({ from: null, to: 4e9 }, 1e9, all)).toEqual({ from: 0, to: 3e9 });
	});
	it("is everything when the address means nothing of this boot", () => {
		expect(spanOf({ from: 90e9, to: 91e9 }, 1e9, all)).toEqual(all);
		expect(spanOf({ from: 4e9, to: 3e9 }, 1e9, all)).toEqual(all);
	});
	it("is the same within what rounding does", () => {
		expect(isSame(all, { from: 0.4, to: 7e9 - 0.4 })).toBe(true);
		expect(isSame(all, { from: 0, to: 6.9e9 })).toBe(false);
	});
});

describe("times of a boot", () => {
	it("have milliseconds", () => {
		expect(formatBoot(7_000_000_000)).toBe("7.000 s");
		expect(formatBoot(1_234_567_890)).toBe("1.235 s");
	});
	it("are found in the timeline by the other clock, with something around them", () => {
		expect(stretchOf(1e9, 3e9, 5e9)).toEqual({ from: 5.9e9, to: 8.1e9 });
		expect(stretchOf(0, 0, 0)).toEqual({ from: 0, to: 1e6 });
	});
	it("differ with a sign", () => {
		expect(formatDifference(1_500_000)).toBe("▲ +1.50 ms");
		expect(formatDifference(-1_500_000)).toBe("▼ −1.50 ms");
		expect(formatDifference(0)).toBe("");
	});
});

describe("the address of a boot", () => {
	const read = (text: string) => readState(new Map(new URLSearchParams(text)));
	it("has differences only where there are two", () => {
		expect(tabsOf(false)).not.toContain("diff");
		expect(read("tab=diff").tab).toBe("chart");
		expect(read("tab=diff&base=3")).toMatchObject({ tab: "diff", base: 3 });
	});
	it("takes what means nothing for the usual", () => {
		expect(read("base=x&pid=-1&of=9")).toMatchObject({ base: null, pid: null, of: 0, sampled: false });
	});
});
