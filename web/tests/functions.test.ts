// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import type { CallNode } from "../src/api/calls";
import { changeOf, colorOfChange, compare } from "../src/flame/change";
import { addFigures, growForest, knownMeasures, NOTHING, valuesOf } from "../src/views/functions/forest";
import { boxOf } from "../src/flame/forest";
import { findAt, layOut, stepFrom } from "../src/flame/layout";
import { openByItself, parseTurned, rowsOf, turn } from "../src/views/functions/rows";
import { sandwichOf } from "../src/views/functions/sandwich";
import { matcherOf, search } from "../src/flame/search";
import { fitText } from "../src/flame/shapes";
import { baseOf, readState } from "../src/views/functions/state";

const node = (depth: number, name: string, total: number, local: number, calls = 1): CallNode => ({
	...NOTHING,
	depth,
	function: name,
	object: "/opt/app/demo",
	calls,
	total_ns: total,
	local_ns: local,
	running_ns: local,
	user_ns: local,
	kernel_ns: 0,
});

/* main(100: local 10) -> parse(60: local 20) -> parse(40); main -> print(30: 9 calls). */
const nodes = [
	node(0, "main", 100, 10),
	node(1, "parse", 60, 20, 2),
	node(2, "parse", 40, 40, 4),
	node(1, "print", 30, 30, 9),
];
const forest = growForest(nodes);
const named = (name: string, depth: number) => {
	const box = forest.boxes.find((b) => b.name === name && b.depth === depth);
	if (!box) throw new Error(`no ${name} at ${depth}`);
	return box;
};

describe("forest", () => {
	it("has one box above the outermost calls, with their times", () => {
		expect(forest.root.children.map((b) => b.name)).toEqual(["main"]);
		expect(forest.root.figures.total_ns).toBe(100);
		expect(named("parse", 3).parent).toBe(named("parse", 2));
		expect(forest.depth).toBe(3);
	});
	it("finds a box again by its key, in another answer too", () => {
		const other = growForest([node(0, "main", 5, 1), node(1, "print", 4, 4)]);
		expect(boxOf(other, named("print", 2).key)?.figures.total_ns).toBe(4);
		expect(boxOf(other, named("parse", 2).key)).toBeNull();
		expect(new Set(forest.boxes.map((b) => b.key)).size).toBe(forest.boxes.length);
	});
	it("sums what is below, whatever is measured", () => {
		const total = valuesOf(forest, "total");
		const calls = valuesOf(forest, "calls");
		const user = valuesOf(forest, "user");
		expect(total[named("parse", 2).index]).toBe(60);
		expect(calls[forest.root.index]).toBe(1 + 2 + 4 + 9);
		expect(user[forest.root.index]).toBe(100);
		expect(user[named("parse", 2).index]).toBe(60);
	});
	it("offers only measures that have anything", () => {
		expect(knownMeasures(forest)).toEqual(["total", "calls", "user"]);
		const dumb = growForest([{ ...node(0, "main", 5, 5), user_ns: null, kernel_ns: null, running_ns: 5 }]);
		expect(knownMeasures(dumb)).toEqual(["total", "calls", "running"]);
	});
	it("does not believe an answer that jumps in depth", () => {
		const odd = growForest([node(0, "main", 5, 5), node(7, "deep", 1, 1)]);
		expect(odd.boxes.map((b) => [b.name, b.depth])).toEqual([
			["", 0],
			["main", 1],
			["deep", 2],
		]);
	});
	it("does not know the sum of what is not known", () => {
		expect(addFigures({ ...NOTHING, user_ns: null }, { ...NOTHING, user_ns: 3, calls: 2 })).toMatchObject({
			user_ns: null,
			calls: 2,
		});
	});
	it("keeps what the answer had no room for apart from functions", () => {
		const cut = growForest([node(0, "main", 10, 1), { ...node(1, "…", 9, 9), others: 7 }]);
		const others = cut.boxes[2];
		expect(others?.others).toBe(7);
		const matches = matcherOf("…");
		expect(matches && search(cut, valuesOf(cut, "total"), matches, null).boxes.size).toBe(0);
	});
});

describe("layout", () => {
	const values = valuesOf(forest, "total");
	const layout = layOut(forest, values, null, 0);
	it("gives each box its part of its caller's width, the largest first", () => {
		const [parse, print] = layout.levels[2] ?? [];
		expect([parse?.box.name, print?.box.name]).toEqual(["parse", "print"]);
		expect(parse?.x1).toBeCloseTo(0.6);
		expect(print?.x0).toBeCloseTo(0.6);
		expect(print?.x1).toBeCloseTo(0.9);
	});
	it("finds what is at a place, and nothing where a caller is alone", () => {
		expect(findAt(layout, 2, 0.7)?.box.name).toBe("print");
		expect(findAt(layout, 2, 0.95)).toBeNull();
		expect(findAt(layout, 9, 0.5)).toBeNull();
	});
	it("gives the whole width to what is zoomed into, and to its callers", () => {
		const near = layOut(forest, values, named("parse", 2), 0);
		expect(near.levels[1]?.[0]).toMatchObject({ x0: 0, x1: 1, above: true });
		expect(near.levels[3]?.[0]?.x1).toBeCloseTo(40 / 60);
		expect(near.places.has(named("print", 2))).toBe(false);
	});
	it("leaves out what is too narrow, with all below it", () => {
		expect(layOut(forest, values, null, 0.5).places.has(named("print", 2))).toBe(false);
	});
	it("goes from box to box", () => {
		expect(stepFrom(layout, named("main", 1), "child")).toBe(named("parse", 2));
		expect(stepFrom(layout, named("parse", 2), "right")).toBe(named("print", 2));
		expect(stepFrom(layout, named("print", 2), "right")).toBe(named("print", 2));
		expect(stepFrom(layout, named("print", 2), "parent")).toBe(named("main", 1));
		expect(stepFrom(layout, named("print", 2), "child")).toBe(named("print", 2));
	});
	it("survives a stack of ten thousand calls", () => {
		const deep = growForest(Array.from({ length: 10_000 }, (_, i) => node(i, `f${i}`, 10_000 - i, 1)));
		expect(layOut(deep, valuesOf(deep, "total"), null, 0).levels.length).toBe(10_001);
	});
});

describe("search", () => {
	const values = valuesOf(forest, "total");
	const find = (text: string) => {
		const matches = matcherOf(text);
		if (!matches) throw new Error("no matcher");
		return search(forest, values, matches, null);
	};
	it("counts a moment once", () => {
		expect(find("PARSE")).toMatchObject({ functions: 1, value: 60 });
		expect(find("parse").boxes.size).toBe(2);
		expect(find("/^p/").value).toBe(90);
		expect(find("demo").value).toBe(100);
	});
	it("takes what is no expression as text, and nothing for nothing", () => {
		expect(matcherOf("  ")).toBeNull();
		expect(find("/(/").functions).toBe(0);
	});
});

describe("comparing", () => {
	const before = [node(0, "main", 50, 10), node(1, "parse", 30, 30), node(1, "load", 10, 10)];
	const both = growForest(nodes, before);
	it("lays two over each other", () => {
		const c = compare(valuesOf(both, "total", true), valuesOf(both, "total"), false);
		const of = (name: string, depth: number) => {
			const box = both.boxes.find((b) => b.name === name && b.depth === depth);
			return box && c.of(box);
		};
		expect(of("main", 1)).toMatchObject({ before: 50, after: 100, kind: "more", degree: 0.5 });
		expect(of("print", 2)?.kind).toBe("new");
		expect(of("load", 2)?.kind).toBe("gone");
		expect(c.widths[0]).toBe(150);
	});
	it("compares parts of the whole when it is told to", () => {
		const c = compare(valuesOf(both, "total", true), valuesOf(both, "total"), true);
		expect(c.of(both.root)).toMatchObject({ before: 1, after: 1, kind: "same" });
	});
	it("takes small differences for noise, and tells directions apart by more than colour", () => {
		expect(changeOf(100, 101).kind).toBe("same");
		expect(changeOf(100, 110).kind).toBe("more");
		expect(changeOf(100, 90).kind).toBe("less");
		expect(changeOf(0, 0)).toMatchObject({ kind: "same", degree: 0 });
		expect(colorOfChange(changeOf(1, 2), true)).not.toBe(colorOfChange(changeOf(2, 1), true));
	});
});

describe("tree rows", () => {
	const values = valuesOf(forest, "total");
	const usual = openByItself(forest, values);
	const shown = (turned: string, found: ReadonlySet<(typeof forest.boxes)[number]> | null = null) =>
		rowsOf(forest, values, { usual, turned: parseTurned(turned), found }).map((r) => r.box.name);
	it("opens the longest path, and what is turned the other way", () => {
		expect(shown("")).toEqual(["main", "parse", "parse", "print"]);
		expect(shown(named("parse", 2).key)).toEqual(["main", "parse", "print"]);
		expect(shown(named("main", 1).key)).toEqual(["main"]);
	});
	it("opens the callers of what is looked for", () => {
		expect(shown(named("main", 1).key, new Set([named("print", 2)]))).toContain("print");
	});
	it("turns back, and forgets the oldest of too many", () => {
		const key = named("main", 1).key;
		expect(turn(turn("", key), key)).toBe("");
		const many = Array.from({ length: 80 }, (_, i) => i.toString(16).padStart(13, "0"));
		const text = many.reduce((t, k) => turn(t, k), "");
		expect(parseTurned(text).size).toBe(64);
		expect(text).toContain(many[79]);
		expect(text).not.toContain(many[0]);
	});
});

describe("one function", () => {
	it("counts recursion once as time and always as calls", () => {
		const parse = sandwichOf(forest, "parse@demo");
		expect(parse?.figures).toMatchObject({ total_ns: 60, local_ns: 60, calls: 6 });
		expect(parse?.callers.map((e) => [e.name, e.total_ns, e.calls])).toEqual([
			["main", 60, 2],
			["parse", 0, 4],
		]);
		expect(parse?.paths).toBe(2);
		expect(sandwichOf(forest, "nobody@demo")).toBeNull();
		expect(sandwichOf(forest, "main@demo")?.callers[0]?.outermost).toBe(true);
	});
});

describe("words in boxes", () => {
	const width = (text: string): number => 10 * [...text].length;
	it("are cut to what fits, never inside a character", () => {
		expect(fitText("abcdef", 60, width)).toBe("abcdef");
		expect(fitText("abcdef", 40, width)).toBe("abc…");
		expect(fitText("😀😀😀😀", 30, width)).toBe("😀😀…");
		expect(fitText("abcdef", 10, width)).toBe("");
	});
});

describe("the address of the view", () => {
	const read = (text: string) => readState(new Map(new URLSearchParams(text)));
	it("takes what means nothing for the usual", () => {
		expect(read("tab=nonsense&by=42&from=-1")).toMatchObject({ tab: "graph", by: "total", from: null });
	});
	it("compares the same threads only within a run", () => {
		expect(baseOf(read("base=3&thread=main"), 3)?.thread).toBe("main");
		expect(baseOf(read("base=4&thread=main"), 3)?.thread).toBe("");
		expect(baseOf(read(""), 3)).toBeNull();
	});
});
