// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { formatLength, formatOffset } from "../src/parts/format";
import { nameOf, plain, shorten } from "../src/parts/text";

describe("names", () => {
	it("hide nothing", () => {
		expect(plain("a\u202eb")).toBe("a⟨202E⟩b");
		expect(plain("\u0007x\u007f\u0085")).toBe("␇x␡⟨85⟩");
		expect(plain("<b>&日本😀")).toBe("<b>&日本😀");
		expect(nameOf("", 7)).toBe("pid 7");
	});
	it("are cut between characters", () => {
		expect(shorten("😀😀😀", 2)).toBe("😀…");
		expect(shorten("abc", 3)).toBe("abc");
	});
});

describe("lengths", () => {
	it("have three digits and a unit", () => {
		expect([0, 7, 1234, 45_600, 999_000_000].map(formatLength)).toEqual([
			"0",
			"7 ns",
			"1.23 µs",
			"45.6 µs",
			"999 ms",
		]);
		expect(formatLength(90e9)).toBe("1 min 30.0 s");
		expect(formatLength(26 * 60e9 - 5e6)).toBe("26 min 0.0 s");
	});
	it("show as many digits as the zoom tells apart", () => {
		expect(formatOffset(1_234_567_890, 1e6)).toBe("+1.235 s");
		expect(formatOffset(1_234_567_890, 1)).toBe("+1.234567890 s");
	});
});
