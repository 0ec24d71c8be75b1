// SPDX-License-Identifier: MIT
// forest: the paths of a report as a tree, of one recording or of two laid over each other.
//
// A box has the figures of all calls with the same callers (flame/forest.ts). With two recordings it has those of both; a
// path that only one has is zero in the other.
import type { CallNode, Figures } from "../../api/calls";
import { Grower, type Box as Path, type Forest as Paths } from "../../flame/forest";

export const NOTHING: Figures = {
	calls: 0,
	total_ns: 0,
	local_ns: 0,
	running_ns: 0,
	user_ns: 0,
	kernel_ns: 0,
	preempted_ns: 0,
	blocked_ns: 0,
	unknown_ns: 0,
	unwound: 0,
	cut: 0,
	open: 0,
};

export interface Box extends Path {
	readonly parent: Box | null;
	readonly children: Box[];
	figures: Figures;
	/** Of the recording that it is compared with; null if there is none. */
	before: Figures | null;
}

export interface Forest extends Paths {
	readonly root: Box;
	readonly boxes: readonly Box[];
	readonly compared: boolean;
}

export type Measure = "total" | "calls" | "running" | "user" | "kernel" | "preempted" | "blocked" | "unknown";

export const MEASURES: readonly Measure[] = [
	"total",
	"calls",
	"user",
	"kernel",
	"running",
	"preempted",
	"blocked",
	"unknown",
];

/** Sums of two figures; what one of them does not know is not known. */
export function addFigures(a: Figures, b: Figures): Figures {
	const sum: Record<string, number | null> = {};
	for (const key of Object.keys(NOTHING) as (keyof Figures)[]) {
		const x = a[key];
		const y = b[key];
		sum[key] = x === null || y === null ? null : x + y;
	}
	return sum as unknown as Figures;
}

function addTo(old: Figures, f: Figures): Figures {
	return old === NOTHING ? f : addFigures(old, f);
}

/* The box of everything has its children's times and no local time of its own. */
function closeRoot(root: Box): void {
	const sum = (of: (b: Box) => Figures): Figures => ({
		...NOTHING,
		total_ns: root.children.reduce((ns, b) => ns + of(b).total_ns, 0),
	});
	root.figures = sum((b) => b.figures);
	if (root.before) root.before = sum((b) => b.before ?? NOTHING);
}

export function growForest(nodes: readonly CallNode[], before: readonly CallNode[] | null = null): Forest {
	const g = new Grower<Box>((box) => Object.assign(box as Box, { figures: NOTHING, before: null }));
	const path = (n: CallNode) => ({ depth: n.depth, name: n.function, object: n.object, others: n.others });
	g.take(nodes, path, (box, f) => (box.figures = addTo(box.figures, f)));
	if (before) {
		g.take(before, path, (box, f) => (box.before = addTo(box.before ?? NOTHING, f)));
		for (const box of g.boxes) box.before ??= NOTHING;
	}
	closeRoot(g.root);
	return { root: g.root, boxes: g.boxes, compared: before !== null, depth: g.depth };
}

function own(f: Figures, measure: Measure): number {
	switch (measure) {
		case "total":
			return f.local_ns;
		case "calls":
			return f.calls;
		default:
			return f[`${measure}_ns`] ?? 0;
	}
}

/** Of each box, with everything below it; of time it is the total, of calls those of the box and below it. */
export function valuesOf(forest: Forest, measure: Measure, before = false): Float64Array {
	const values = new Float64Array(forest.boxes.length);
	const figures = (box: Box): Figures => (before ? (box.before ?? NOTHING) : box.figures);
	// Children may stand before later boxes of their parent's level, but never before their parent.
	for (let i = forest.boxes.length - 1; i >= 0; i--) {
		const box = forest.boxes[i];
		if (!box) continue;
		const below = values[i] ?? 0;
		const f = figures(box);
		values[i] = measure === "total" ? Math.max(f.total_ns, below) : below + own(f, measure);
		if (box.parent) values[box.parent.index] = (values[box.parent.index] ?? 0) + (values[i] ?? 0);
	}
	return values;
}

/** Which measures have anything to draw; running stands for user and kernel where these are not told apart. */
export function knownMeasures(forest: Forest): readonly Measure[] {
	const known = (m: Measure): boolean => {
		if (m === "total" || m === "calls") return true;
		const key = `${m}_ns` as const;
		return forest.boxes.some((b) => (b.figures[key] ?? 0) > 0 || (b.before?.[key] ?? 0) > 0);
	};
	const list = MEASURES.filter(known);
	return list.includes("user") || list.includes("kernel") ? list.filter((m) => m !== "running") : list;
}
