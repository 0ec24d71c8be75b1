// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { nextPause } from "../src/api/growing";
import type { ProfileNode, ProfileReport, ProfileTimeline } from "../src/api/profile";
import { fullOf, partsOf } from "../src/views/profile/buckets";
import { growForest, valuesOf, withoutNumber } from "../src/views/profile/forest";
import { baseOf, readState, selectionOf } from "../src/views/profile/state";
import { compareRows, numberOf } from "../src/views/profile/table";

const values = (samples: number) => ({ samples, weight: 1000 * samples });

const node = (depth: number, name: string, total: number, self: number): ProfileNode => ({
	depth,
	name,
	object: depth ? "/opt/server" : null,
	self: values(self),
	total: values(total),
});

const NODES = [node(0, "server (42)", 8, 0), node(1, "main", 8, 3), node(2, "read", 5, 5)];

describe("forest", () => {
	it("has a width for each box, in weight or in samples", () => {
		const forest = growForest(NODES);
		expect([...valuesOf(forest, false)]).toEqual([8000, 8000, 8000, 5000]);
		expect([...valuesOf(forest, true)]).toEqual([8, 8, 8, 5]);
	});

	it("compares processes of one name, whatever their numbers are", () => {
		const before = [node(0, "server (7#2)", 4, 0), node(1, "main", 4, 4)];
		const forest = growForest(NODES, before, 1);
		expect(forest.boxes.map((b) => b.name)).toEqual(["", "server", "main", "read"]);
		expect(forest.boxes[2]?.before?.total.samples).toBe(4);
		expect(forest.boxes[3]?.before?.total.samples).toBe(0);
		expect(forest.root.before?.total.samples).toBe(4);
	});

	it("leaves numbers in names of functions", () => {
		expect(withoutNumber("operator() (1)")).toBe("operator()");
		const forest = growForest(NODES, [node(0, "server (42)", 1, 0), node(1, "f (3)", 1, 1)], 1);
		expect(forest.boxes.some((b) => b.name === "f (3)")).toBe(true);
	});
});

describe("overview", () => {
	const timeline = (unit: ProfileTimeline["unit"]): ProfileTimeline => ({
		from_ns: 1000,
		to_ns: 3000,
		width: 2,
		by: "cpu",
		value: "weight",
		unit,
		rows: [{ name: "0", id: 0, object: null, total: 900, modes: { user: [600, 0], kernel: [300, 2000] } }],
		others: 0,
	});

	it("is full where samples stand for all of the time", () => {
		const t = timeline("ns");
		const [row] = t.rows;
		expect(fullOf(t)).toBe(1000);
		const parts = row ? partsOf(row, 0, 1000) : [];
		expect(parts).toEqual([
			{ mode: "user", from: 0, share: 0.6 },
			{ mode: "kernel", from: 0.6, share: 0.3 },
		]);
	});

	it("never leaves its row", () => {
		const t = timeline("ns");
		const [row] = t.rows;
		const sum = (row ? partsOf(row, 1, 1000) : []).reduce((n, p) => n + p.share, 0);
		expect(sum).toBe(1);
	});

	it("takes the fullest piece for full where nobody knows what is possible", () => {
		expect(fullOf(timeline("cycles"))).toBe(2000);
	});
});

describe("tables of two", () => {
	const report = (samples: number, rows: readonly (readonly [string, number])[]): ProfileReport => ({
		report: "profile",
		by: "process",
		totals: {
			total: values(samples),
			unit: "ns",
			period: 1000,
			idle: values(0),
			modes: { idle: 0, kernel: 0, user: samples, guest_kernel: 0, guest_user: 0 },
			left_out: 0,
			from_ns: 0,
			to_ns: 1,
			cpus: 1,
			losses: 0,
			lost: 0,
			lost_unknown: 0,
			least_period: 0,
			most_period: 0,
			uncovered: { total_ns: 1, planned_ns: 0, lost_ns: 0, ratio: 0 },
			cut: false,
		},
		rows: rows.map(([name, n]) => ({
			name,
			object: null,
			self: values(n),
			total: values(n),
			kernel: 0,
			guest: 0,
		})),
		more: 0,
	});

	it("compares shares", () => {
		const rows = compareRows(
			report(10, [
				["sh (1)", 5],
				["cc (2)", 5],
			]),
			report(100, [["sh (9)", 75]]),
			"ns",
		);
		const sh = rows.find((r) => r.name === "sh");
		expect(sh?.self).toMatchObject({ before: 0.5, after: 0.75, kind: "more" });
		expect(rows.find((r) => r.name === "cc")?.self.kind).toBe("gone");
	});

	it("adds up processes of one name", () => {
		const rows = compareRows(
			report(10, []),
			report(10, [
				["sh (1)", 2],
				["sh (3)", 3],
			]),
			"samples",
		);
		expect(rows).toHaveLength(1);
		expect(rows[0]?.self).toMatchObject({ after: 0.5, kind: "new" });
	});

	it("finds the number of a process", () => {
		expect(numberOf("server (42)")).toBe("42");
		expect(numberOf("server (42#2)")).toBe("42");
		expect(numberOf("[kernel]")).toBe("");
	});
});

describe("state", () => {
	it("takes what means nothing for the usual", () => {
		const s = readState(
			new Map([
				["tab", "nonsense"],
				["groups", "x"],
				["mode", "y"],
				["from", "-1"],
			]),
		);
		expect(s).toMatchObject({ tab: "graph", groups: "process", mode: "", from: null });
	});

	it("compares with the same threads only within one run", () => {
		const s = readState(
			new Map([
				["base", "7"],
				["process", "42"],
				["mode", "kernel"],
			]),
		);
		expect(selectionOf(s, 7).process).toBe("42");
		expect(baseOf(s, 7)).toMatchObject({ run: 7, process: "42", mode: "kernel" });
		expect(baseOf(s, 8)).toMatchObject({ run: 7, process: "", mode: "kernel" });
	});
});

describe("a run that grows", () => {
	it("is asked for less and less often while nothing comes, and often again when something did", () => {
		let pause = 2000;
		const pauses = [false, false, false, false, false].map((grew) => (pause = nextPause(pause, grew)));
		expect(pauses).toEqual([4000, 8000, 16_000, 30_000, 30_000]);
		expect(nextPause(pause, true)).toBe(2000);
	});
});
