// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { isOfKind, relatedRun } from "../src/api/related";
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
