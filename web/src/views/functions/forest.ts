// SPDX-License-Identifier: MIT
// forest: the paths of a report as a tree, of one recording or of two laid over each other.
//
// A box is one path: all calls that have the same callers. Above the outermost ones stands one box that is
// everything. A box keeps the same key in every answer that has its path (a hash of the names on the way), so an
// address can name it. With two recordings a box has figures of both; a path that only one has is zero in the other.
import type { CallNode, Figures } from "../../api/calls";

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

export interface Box {
	/** In the forest's list, and in every list of values. */
	readonly index: number;
	readonly parent: Box | null;
	readonly depth: number;
	readonly name: string;
	readonly object: string | null;
	readonly key: string;
	/** How many paths it stands for that the answer has no room for; 0: it is a path itself. */
	readonly others: number;
	readonly children: Box[];
	figures: Figures;
	/** Of the recording that it is compared with; null if there is none. */
	before: Figures | null;
}

export interface Forest {
	readonly root: Box;
	/** Parents before children, in the order of the tree. */
	readonly boxes: readonly Box[];
	readonly compared: boolean;
	readonly depth: number;
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

/** The file's name of a path: two builds of a library lie in two folders and are compared all the same. */
export function fileOf(object: string | null): string {
	return object ? object.slice(object.lastIndexOf("/") + 1) : "";
}

/** What makes two functions the same. */
export function idOf(name: string, object: string | null): string {
	return `${name}@${fileOf(object)}`;
}

/** 52 bits, as 13 hexadecimal digits: two multiplicative hashes side by side. */
export function hashOf(above: string, name: string): string {
	let a = 0x811c9dc5;
	let b = 0x9e3779b9;
	const text = `${above}\u0001${name}`;
	for (let i = 0; i < text.length; i++) {
		const c = text.charCodeAt(i);
		a = Math.imul(a ^ c, 0x01000193) >>> 0;
		b = Math.imul(b ^ c, 0x85ebca6b) >>> 0;
		b = (b ^ (b >>> 13)) >>> 0;
	}
	return (a.toString(16).padStart(8, "0") + b.toString(16).padStart(8, "0")).slice(0, 13);
}

interface Growing {
	readonly boxes: Box[];
	readonly byKey: Map<string, Box>;
	depth: number;
}

interface Path {
	readonly function: string;
	readonly object: string | null;
	readonly others?: number;
}

function addBox(g: Growing, parent: Box | null, path: Path): Box {
	const { function: name, object, others = 0 } = path;
	const key = parent ? hashOf(parent.key, others ? "" : idOf(name, object)) : "all";
	const known = g.byKey.get(key);
	if (known) return known;
	const depth = parent ? parent.depth + 1 : 0;
	const box: Box = {
		index: g.boxes.length,
		parent,
		depth,
		name,
		object,
		key,
		others,
		children: [],
		figures: NOTHING,
		before: null,
	};
	g.boxes.push(box);
	g.byKey.set(key, box);
	g.depth = Math.max(g.depth, depth);
	parent?.children.push(box);
	return box;
}

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

function takeNodes(g: Growing, nodes: readonly CallNode[], put: (box: Box, f: Figures) => void): void {
	const root = g.boxes[0];
	const path: Box[] = root ? [root] : [];
	for (const node of nodes) {
		// An answer that jumps in depth is not believed: the node then stands below the deepest known caller.
		path.length = Math.min(path.length, node.depth + 1);
		const parent = path[path.length - 1];
		if (!parent) continue;
		const box = addBox(g, parent, node);
		put(box, node);
		path.push(box);
	}
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
	const g: Growing = { boxes: [], byKey: new Map(), depth: 0 };
	const root = addBox(g, null, { function: "", object: null });
	takeNodes(g, nodes, (box, f) => (box.figures = addTo(box.figures, f)));
	if (before) {
		takeNodes(g, before, (box, f) => (box.before = addTo(box.before ?? NOTHING, f)));
		for (const box of g.boxes) box.before ??= NOTHING;
	}
	closeRoot(root);
	return { root, boxes: g.boxes, compared: before !== null, depth: g.depth };
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

export function boxOf(forest: Forest, key: string): Box | null {
	return key === "" ? null : (forest.boxes.find((b) => b.key === key) ?? null);
}

export function pathOf(box: Box): readonly Box[] {
	const path: Box[] = [];
	for (let b: Box | null = box; b; b = b.parent) path.unshift(b);
	return path;
}
