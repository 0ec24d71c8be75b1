// SPDX-License-Identifier: MIT
// forest: the stacks of a profile as a tree, of one recording or of two laid over each other. A width is the time that
// samples stand for, or their number.
import type { ProfileNode, ProfileValues } from "../../api/profile";
import { Grower, type Box as Path, type Forest as Paths } from "../../flame/forest";

export interface Figures {
	readonly self: ProfileValues;
	readonly total: ProfileValues;
}

const NO_VALUES: ProfileValues = { samples: 0, weight: 0 };
export const NOTHING: Figures = { self: NO_VALUES, total: NO_VALUES };

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

export function addValues(a: ProfileValues, b: ProfileValues): ProfileValues {
	return { samples: a.samples + b.samples, weight: a.weight + b.weight };
}

function add(a: Figures, b: Figures): Figures {
	return { self: addValues(a.self, b.self), total: addValues(a.total, b.total) };
}

/** The box of everything has its children's samples, and none of its own. */
function sumOf(root: Box, of: (box: Box) => Figures): Figures {
	return {
		self: NO_VALUES,
		total: root.children.reduce((sum, b) => addValues(sum, of(b).total), NO_VALUES),
	};
}

/** A process has its number in its name, which is another in each recording: compared are those of one name. */
export function withoutNumber(name: string): string {
	return name.replace(/ \(\d+(#\d+)?\)$/, "");
}

export function growForest(
	nodes: readonly ProfileNode[],
	before: readonly ProfileNode[] | null = null,
	grouped = 0,
): Forest {
	const g = new Grower<Box>((box) => Object.assign(box as Box, { figures: NOTHING, before: null }));
	const path = (n: ProfileNode) => ({
		depth: n.depth,
		name: before && n.depth < grouped ? withoutNumber(n.name) : n.name,
		object: n.object,
		others: n.others,
	});
	g.take(nodes, path, (box, n) => (box.figures = add(box.figures, n)));
	if (before) {
		g.take(before, path, (box, n) => (box.before = add(box.before ?? NOTHING, n)));
		for (const box of g.boxes) box.before ??= NOTHING;
		g.root.before = sumOf(g.root, (b) => b.before ?? NOTHING);
	}
	g.root.figures = sumOf(g.root, (b) => b.figures);
	return { root: g.root, boxes: g.boxes, compared: before !== null, depth: g.depth };
}

export function valuesOf(forest: Forest, samples: boolean, before = false): Float64Array {
	const key = samples ? "samples" : "weight";
	return Float64Array.from(forest.boxes, (b) => (before ? (b.before ?? NOTHING) : b.figures).total[key]);
}
