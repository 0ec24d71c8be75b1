// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { Malformed, Reader } from "../src/api/reader";

const bytes = (...b: number[]): Reader => new Reader(Uint8Array.from(b));

describe("Reader", () => {
	it("reads numbers of any length up to 53 bits", () => {
		expect(bytes(0).number()).toBe(0);
		expect(bytes(0x7f).number()).toBe(127);
		expect(bytes(0x80, 0x01).number()).toBe(128);
		expect(bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f).number()).toBe(Number.MAX_SAFE_INTEGER);
	});
	it("reads zigzag numbers", () => {
		expect([0, 1, 2, 3].map((n) => bytes(n).signed())).toEqual([0, -1, 1, -2]);
	});
	it("refuses what ends too early or says too much", () => {
		expect(() => bytes(0x80).number()).toThrow(Malformed);
		expect(() => bytes(...Array<number>(11).fill(0x80)).number()).toThrow(Malformed);
		expect(() => bytes(5, 1, 2).count(1)).toThrow(Malformed);
		expect(() => bytes(2, 65).string()).toThrow(Malformed);
		expect(() => bytes(75, 83).magic("KSL1")).toThrow(Malformed);
	});
	it("shows bytes that are no text as such", () => {
		expect(bytes(3, 65, 0xff, 66).string()).toBe("A\ufffdB");
	});
});
