// SPDX-License-Identifier: MIT
// sandwich: one function with all that calls it and all that it calls, from the paths.
//
// Where a function is below itself, only its outermost calls count as time and all count as calls, as in `func graph`
// (docs/reports.md): so the times of the callers add up to the function's.
import type { Figures } from "../../api/calls";
import type { Box, Forest } from "./forest";
import { idOf } from "../../flame/forest";
import { addFigures, NOTHING } from "./forest";

export interface Edge {
	readonly name: string;
	readonly object: string | null;
	readonly calls: number;
	readonly total_ns: number;
	/** Nobody calls it: it is the outermost one. */
	readonly outermost: boolean;
}

export interface Sandwich {
	readonly name: string;
	readonly object: string | null;
	readonly figures: Figures;
	readonly callers: readonly Edge[];
	readonly callees: readonly Edge[];
	/** The path that took longest. */
	readonly hottest: Box;
	readonly paths: number;
}

function isBelow(box: Box, id: string): boolean {
	for (let b = box.parent; b; b = b.parent) if (idOf(b.name, b.object) === id) return true;
	return false;
}

function count(edges: Map<string, Edge>, of: Box, calls: number, total: number): void {
	const id = idOf(of.name, of.object);
	const old = edges.get(id);
	edges.set(id, {
		name: of.name,
		object: of.object,
		calls: (old?.calls ?? 0) + calls,
		total_ns: (old?.total_ns ?? 0) + total,
		outermost: of.parent === null,
	});
}

const listed = (edges: Map<string, Edge>): readonly Edge[] =>
	[...edges.values()].sort((a, b) => b.total_ns - a.total_ns || b.calls - a.calls);

export function sandwichOf(forest: Forest, id: string): Sandwich | null {
	const boxes = forest.boxes.filter((b) => b.parent && !b.others && idOf(b.name, b.object) === id);
	const first = boxes[0];
	if (!first) return null;
	const callers = new Map<string, Edge>();
	const callees = new Map<string, Edge>();
	let figures: Figures = NOTHING;
	let hottest = first;
	for (const box of boxes) {
		const f = box.figures;
		const outer = !isBelow(box, id);
		figures = addFigures(figures, outer ? f : { ...f, total_ns: 0 });
		if (f.total_ns > hottest.figures.total_ns) hottest = box;
		if (box.parent) count(callers, box.parent, f.calls, outer ? f.total_ns : 0);
		for (const c of box.children)
			if (!c.others) count(callees, c, c.figures.calls, outer ? c.figures.total_ns : 0);
	}
	return {
		name: first.name,
		object: first.object,
		figures,
		callers: listed(callers),
		callees: listed(callees),
		hottest,
		paths: boxes.length,
	};
}
