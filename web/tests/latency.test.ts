// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { formatAfterStart, parseRange, queryOf } from "../src/api/extent";
import type { Bucket, Waits, WorstCase } from "../src/api/latency";
import { drawSvg } from "../src/app/picture";
import { formatOrder, parseOrder } from "../src/parts/table";
import { drawChart, type Chart } from "../src/views/latency/draw";
import {
	axisOf,
	barsOf,
	bucketAt,
	countTicks,
	marksOf,
	nsAt,
	shareUpTo,
	timeTicks,
	xOf,
	yOf,
} from "../src/views/latency/histogram";
import { matchesTask } from "../src/views/latency/task_table";
import { sharesOf, windowOf } from "../src/views/latency/worst";

const buckets: readonly Bucket[] = [
	{ from_ns: 1024, to_ns: 2048, waits: 1 },
	{ from_ns: 2048, to_ns: 4096, waits: 1000 },
	{ from_ns: 8192, to_ns: 16384, waits: 10 },
];
const waits: Waits = {
	...{ waits: 1011, total_ns: 3e6, min_ns: 1100, avg_ns: 3000, p50_ns: 3000, p90_ns: 3500, p99_ns: 9000 },
	...{ p999_ns: 16000, max_ns: 16100, unknown: 0, inferred: 0, never_ran: 0, unseen: 0, histogram: buckets },
};
const box = { x: 50, y: 10, width: 400, height: 100 };

describe("times of a run", () => {
	it("are exact lengths after its first event", () => {
		expect(formatAfterStart(0)).toBe("+0s");
		expect(formatAfterStart(1_000_000_250)).toBe("+1.00000025s");
		expect(formatAfterStart(70_534_528_802_690)).toBe("+70534.52880269s");
	});
	it("outside of it are left away, so that a live end stays open", () => {
		const extent = { fromNs: 1000, toNs: 5000 };
		expect(queryOf(extent, { from: 500, to: 6000 })).toEqual({});
		expect(queryOf(extent, { from: 1500, to: 5000 })).toEqual({ from: "+0.0000005s", to: "+0.000004s" });
		expect(
			parseRange(
				new Map([
					["from", "12"],
					["to", "x"],
				]),
			),
		).toEqual({ from: 12, to: null });
	});
});

describe("the histogram", () => {
	const a = axisOf(buckets, 16100, true, box);

	it("has a logarithmic axis with all waits on it", () => {
		expect([a.fromNs, a.toNs]).toEqual([1024, 16384]);
		expect(xOf(a, 1024)).toBe(50);
		expect(xOf(a, 16384)).toBe(450);
		expect(xOf(a, 4096)).toBeCloseTo(250);
		expect(nsAt(a, 250)).toBeCloseTo(4096);
		expect(timeTicks(a)).toEqual([10_000]);
	});
	it("shows one wait among a thousand", () => {
		const [one, most] = barsOf(a, buckets);
		expect(one?.height).toBeGreaterThan(5);
		expect(most?.height).toBeCloseTo(100);
		expect(yOf({ ...a, logarithmic: false }, 500)).toBeCloseTo(60);
		expect(countTicks(a)).toEqual([1, 10, 100, 1000]);
		expect(countTicks({ ...a, logarithmic: false })).toEqual([0, 500, 1000]);
	});
	it("knows what is under the pointer", () => {
		expect(bucketAt(a, buckets, xOf(a, 3000))?.waits).toBe(1000);
		expect(bucketAt(a, buckets, xOf(a, 5000))).toBeUndefined();
		expect(bucketAt(a, buckets, 10)).toBeUndefined();
		const second = buckets[1];
		expect(second && shareUpTo(buckets, second)).toBeCloseTo(1001 / 1011);
	});
	it("marks percentiles with labels that do not touch and do not leave the picture", () => {
		const long = (t: string): number => 7 * t.length;
		const marks = marksOf(a, waits, 460, long);
		expect(marks.map((m) => m.text.split(" ")[0])).toEqual(["p50", "p90", "p99", "p99.9", "max"]);
		for (const m of marks) expect(m.left + long(m.text)).toBeLessThanOrEqual(460);
		for (const m of marks)
			for (const n of marks)
				if (m !== n && m.row === n.row)
					expect(m.left + long(m.text) <= n.left || n.left + long(n.text) <= m.left).toBe(true);
		expect(marksOf(a, { ...waits, waits: 0 }, 460, long)).toEqual([]);
	});
	it("is drawn with and without anything in it", () => {
		const colours = {
			ground: "#fff",
			text: "#000",
			quiet: "#555",
			line: "#ccc",
			bar: "#88f",
			chosen: "#00f",
		};
		const size = { width: 500, height: 200, title: "<board>", logarithmic: true, colours, hover: null };
		const draw = (c: Chart): string =>
			drawSvg({ width: 500, height: 200, ground: "#fff", draw: (pen) => drawChart(pen, c) });
		const text = draw({ ...size, all: waits, chosen: null });
		expect(text.match(/fill="#88f"/g)?.length).toBe(3);
		expect(text).toContain("&lt;board&gt;");
		expect(text).toContain("p99.9 16.0 µs");
		const empty = { ...waits, waits: 0, max_ns: 0, histogram: [] };
		expect(draw({ ...size, all: empty, chosen: null })).not.toMatch(/NaN|Infinity/);
	});
});

describe("a long wait", () => {
	const c: WorstCase = {
		...{ pid: 7, comm: "a", cpu: 0, target_cpu: null, from_ns: 100_000, to_ns: 200_000, wait_ns: 100_000 },
		waker: { pid: 0, comm: "", cpu: 1 },
		ran_instead: [{ pid: 8, comm: "b", from_ns: 100_000, to_ns: 150_000, ns: 30_000 }],
		...{ others_ns: 60_000, idle_ns: 0, unknown_ns: 10_000 },
	};
	it("has who had the CPU, the most first, and nothing that is nothing", () => {
		expect(sharesOf(c).map((s) => [s.kind, s.ns])).toEqual([
			["others", 60_000],
			["task", 30_000],
			["unknown", 10_000],
		]);
	});
	it("lies in the middle of what the timeline shows", () => {
		expect(windowOf(c)).toEqual({ from: 50_000, to: 250_000 });
		expect(windowOf({ from_ns: 5, to_ns: 6 })).toEqual({ from: 0, to: 10_006 });
	});
});

describe("tasks", () => {
	it("are found by name and by whole pid", () => {
		expect(matchesTask({ pid: 12, comm: "Nginx" }, " ngi ")).toBe(true);
		expect(matchesTask({ pid: 12, comm: "x" }, "12")).toBe(true);
		expect(matchesTask({ pid: 123, comm: "x" }, "12")).toBe(false);
	});
	it("have an order that goes through the address", () => {
		expect(parseOrder("")).toBeNull();
		for (const order of [
			{ column: "max", falling: true },
			{ column: "comm", falling: false },
		])
			expect(parseOrder(formatOrder(order))).toEqual(order);
	});
});
