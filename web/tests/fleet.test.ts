// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import type { FleetDiff, FleetTrend, LabelTable } from "../src/api/fleet";
import type { ProfileNode } from "../src/api/profile";
import type { Device } from "../src/api/schema";
import { formatField, parseField } from "../src/parts/moment_input";
import { changesOf } from "../src/views/fleet/labels";
import { loadOf } from "../src/views/fleet/pipeline";
import {
	belowProcess,
	comparedOfDiff,
	comparedOfNodes,
	rowsOfNodes,
	sidesOf,
	sumOf,
} from "../src/views/fleet/rows";
import { withEnd } from "../src/views/fleet/selection";
import { diffQuery, isBaseFit, isCompared, rangeQuery, readState } from "../src/views/fleet/state";
import { lineOf, placesOf, topOf, type Frame } from "../src/views/fleet/trend";
import { fitsPattern, NAMED_MAX, whichDevices } from "../src/views/fleet/which";

const stateOf = (text: string) => readState(new Map(new URLSearchParams(text)));

const device = (name: string, id: string, group: string | null = null): Device =>
	({ name, id: id.padEnd(32, "0"), group }) as unknown as Device;

const DEVICES = [
	device("web-1", "aaaaaa1", "rack 1"),
	device("web-2", "bbbbbb2"),
	device("db-1", "cccccc3", "rack 1"),
];
const LABELS: LabelTable = new Map([
	[DEVICES[0]?.id ?? "", { env: "prod", build: "1.4" }],
	[DEVICES[1]?.id ?? "", { env: "prod", build: "1.5" }],
]);
const which = (text: string) => whichDevices(text, DEVICES, LABELS);
const names = (text: string) => which(text).devices.map((d) => d.name);

describe("which devices", () => {
	it("are all of them when nothing is said", () => {
		expect(which(" , ")).toEqual({ query: "", devices: DEVICES, problem: "" });
	});
	it("leaves to the collector what it understands", () => {
		expect(which("env=prod, build=1.5").query).toBe("env=prod,build=1.5");
		expect(which("web-1,nobody").query).toBe("web-1,nobody");
		expect(names("env=prod,build=1.5")).toEqual(["web-2"]);
		expect(names("cccccc3")).toEqual(["db-1"]);
	});
	it("looks patterns and groups up", () => {
		expect(which("web-*").query).toBe("aaaaaa100000,bbbbbb200000");
		expect(names("build=1.?")).toEqual(["web-1", "web-2"]);
		expect(names("group=RACK*")).toEqual(["web-1", "db-1"]);
		expect(names("group=rack 1,web*")).toEqual(["web-1"]);
		expect(which("*").query).toBe("");
	});
	it("says when there is none, and when there is no room for all", () => {
		expect(which("x*").problem).toBe("none");
		const many = Array.from({ length: NAMED_MAX + 2 }, (_, i) => device(`n${i}`, String(100000 + i)));
		expect(whichDevices("n?*,n", many.slice(1), LABELS).problem).toBe("");
		expect(whichDevices("n1*,n2*,n3*,n4*,n5*,n6*,n7*,n8*,n9*", many, LABELS).problem).toBe("many");
	});
	it("takes a pattern's other characters as they are", () => {
		expect(fitsPattern("a.b", "axb")).toBe(false);
		expect(fitsPattern("f(*)", "F(1)")).toBe(true);
		expect(fitsPattern("[ab]", "a")).toBe(false);
	});
});

describe("the state", () => {
	it("takes nothing that means nothing", () => {
		const s = stateOf("tab=x&kind=sched&by=machine&last=3y&since=9&until=5&base=x");
		expect([s.tab, s.kind, s.by, s.last, s.span, s.base]).toEqual([
			"top",
			"profile",
			"function",
			"1h",
			null,
			"",
		]);
		expect(stateOf("kind=vm&by=machine").by).toBe("machine");
	});
	it("asks for a length of time, or for a span", () => {
		expect(rangeQuery(stateOf("last=24h"))).toEqual({ last: "24h" });
		expect(rangeQuery(stateOf("last=24h&since=100&until=160"))).toEqual({ from: "@100", to: "@160" });
	});
	it("compares so that the sides do not meet", () => {
		expect(diffQuery(stateOf("base=before"), "d", "")).toEqual({ devices: "d", last: "1h", at: "-1h" });
		expect(diffQuery(stateOf("base=before&since=100&until=160"), "", "")).toEqual({
			...{ devices: "", from: "@100", to: "@160", with_from: "@40", with_to: "@100" },
		});
		expect(diffQuery(stateOf("base=day"), "", "")).toEqual({ devices: "", last: "1h", with_to: "-24h" });
		expect(diffQuery(stateOf("base=devices&basedevices=b"), "a", "b")).toEqual({
			...{ devices: "a", last: "1h", with_devices: "b" },
		});
	});
	it("reads the link of an alert with what was before as before", () => {
		const s = stateOf("since=1200&until=1320&base=time&basesince=600&baseuntil=1200");
		expect(isCompared(s)).toBe(true);
		expect(diffQuery(s, "", "")).toEqual({
			...{ devices: "", from: "@1200", to: "@1320", with_from: "@600", with_to: "@1200" },
		});
	});
	it("does not compare two days with a day earlier, nor with devices that nobody named", () => {
		expect(isBaseFit(stateOf("last=7d"), "day")).toBe(false);
		expect(isCompared(stateOf("last=7d&base=day"))).toBe(false);
		expect(isCompared(stateOf("base=devices"))).toBe(false);
		expect(isCompared(stateOf("base=time"))).toBe(false);
	});
	it("keeps a span a span when one end is moved over the other", () => {
		expect(withEnd({ since: 100, until: 200 }, "since", 300)).toEqual({ since: 300, until: 360 });
		expect(withEnd({ since: 100, until: 200 }, "until", 90)).toEqual({ since: 30, until: 90 });
	});
	it("has moments by the viewer's clock, and back", () => {
		expect(parseField(formatField(1763200020))).toBe(1763200020);
		expect(parseField("")).toBeNull();
		expect(parseField("2026-99-99T10:00")).toBeNull();
	});
});

const node = (depth: number, name: string, object: string, total: number, self = 0): ProfileNode => ({
	...{ depth, name, object },
	self: { samples: self, weight: 1000 * self },
	total: { samples: total, weight: 1000 * total },
});

const NODES = [
	node(0, "sh", "process", 8),
	node(1, "main", "sh", 8, 2),
	node(2, "main", "sh", 5, 3),
	node(3, "malloc", "libc", 2, 2),
	node(2, "malloc", "libc", 1, 1),
	node(0, "cat", "process", 4),
	node(1, "main", "cat", 4, 4),
];

describe("rows", () => {
	it("are of some processes only", () => {
		expect(sumOf(belowProcess(NODES, "s*")).samples).toBe(8);
		expect(belowProcess(NODES, "cat").map((n) => n.name)).toEqual(["cat", "main"]);
		expect(belowProcess(NODES, "").length).toBe(NODES.length);
	});
	it("finds processes below machines, and makes them the outermost", () => {
		const nodes = [
			node(0, "one", "machine", 3),
			node(1, "sh", "process", 3),
			node(2, "guest", "class", 3, 3),
		];
		expect(belowProcess(nodes, "sh").map((n) => n.depth)).toEqual([0, 1]);
	});
	it("counts recursion once", () => {
		const rows = rowsOfNodes(NODES, "function").map((r) => [
			r.name,
			r.object,
			r.self.samples,
			r.total.samples,
		]);
		expect(rows).toEqual([
			["main", "sh", 5, 8],
			["main", "cat", 4, 4],
			["malloc", "libc", 3, 3],
		]);
		expect(rowsOfNodes(NODES, "object").find((r) => r.name === "libc")?.total.samples).toBe(3);
		expect(rowsOfNodes(NODES, "process").map((r) => [r.name, r.self.samples])).toEqual([
			["sh", 8],
			["cat", 4],
		]);
	});
	it("compares shares of what each side has", () => {
		const values = (n: number) => ({ samples: n, ns: 1000 * n });
		const row = (n: number) => ({ name: "f", object: "x", self: values(n), total: values(n) });
		const diff = {
			before: { all: values(100) },
			after: { all: values(50) },
			changes: [{ name: "f", object: "x", before: row(10), after: row(10) }],
		} as unknown as FleetDiff;
		expect(comparedOfDiff(diff, false)[0]?.self).toMatchObject({ before: 0.1, after: 0.2, kind: "more" });
	});
	it("takes both sides of a tree apart", () => {
		const figures = (n: number) => ({ self: { samples: n, ns: n }, total: { samples: n, ns: n } });
		const sides = sidesOf([
			{ depth: 0, name: "sh", object: "process", before: figures(4), after: figures(4) },
			{ depth: 1, name: "old", object: "sh", before: figures(4), after: figures(0) },
			{ depth: 1, name: "new", object: "sh", before: figures(0), after: figures(4) },
		]);
		expect(sides.after.map((n) => n.name)).toEqual(["sh", "new"]);
		const rows = comparedOfNodes(sides, "function", false);
		expect(rows.map((r) => [r.name, r.self.kind])).toEqual([
			["old", "gone"],
			["new", "new"],
		]);
	});
});

describe("a trend", () => {
	const point = (minute: number, self: number, all: number) => ({
		...{ at: new Date(60_000 * minute).toISOString(), length_s: 60, sets: 1, covered_ns: 0 },
		...{
			self: { samples: self, ns: self },
			total: { samples: self, ns: self },
			all: { samples: all, ns: all },
		},
	});
	const trend = {
		points: [point(0, 1, 10), point(1, 2, 10), point(2, 0, 0), point(5, 5, 10)],
	} as unknown as FleetTrend;
	const frame: Frame = { from: 0, to: 360, top: 0.5, width: 360, height: 100 };

	it("is of shares, and of nothing where nothing was recorded", () => {
		expect(placesOf(trend, false).map((p) => p.self)).toEqual([0.1, 0.2, 0.5]);
	});
	it("has a gap where minutes are missing", () => {
		const line = lineOf(placesOf(trend, false), "self", frame);
		expect(line).toBe("M15.0 80.0L30.0 80.0L90.0 60.0M315.0 0.0L330.0 0.0");
	});
	it("has a scale with a round end, never beyond all", () => {
		const tops = [0, 0.013, 0.2, 0.21, 0.9].map((n) => Number(topOf(n).toFixed(6)));
		expect(tops).toEqual([0.01, 0.015, 0.2, 0.3, 1]);
	});
});

describe("labels", () => {
	it("tells only what changed", () => {
		const next = [
			["a", "1"],
			["b", "3 "],
			[" ", "x"],
			["d", "4"],
		] as const;
		expect(changesOf({ a: "1", b: "2", c: "9" }, next)).toEqual({ c: null, b: "3", d: "4" });
	});
});

describe("the pipeline", () => {
	it("says what part of a round is in use, once it was measured", () => {
		const pace = { hosts: 10, t0_s: 1, t1_s: 59, t2_s: 2, holds: true, hosts_max: 20 };
		expect(loadOf(pace)).toBeCloseTo(0.5);
		expect(loadOf({ ...pace, t1_s: 0 })).toBeNull();
	});
});
