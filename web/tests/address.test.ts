// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { formatAddress, parseAddress, parseTime } from "../src/app/address";

describe("address", () => {
	it("comes back as it went out, with any characters in it", () => {
		const params = new Map([
			["task", "a&b=c#d?é<script>\u202e"],
			["run", "3,4"],
		]);
		expect(parseAddress(formatAddress({ view: "timeline", params }))).toEqual({ view: "timeline", params });
	});
	it("takes what people type", () => {
		expect(parseAddress("")).toEqual({ view: "", params: new Map() });
		expect(parseAddress("#log?x").params.get("x")).toBe("");
	});
	it("takes no time that is none", () => {
		expect(parseTime("12345678901")).toBe(12345678901);
		for (const text of ["", "-1", "1e9", "0x10", "12345678901234567890"]) expect(parseTime(text)).toBeNull();
	});
});
