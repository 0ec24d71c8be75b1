// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { CLASSES, type Class, type GuestRow, type Machine, type VmSlices } from "../src/api/vm";
import { contrast } from "../src/parts/ink";
import { growForest, valuesOf, type Names } from "../src/views/vm/forest";
import { classesOf, culpritRows, firstBehind, lanesOf, pieceAt } from "../src/views/vm/lanes";
import { layOut, rowAt } from "../src/views/vm/layout";
import { LOOKS } from "../src/views/vm/looks";
import { parseChosen, partOf, readState, spanOf } from "../src/views/vm/state";

const number = (cls: Class): number => CLASSES.indexOf(cls);
const merged = (parts: Partial<Record<Class, number>>): number[] => CLASSES.map((c) => parts[c] ?? 0);

const SLICES: VmSlices = {
	run: 3,
	from_ns: 1000,
	to_ns: 2000,
	min_ns: 1,
	final: true,
	classes: [...CLASSES],
	kinds: ["unknown", "idle", "vcpu", "other"],
	places: [{ vm: 400, process: "web (1)", thread: "web (1)", function: "f", object: "web", kernel: false }],
	exits: ["data abort"],
	tasks: [
		{ tid: 501, pid: 500, comm: "CPU 0/KVM", vcpu: 0 },
		{ tid: 9, pid: 9, comm: "sh", vcpu: null },
		{ tid: 0, pid: 0, comm: "swapper/0", vcpu: null },
	],
	vcpus: [
		{
			...{ vm: 500, name: "two", vcpu: 0, tid: 501, comm: "", from_ns: 1000, to_ns: 2000, ended: false },
			spans: [[0, 1000, number("halt"), -1, -1]],
			merged: [],
		},
		{
			...{ vm: 400, name: "one", vcpu: 0, tid: 401, comm: "", from_ns: 1000, to_ns: 2000, ended: false },
			spans: [
				[0, 200, number("guest"), 0, 0],
				[400, 300, number("steal"), 0, 0],
				[700, 300, number("waiting"), 1, 1],
			],
			merged: [[200, 200, ...merged({ guest: 50, "vmm-kernel": 150 })]],
		},
	],
	cpus: [
		{
			...{ cpu: 0, from_ns: 1000, to_ns: 2000 },
			spans: [
				[0, 400, 1],
				[700, 200, 2],
				[900, 100, -1],
			],
			merged: [[400, 300, 0, 100, 200, 0]],
		},
	],
};

describe("lanes", () => {
	const lanes = lanesOf(SLICES);
	const one = lanes.vcpus[0];

	it("stand machine by machine", () => {
		expect(lanes.vcpus.map((l) => l.id)).toEqual(["t401", "t501"]);
		expect(lanes.cpus.map((l) => l.id)).toEqual(["c0"]);
	});

	it("are spans and what was merged, in order of time and without gaps", () => {
		const ends = one?.pieces.map((p) => [p.from, p.to]);
		expect(ends).toEqual([
			[1000, 1200],
			[1200, 1400],
			[1400, 1700],
			[1700, 2000],
		]);
		expect(one?.pieces.map((p) => p.cls)).toEqual(["guest", "vmm-kernel", "steal", "waiting"]);
	});

	it("know what each class is about", () => {
		expect(one?.pieces[0]?.place?.function).toBe("f");
		expect(one?.pieces[2]?.culprit?.tid).toBe(501);
		expect(one?.pieces[2]?.place).toBeNull();
		expect(lanes.cpus[0]?.pieces.map((p) => p.kind)).toEqual(["other", "vcpu", "idle", "unknown"]);
	});

	it("find a moment, and nothing where nothing is", () => {
		expect(pieceAt(one?.pieces ?? [], 1399)?.cls).toBe("vmm-kernel");
		expect(pieceAt(one?.pieces ?? [], 1400)?.cls).toBe("steal");
		expect(pieceAt(one?.pieces ?? [], 2000)).toBeNull();
		expect(firstBehind(one?.pieces ?? [], 999)).toBe(0);
	});

	it("lead to who had the CPU", () => {
		const rows = one?.pieces.map((p) => culpritRows(p).join());
		expect(rows?.slice(2)).toEqual(["c0,t501", "c1"]);
	});

	it("add up to the time, whatever part of it is looked at", () => {
		const sum = (from: number, to: number): number =>
			one ? classesOf(one, from, to).reduce((a, b) => a + b, 0) : 0;
		expect(sum(1000, 2000)).toBe(1000);
		expect(sum(1100, 1300)).toBe(200);
		expect(one && classesOf(one, 1200, 1300)[number("guest")]).toBe(25);
	});
});

describe("layout", () => {
	it("has a caption above each machine and above the physical CPUs", () => {
		const layout = layOut(lanesOf(SLICES));
		expect(layout.rows.map((r) => r.lane?.id ?? `[${r.vm}]`)).toEqual([
			...["[400]", "t401", "[500]", "t501", "[null]", "c0"],
		]);
		expect(rowAt(layout, layout.rows[3]?.top ?? 0)?.lane?.id).toBe("t501");
		expect(rowAt(layout, layout.height)).toBeNull();
	});
});

describe("the synthetic stack", () => {
	const classes = (parts: Partial<Record<Class, number>>): Machine["classes_ns"] =>
		Object.fromEntries(CLASSES.map((c) => [c, parts[c] ?? 0])) as Machine["classes_ns"];
	const machine: Machine = {
		vm: 400,
		name: "one",
		wall_ns: 1000,
		classes_ns: classes({ guest: 500, steal: 200, waiting: 50, "vmm-kernel": 80, "vmm-user": 20, halt: 150 }),
		steal1_ns: 250,
		steal2_ns: 100,
		sampling_ns: 0,
		entries: 1,
		vcpus: [],
	};
	const row = (fn: string, parts: readonly [number, number, number]): GuestRow => ({
		...{ vm: 400, process: "web (1)", thread: "web (1)", function: fn, object: "web", kernel: false },
		...{ samples: 3, error_ns: 1, apparent_ns: parts[0] + parts[1] + parts[2] },
		...{ true_ns: parts[0], steal1_ns: parts[1], steal2_ns: parts[2] },
	});
	const names: Names = { machine: (_, n) => n ?? "", cls: (c) => c, nobody: "nobody's" };
	const rows = [row("f", [300, 100, 40]), row("g", [200, 0, 10])];
	const path = (forest: ReturnType<typeof growForest>, name: string): string => {
		const box = forest.boxes.find((b) => b.name === name);
		return box?.parent ? `${path(forest, box.parent.name)};${name}` : "";
	};

	it("is the machine's wall time, with what nobody has", () => {
		const forest = growForest([machine], rows, names, true);
		expect(forest.root.ns).toBe(1000);
		const nobody = forest.boxes.find((b) => b.name === "nobody's");
		expect(nobody?.ns).toBe(150 + 50);
		expect(path(forest, "g")).toBe(";one;web (1);guest;web;g");
		expect(valuesOf(forest)[0]).toBe(1000);
	});

	it("can do without idle time", () => {
		const forest = growForest([machine], rows, names, false);
		expect(forest.root.ns).toBe(850);
		expect(forest.boxes.some((b) => b.name === "halt")).toBe(false);
	});

	it("has children that fill no more than their parents", () => {
		for (const box of growForest([machine], rows, names, true).boxes)
			expect(box.children.reduce((n, c) => n + c.ns, 0)).toBeLessThanOrEqual(box.ns);
	});
});

describe("looks", () => {
	it("can be told from the ground in both themes", () => {
		for (const cls of CLASSES) {
			expect(contrast(LOOKS[cls].light, "#ffffff"), cls).toBeGreaterThan(3);
			expect(contrast(LOOKS[cls].dark, "#16191d"), cls).toBeGreaterThan(3);
		}
	});

	it("differ without colour: no two classes have one pattern and one height", () => {
		const seen = CLASSES.map((c) => `${LOOKS[c].pattern} ${LOOKS[c].height}`);
		expect(new Set(seen).size).toBe(CLASSES.length);
	});
});

describe("state", () => {
	it("reads moments of rows as the timeline writes them", () => {
		expect(parseChosen("3.t401@1500")).toEqual({ lane: "t401", ns: 1500 });
		expect(parseChosen("3.c0@1500")).toEqual({ lane: "c0", ns: 1500 });
		expect(parseChosen("3.p7@1500")).toBeNull();
	});

	it("is about the mark, else what is in sight, else all", () => {
		const at = (entries: [string, string][]) =>
			partOf(spanOf(readState(new Map(entries)), { from: 1, to: 2 }), 3);
		const sight: [string, string][] = [
			["from", "10"],
			["to", "20"],
		];
		expect(at([...sight, ["mark", "12-14"]])).toEqual({ run: 3, from: 12, to: 14 });
		expect(at(sight)).toEqual({ run: 3, from: 10, to: 20 });
		expect(at([...sight, ["follow", "1"]])).toEqual({ run: 3, from: 1, to: 2 });
		expect(at([...sight, ["follow", "1"], ["mark", "12-14"]])).toEqual({ run: 3, from: 12, to: 14 });
		expect(
			at([
				["from", "20"],
				["to", "10"],
			]),
		).toEqual({ run: 3, from: null, to: null });
	});
});
