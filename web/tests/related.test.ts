// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { isOfKind, relatedRun, runsNow, parseDeviceTime, placeOf } from "../src/api/related";
import type { Run } from "../src/api/schema";

const run = (number: number, device: string, from: number, to: number): Run =>
	({
		run: number,
		device_id: device,
		first: new Date(1e12 + from * 1000).toISOString(),
		last: new Date(1e12 + to * 1000).toISOString(),
		kinds: ["func"],
	}) as unknown as Run;

describe("the run of another kind", () => {
	const runs = [run(9, "b", 0, 50), run(8, "a", 60, 70), run(7, "a", 10, 20)];
	it("is of the same device and time", () => {
		expect(relatedRun(run(1, "a", 0, 30), runs)?.run).toBe(7);
		expect(relatedRun(run(1, "a", 65, 90), runs)?.run).toBe(8);
		expect(relatedRun(run(1, "a", 40, 41), runs)?.run).toBe(8);
	});
	it("is the latest where the device has none", () => {
		expect(relatedRun(run(1, "c", 0, 30), runs)?.run).toBe(9);
		expect(relatedRun(run(1, "c", 0, 30), [])).toBeUndefined();
	});
	it("is not looked for while nobody knows what a run will be", () => {
		expect(isOfKind({ kinds: [] }, "boot")).toBe(true);
		expect(isOfKind({ kinds: ["sched"] }, "boot")).toBe(false);
		expect(isOfKind({ kinds: ["sched", "boot"] }, "boot")).toBe(true);
	});
});

describe("what a device goes on with", () => {
	const sends = (numbers: Record<string, number | null>) => (device: string) => numbers[device] ?? null;
	it("is looked at, also if it began before", () => {
		expect(runsNow([run(8, "a", 0, 1)], sends({ a: 4 }))).toEqual([4]);
		expect(runsNow([run(8, "a", 0, 1)], sends({ a: 9 }))).toEqual([9]);
		expect(runsNow([run(8, "a", 0, 1), run(5, "b", 0, 1)], sends({ a: 4, b: 5 }))).toEqual([4, 5]);
	});
	it("is nothing else where it is shown already, or where nothing is sent", () => {
		expect(runsNow([run(8, "a", 0, 1)], sends({ a: 8 }))).toBeUndefined();
		expect(runsNow([run(8, "a", 0, 1)], sends({ a: null }))).toBeUndefined();
		expect(runsNow([], sends({ a: 8 }))).toBeUndefined();
	});
	it("is shown once", () => {
		expect(runsNow([run(8, "a", 0, 1), run(4, "a", 0, 1)], sends({ a: 4 }))).toEqual([4]);
	});
});

describe("a time of a device", () => {
	const params = (text: string): ReadonlyMap<string, string> => new Map(new URLSearchParams(text));
	it("is read from a link", () => {
		expect(parseDeviceTime(params("device=a&since=60&until=180"))).toEqual({
			device: "a",
			since: 60,
			until: 180,
		});
		for (const bad of [
			"device=a",
			"since=60&until=180",
			"device=a&since=60&until=60",
			"device=a&since=x&until=9",
		])
			expect(parseDeviceTime(params(bad))).toBeNull();
	});
	it("leads to the run that was there then, by its clock", () => {
		const clock = { real_offset_ns: 1e21, error_ns: 1, at_ns: 0 };
		const runs = [
			run(9, "b", 0, 50),
			{ ...run(8, "a", 60, 70), clock: null },
			{ ...run(7, "a", 10, 20), clock },
		] as Run[];
		const at = (from: number, to: number) => ({ device: "a", since: 1e9 + from, until: 1e9 + to });
		expect(placeOf(at(62, 64), runs)).toEqual({ run: 8, from: null, to: null });
		expect(placeOf(at(12, 14), runs)?.run).toBe(7);
		expect(placeOf({ ...at(12, 14), device: "c" }, runs)).toBeNull();
		const near = [{ ...run(7, "a", 10, 20), clock: { ...clock, real_offset_ns: 1e18 } }] as Run[];
		expect(placeOf(at(12, 14), near)).toEqual({ run: 7, from: 12e9, to: 14e9 });
	});
});
