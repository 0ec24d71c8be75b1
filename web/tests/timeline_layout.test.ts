// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { makeLayout, rowAt, type Wishes } from "../src/views/timeline/layout";
import { parseChosen, parsePlace, toggleRow } from "../src/views/timeline/place";
import { findRows } from "../src/views/timeline/search";
import { indexTasks, matcher, namesOf, taskAt, Tasks } from "../src/views/timeline/tasks";

const wishes: Wishes = { filter: "", pinned: [], folded: new Set(), heads: false };

function source(run = 1) {
	const tasks = new Tasks();
	tasks.put(20, 20, "web", 0, 100);
	tasks.put(30, -1, "lonely", 0, 50);
	tasks.put(21, 20, "worker", 0, 40);
	return { run, cpus: 2, tasks, depths: new Map<number, number>() };
}
const ids = (l: { rows: readonly { id: string }[] }): string[] => l.rows.map((r) => r.id);

describe("a pid that is given out again", () => {
	/* From 0 to 100 python3, which dies; from 300 kiseki, born then. In a tile from 0 to 1000. */
	const tile = {
		pid: Int32Array.of(7, 8, 7),
		comm: ["python3", "web", "kiseki"],
		spanAt: Uint32Array.of(0, 2, 3, 5),
		spanEnd: Float64Array.of(100, 1000, 1000, 300, 1000),
		spanState: Uint8Array.of(1, 7, 4, 9, 1),
	};
	it("is each of its tasks in its time", () => {
		const index = indexTasks(tile);
		expect(index.byPid.get(7)).toEqual([0, 2]);
		expect([0, 99, 299, 300, 999].map((ns) => taskAt(index, 7, ns))).toEqual([0, 0, 0, 2, 2]);
		expect(taskAt(index, 8, 999)).toBe(1);
		expect(taskAt(index, 9, 0)).toBeUndefined();
	});
	it("has all names in its row, by time, and is found by each", () => {
		const tasks = new Tasks();
		tasks.put(7, -1, "kiseki", 2000);
		tasks.put(7, -1, "python3", 1000);
		const s = { run: 1, cpus: 0, tasks, depths: new Map<number, number>() };
		expect(makeLayout([s], wishes).rows[0]?.comm).toBe("python3 → kiseki");
		expect(ids(makeLayout([s], { ...wishes, filter: "python3" }))).toEqual(["1.t7"]);
		["a", "b", "c"].forEach((name, i) => tasks.put(7, -1, name, 3000 + i));
		const task = tasks.byPid.get(7);
		expect(task && namesOf(task)).toBe("python3 → … → b → c");
	});
	it("comes where the time of all its names is, and is called by the latest", () => {
		const tasks = new Tasks();
		tasks.putAll({
			to: 200,
			from: 0,
			pieceNs: 100,
			pieces: 2,
			pid: Int32Array.of(14, 191, 191),
			tgid: Int32Array.of(-1, -1, -1),
			comm: ["rcu_sched", "work.sh", "trace-cmd"],
			runNs: Float64Array.of(23, 20, 13),
			share: Uint8Array.of(9, 9, 0, 9, 9, 0),
		});
		expect([...tasks.byPid.keys()]).toEqual([191, 14]);
		expect(tasks.byPid.get(191)).toMatchObject({ comm: "work.sh", runNs: 33 });
	});
	it("leaves a process the name of its leader, not of a thread", () => {
		const tasks = new Tasks();
		tasks.putAll({
			to: 100,
			pid: Int32Array.of(21, 22),
			tgid: Int32Array.of(20, 20),
			comm: ["ingest", "keep"],
			process: ["kiseki", "kiseki"],
		});
		const s = { run: 1, cpus: 0, tasks, depths: new Map<number, number>() };
		expect(makeLayout([s], wishes).rows[0]).toMatchObject({ id: "1.p20", comm: "kiseki" });
	});
});

describe("rows", () => {
	it("are CPUs, then processes with their threads, in the order of who came first", () => {
		expect(ids(makeLayout([source()], wishes))).toEqual(["1.c0", "1.c1", "1.p20", "1.t20", "1.t21", "1.t30"]);
	});
	it("touch each other", () => {
		const { rows, height } = makeLayout([source()], wishes);
		let at = 0;
		for (const row of rows) {
			expect(row.top).toBe(at);
			at += row.height;
		}
		expect(at).toBe(height);
	});
	it("do not jump when somebody new comes", () => {
		const s = source();
		const before = ids(makeLayout([s], wishes));
		s.tasks.put(5, 5, "early", 0, 1e9);
		expect(ids(makeLayout([s], wishes)).slice(0, before.length)).toEqual(before);
	});
	it("hide threads of what is folded, and keep what is pinned at the top", () => {
		const l = makeLayout([source()], {
			...wishes,
			folded: new Set(["1.p20"]),
			pinned: ["1.t21", "1.c1", "9.c0"],
		});
		expect(l.pinned.map((r) => r.id)).toEqual(["1.t21", "1.c1"]);
		expect(ids(l)).toEqual(["1.c0", "1.p20", "1.t30"]);
		expect(l.byId.get("1.t21")?.pinned).toBe(true);
	});
	it("keep a process together when its name is filtered for", () => {
		expect(ids(makeLayout([source()], { ...wishes, filter: "web" }))).toEqual([
			"1.c0",
			"1.c1",
			"1.p20",
			"1.t20",
			"1.t21",
		]);
		expect(ids(makeLayout([source()], { ...wishes, filter: "30" }))).toEqual(["1.c0", "1.c1", "1.t30"]);
	});
	it("have a head for each device where there are several", () => {
		const l = makeLayout([source(1), source(2)], { ...wishes, heads: true, folded: new Set(["1.d"]) });
		expect(ids(l).slice(0, 3)).toEqual(["1.d", "2.d", "2.c0"]);
	});
	it("are higher where functions are under a thread", () => {
		const s = source();
		s.depths.set(30, 3);
		const row = makeLayout([s], wishes).byId.get("1.t30");
		expect(row?.height).toBeGreaterThan(makeLayout([source()], wishes).byId.get("1.t30")?.height ?? 0);
	});
	it("are found by their height", () => {
		const { rows, height } = makeLayout([source()], wishes);
		expect(rowAt(rows, -1)).toBe(-1);
		expect(rowAt(rows, 0)).toBe(0);
		expect(rowAt(rows, (rows[3]?.top ?? 0) + 1)).toBe(3);
		expect(rowAt(rows, height)).toBe(rows.length);
	});
});

describe("tasks", () => {
	it("learn their process and name, and forget nothing", () => {
		const tasks = new Tasks();
		tasks.put(7, -1, "", 0);
		const { version } = tasks;
		tasks.put(7, 3, "x", 0, 5);
		tasks.put(7, -1, "", 0, 1);
		expect(tasks.byPid.get(7)).toMatchObject({ tgid: 3, comm: "x", runNs: 5 });
		expect(tasks.version).toBeGreaterThan(version);
		tasks.put(0, 0, "swapper", 0);
		expect(tasks.byPid.has(0)).toBe(false);
	});
	it("are called as they were last, in whatever order tiles come", () => {
		const tasks = new Tasks();
		tasks.put(7, 7, "bash", 100);
		const { version } = tasks;
		tasks.put(7, 7, "sleep", 200);
		expect(tasks.byPid.get(7)?.comm).toBe("sleep");
		expect(tasks.version).toBeGreaterThan(version);
		tasks.put(7, 7, "bash", 150);
		tasks.put(7, 7, "", 300);
		expect(tasks.byPid.get(7)?.comm).toBe("sleep");
	});
	it("are matched by name, pattern and pid", () => {
		expect(matcher("ngi*,42")(42, "x")).toBe(true);
		expect(matcher("ngi*,42")(1, "nginx")).toBe(true);
		expect(matcher("ngi*,42")(1, "xnginx")).toBe(false);
		expect(matcher("GIN")(1, "nginx")).toBe(true);
		expect(matcher("a+b")(1, "a+b")).toBe(true);
		expect(matcher("a.c*")(1, "abc")).toBe(false);
		expect(matcher(" , ")(1, "")).toBe(true);
	});
	it("are found with their rows", () => {
		const { rows } = makeLayout([source()], wishes);
		expect(findRows(rows, "work").map((r) => r.id)).toEqual(["1.t21"]);
		expect(findRows(rows, "cpu 1").map((r) => r.id)).toEqual(["1.c1"]);
		expect(findRows(rows, "")).toEqual([]);
	});
});

describe("the address", () => {
	it("is taken apart with care", () => {
		const place = parsePlace(
			new Map([
				["from", "5"],
				["to", "9"],
				["mark", "6-8"],
				["sel", "1.t5@7"],
				["pin", "1.c0,<script>,1.c0,2.t9"],
				["arrows", "many"],
			]),
		);
		expect(place.span).toEqual({ from: 5, to: 9 });
		expect(place.mark).toEqual({ from: 6, to: 8 });
		expect(place.chosen).toMatchObject({ rowId: "1.t5", ns: 7 });
		expect(place.pinned).toEqual(["1.c0", "2.t9"]);
		expect(place.arrows).toBe("near");
		expect(
			parsePlace(
				new Map([
					["from", "9"],
					["to", "5"],
					["mark", "8-6"],
				]),
			),
		).toMatchObject({ span: null, mark: null });
		for (const bad of ["", "1.t5", "1.t5@", "t5@7", "1.x5@7", "1.t5@-7"]) expect(parseChosen(bad)).toBeNull();
	});
	it("turns rows on and off", () => {
		expect(toggleRow(["1.c0"], "1.c1")).toBe("1.c0,1.c1");
		expect(toggleRow(["1.c0"], "1.c0")).toBeNull();
	});
});
