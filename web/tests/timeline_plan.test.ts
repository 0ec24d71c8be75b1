// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import type { Run } from "../src/api/schema";
import { decodeSlicesAnswer } from "../src/views/timeline/decode";
import { isChosen } from "../src/views/timeline/draw_arrows";
import { sliceAt, wakingBefore } from "../src/views/timeline/hit";
import { makeLayout } from "../src/views/timeline/layout";
import type { Overview } from "../src/views/timeline/overview";
import { makeCover } from "../src/views/timeline/picture";
import { overviewWidth, planSource } from "../src/views/timeline/plan";
import { alignStarts, CallSource, makeSources, Source } from "../src/views/timeline/source";
import { levelOf } from "../src/views/timeline/tiles";
import { chainSpan, endOf, linesOf } from "../src/views/timeline/chain";
import { encodeSlices, example } from "./slices_encoder";

const run = (number: number, extra: object = {}): Run =>
	({ run: number, device: "d", device_id: "i", boot: "b", events: 1000, ended: true, ...extra }) as Run;

function whole(start: number, end: number, events: number): Overview {
	const pieces = 100;
	return {
		kind: "overview",
		bytes: 1,
		final: true,
		from: start,
		to: end,
		pieceNs: (end - start) / pieces,
		pieces,
		cpus: 1,
		runFrom: start,
		runTo: end,
		busy: new Uint8Array(pieces),
		unknown: new Uint8Array(pieces),
		lost: new Float32Array(pieces),
		events: new Float32Array(pieces).fill(events / pieces),
		pid: new Int32Array(0),
		tgid: new Int32Array(0),
		comm: [],
		process: [],
		runNs: new Float64Array(0),
		share: new Uint8Array(0),
		tasksInAll: 0,
	};
}

function sourceOf(events: number, length = 100e9): Source {
	const source = new Source(run(1, { events }), 0, 0);
	source.putWhole(whole(0, length, events));
	return source;
}
const known = { versions: new Map<string, number>(), aheadNs: 0.4e9 };
const kinds = (source: Source, from: number, to: number): string[] =>
	planSource(source, { from, to }, known).map((w) => `${w.kind}${w.inSight ? "!" : ""}`);

describe("the plan", () => {
	it("begins with the whole run", () => {
		expect(planSource(new Source(run(1), 0, 0), { from: 0, to: 1e9 }, known).map((w) => w.kind)).toEqual([
			"whole",
		]);
	});
	it("wants details of what is in sight first, then of what is beside it", () => {
		const list = kinds(sourceOf(50e6), 50e9, 50.1e9);
		expect(new Set(list)).toEqual(new Set(["detail!", "detail"]));
		expect(list.lastIndexOf("detail!")).toBeLessThan(list.indexOf("detail"));
	});
	it("wants the overview where there are too many events", () => {
		expect(new Set(kinds(sourceOf(50e6, 1000e9), 40e9, 52e9))).toEqual(new Set(["overview!", "overview"]));
	});
	it("wants nothing where the whole run's overview says as much", () => {
		const source = sourceOf(1e9, 100e9);
		expect(kinds(source, 0, 100e9)).toEqual([]);
	});
	it("learns from a refusal", () => {
		const source = sourceOf(1e6);
		const [first] = planSource(source, { from: 50e9, to: 51e9 }, known);
		expect(first?.kind).toBe("detail");
		if (first) source.dense.add(first.key.split(":").at(-1) ?? "");
		expect(planSource(source, { from: 50e9, to: 51e9 }, known)[0]?.kind).not.toBe("detail");
	});
	it("asks again for what may have changed, and only then", () => {
		const source = sourceOf(1000, 10e9);
		source.live = true;
		const plan = () => planSource(source, { from: 9.9e9, to: 10.1e9 }, { ...known, versions });
		const versions = new Map<string, number>();
		for (const w of plan()) {
			versions.set(w.key, source.version);
			source.putDetail(w.id, { ...decodeSlicesAnswer(encodeSlices(example(0, false))), final: false });
		}
		source.end = 10e9;
		expect(plan()).toEqual([]);
		source.version++;
		expect(plan().length).toBeGreaterThan(0);
	});
	it("does not make the collector try in vain", () => {
		expect(overviewWidth(sourceOf(100), { level: 36, index: 0 })).toBe(720);
		expect(overviewWidth(sourceOf(50e6), { level: 36, index: 0 })).toBeLessThan(75);
	});
	it("wants calls where they are", () => {
		const source = sourceOf(1e6);
		source.calls = [new CallSource(9, 5, { from: 50e9, to: 50.5e9 })];
		expect(kinds(source, 50e9, 50.1e9)).toContain("calls!");
		expect(kinds(source, 60e9, 60.1e9)).not.toContain("calls!");
	});
});

describe("several runs", () => {
	it("lie on the clock of the first", () => {
		const clock = (offset: number) => ({ clock: { real_offset_ns: offset, error_ns: 7, at_ns: 0 } });
		const [a, b, c] = makeSources([run(1, clock(1000)), run(2, clock(1500)), run(3)]);
		expect([a?.shift, b?.shift, c?.shift]).toEqual([0, 500, 0]);
		expect(b?.errorNs).toBe(7);
		expect(c?.errorNs).toBeNaN();
	});
	it("begin together where nobody compared their clocks", () => {
		const sources = makeSources([run(1, { clock: { real_offset_ns: 1, error_ns: 1, at_ns: 0 } }), run(2)]);
		sources[0]?.putWhole(whole(5000, 6000, 1));
		alignStarts(sources);
		sources[1]?.putWhole(whole(100, 200, 1));
		alignStarts(sources);
		expect(sources.map((s) => s.shift)).toEqual([0, 4900]);
	});
});

/** A tile with the example at its beginning, 100 ns later on the axis. */
function story(): Source {
	const source = new Source(run(1), 100, 0);
	source.putWhole(whole(0, 2048, 20));
	const spec = example(4096);
	const long = { ...spec, to: 4096 + 65536 };
	source.putDetail(
		{ level: 16, index: 0 },
		decodeSlicesAnswer(encodeSlices({ ...long, from: 0, to: 65536 })),
	);
	source.end = 65536;
	return source;
}

describe("what is under the pointer", () => {
	const source = story();
	const layout = makeLayout([{ run: 1, cpus: source.cpus, tasks: source.tasks, depths: source.depths }], {
		filter: "",
		pinned: [],
		folded: new Set(),
		heads: false,
	});
	const row = (id: string) => {
		const found = layout.byId.get(id);
		if (!found) throw new Error(id);
		return found;
	};
	const level = levelOf(1000);
	it("is the slice of the CPU, on the axis", () => {
		expect(sliceAt(source, row("1.c0"), 100 + 350, level)).toMatchObject({
			comm: "b",
			pid: 11,
			from: 400,
			to: 600,
			cpu: 0,
		});
		expect(sliceAt(source, row("1.c0"), 100 + 700, level)).toMatchObject({ kind: "unknown", pid: -1 });
		expect(sliceAt(source, row("1.c1"), 100 + 10, level)).toMatchObject({ kind: "idle" });
		expect(sliceAt(source, row("1.c1"), 100 + 500, level)).toMatchObject({ comm: "c", isInferred: true });
	});
	it("is the state of the task", () => {
		expect(sliceAt(source, row("1.t10"), 100 + 350, level)).toMatchObject({
			state: 3,
			from: 400,
			to: 600,
			cpu: -1,
		});
		expect(sliceAt(source, row("1.t12"), 100 + 420, level)).toMatchObject({ state: 2, from: 500, to: 550 });
	});
	it("is nothing where nothing came", () =>
		expect(sliceAt(source, row("1.t12"), 100 + 5000, level)).toBeNull());
	it("has been woken by somebody", () => {
		expect(wakingBefore(source, 12, 100 + 450, level)).toMatchObject({
			at: 500,
			ran: 550,
			wakerPid: 11,
			wakerComm: "b",
		});
		expect(wakingBefore(source, 11, 100 + 300, level)).toMatchObject({ wakerPid: -1 });
		expect(wakingBefore(source, 10, 100 + 300, level)).toBeNull();
	});
	it("has its arrows", () => {
		const [piece] = makeCover(source, { from: 100, to: 1100 }).details;
		if (!piece) throw new Error("no tile");
		const chosen = (pid: number, slice: { from: number; to: number } | null): boolean[] =>
			[0, 1].map((i) => isChosen(source, piece.tile, i, { pid, slice }));
		expect(chosen(-1, null)).toEqual([true, true]);
		expect(chosen(12, null)).toEqual([false, true]);
		expect(chosen(11, { from: 400, to: 600 })).toEqual([true, true]);
		expect(chosen(11, { from: 600, to: 700 })).toEqual([false, false]);
	});
});

describe("a chain", () => {
	const step = {
		pid: 2,
		comm: "b",
		woken_ns: 100,
		ran_ns: 130,
		cpu: 0,
		state_before: "sleeping",
		slept_ns: 50,
		waker_pid: 1,
		waker_comm: "a",
		waker_cpu: 1,
	};
	it("is told step by step", () => {
		const chain = { steps: [step, { ...step, woken_ns: 10, ran_ns: null, waker_pid: 0 }], ends: "idle" };
		expect(linesOf(chain).map((l) => [l.delayNs, l.byInterrupt])).toEqual([
			[30, false],
			[null, true],
		]);
		expect(chainSpan(chain)).toEqual({ from: 10, to: 130 });
		expect(endOf(chain)).toBe("idle");
		expect(endOf({ steps: [], ends: "because" })).toBe("other");
		expect(chainSpan({ steps: [], ends: "start" })).toBeNull();
	});
});
