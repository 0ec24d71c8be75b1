// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { shareOf, trimUses } from "../src/api/history";
import { fateOf, split } from "../src/api/instruct";
import type { Device } from "../src/api/schema";
import { Series, spark } from "../src/parts/series";
import { quoteShell } from "../src/parts/shell";
import {
	bytesPerEvent,
	causesOf,
	choose,
	formatMarks,
	linesOf,
	lostOf,
	markOf,
	parseMarks,
} from "../src/views/devices/device_lines";
import { commandOf, configOf, EMPTY, unfinished, type Form } from "../src/views/devices/instruction";

function device(name: string, more: Partial<Device> = {}): Device {
	const lost = { ring: 0, buffer: 0, spool: 0, damage: 0, store: 0 };
	return {
		...{ name, id: name.padEnd(32, "0"), kernel: "6.1", machine: "armv7l", agent: "1", cpus: 2, seen: null },
		...{ online: true, state: "idle", desired: null, run: null, session: null, address: "10.0.0.1:5" },
		...{ connected: null, sources: [], config: {}, func_run: null, clock: null, group: null },
		received: {
			...{ frames: 0, blocks: 0, events: 0, bytes: 0, duplicates: 0, waiting_bytes: 0 },
			...{ events_per_s: 0, bytes_per_s: 0, func_events: 0 },
		},
		status: {
			...{ source: null, events: 0, passed_over: 0, lost, blocks: 0, bytes: 0, spool_used: 0 },
			...{ spool_size: 0, cpu_us: 0, rss_kib: 0, fixed_kib: 0, wakeups: 0, text: "" },
		},
		...more,
	} as Device;
}

describe("the list of devices", () => {
	const fleet = [
		device("b", { group: "rack 2" }),
		device("a"),
		device("c", { group: "rack 1", state: "failed" }),
	];

	it("is found by any of all words", () => {
		expect(choose(fleet, { search: "RACK failed", group: null }).map((d) => d.name)).toEqual(["c"]);
		expect(choose(fleet, { search: "  ", group: null }).length).toBe(3);
		expect(choose(fleet, { search: "", group: "" }).map((d) => d.name)).toEqual(["a"]);
		expect(choose(fleet, { search: "b", group: "rack 1" })).toEqual([]);
	});
	it("has headings by name and those without group last", () => {
		const text = linesOf(fleet).map((l) => (l.kind === "group" ? `# ${l.group}` : l.device.name));
		expect(text).toEqual(["# rack 1", "c", "# rack 2", "b", "# ", "a"]);
		expect(linesOf([device("a")]).map((l) => l.kind)).toEqual(["device"]);
	});
	it("knows what is lost and why", () => {
		const d = device("a");
		d.status.lost.ring = 3;
		d.status.lost.spool = 4;
		expect(lostOf(d)).toBe(7);
		expect(causesOf(d)).toEqual([
			["ring", 3],
			["spool", 4],
		]);
		expect(bytesPerEvent(d)).toBeNull();
	});
	it("keeps marks in the address and believes none that are none", () => {
		const marks = formatMarks([markOf(device("abc")), markOf(device("def"))]);
		expect(parseMarks(marks).size).toBe(2);
		expect(parseMarks("xyz,,<b>,abc").size).toBe(0);
	});
});

describe("what devices are told", () => {
	const form = (more: Partial<Form>): Form => ({ ...EMPTY, ...more });

	it("is only what was said", () => {
		expect(configOf(EMPTY)).toEqual({});
		expect(configOf(form({ choices: { ...EMPTY.choices, source: "bpf" } }))).toEqual({ source: "bpf" });
	});
	it("tells taking a condition away from leaving it", () => {
		const lists = { ...EMPTY.lists, comm: { mode: "all", text: "x" } } as const;
		expect(configOf(form({ lists }))).toEqual({ comm: [] });
		const only = { ...EMPTY.lists, comm: { mode: "only", text: " sh , kworker/* ," } } as const;
		expect(configOf(form({ lists: only }))).toEqual({ comm: ["sh", "kworker/*"] });
	});
	it("never takes a condition away by accident", () => {
		const lists = { ...EMPTY.lists, pid: { mode: "only", text: " , " } } as const;
		expect(unfinished(form({ lists }))).toEqual(["pid"]);
		expect(unfinished(form({ events: { mode: "only", kinds: [] } }))).toEqual(["events"]);
		expect(unfinished(EMPTY)).toEqual([]);
	});
	it("is the same as a command", () => {
		const config = { source: "bpf", comm: ["ngi nx*"], pid: [] } as const;
		expect(commandOf("start", ["a", "it's"], { ...config, comm: ["ngi nx*"], pid: [] })).toBe(
			`kiseki start a 'it'\\''s' --source bpf --comm 'ngi nx*' --pid ''`,
		);
		expect(commandOf("stop", ["a"], { source: "bpf" })).toBe("kiseki stop a");
	});
	it("is sent in few requests that each have few devices", () => {
		expect(split([1, 2, 3], 20, 60)).toEqual([[1], [2], [3]]);
		expect(split([...Array(50).keys()], 20, 60).map((p) => p.length)[0]).toBe(3);
		expect(split([...Array(9000).keys()], 20, 60).every((p) => p.length <= 60)).toBe(true);
	});
	it("ends in one of these ways", () => {
		const r = { device: "a", id: "1", ok: true, deferred: false, code: 0, text: "" };
		expect(fateOf(r)).toBe("done");
		expect(fateOf({ ...r, deferred: true })).toBe("later");
		expect(fateOf({ ...r, ok: false, code: 95 })).toBe("failed");
		expect(fateOf({ ...r, ok: false, code: 110 })).toBe("late");
	});
});

describe("words of a shell", () => {
	it("cannot run anything", () => {
		expect(quoteShell("board-7")).toBe("board-7");
		expect(quoteShell("")).toBe("''");
		expect(quoteShell("$(rm -r /)")).toBe("'$(rm -r /)'");
		expect(quoteShell("a\nb'\\")).toBe("$'a\\012b\\'\\\\'");
	});
});

describe("what happened since the page was opened", () => {
	it("stays small, and keeps peaks", () => {
		const s = new Series(16);
		for (let i = 0; i < 1000; i++) s.push(i, i === 500 ? 99 : 1);
		expect(s.points.length).toBeLessThanOrEqual(16);
		expect(Math.max(...s.points.map((p) => p.value))).toBe(99);
		expect(s.points[0]?.at).toBe(0);
		expect(s.last?.at).toBeGreaterThan(800);
	});
	it("is drawn from the bottom up", () => {
		const points = [
			{ at: 0, value: 0 },
			{ at: 10, value: 4 },
		];
		expect(spark(points, 100, 20)).toBe("0.0,20.0 100.0,0.0");
		expect(spark([], 100, 20)).toBe("");
	});
	it("has the share of a CPU over the last seconds", () => {
		const uses = Array.from({ length: 30 }, (_, i) => ({
			atMs: 1000 * i,
			cpuUs: i < 15 ? 0 : 20_000 * (i - 15),
		}));
		const kept = trimUses(uses, 29_000);
		expect(kept.length).toBe(12);
		expect(shareOf(kept)).toBeCloseTo(0.02);
		expect(shareOf(uses.slice(0, 1))).toBeNull();
		expect(
			shareOf([
				{ atMs: 0, cpuUs: 10 },
				{ atMs: 5000, cpuUs: 5 },
			]),
		).toBeNull();
	});
});
