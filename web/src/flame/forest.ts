// SPDX-License-Identifier: MIT
// forest: paths of calls as a tree, whatever they were counted by.
//
// A box is one path: all that has the same callers. Above the outermost ones stands one box that is everything. A box
// keeps the same key in every answer that has its path (a hash of the names on the way), so an address can name it.
// What is known of a path is its view's matter; lists of values have a number for each box, by its index.

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
}

export interface Forest {
	readonly root: Box;
	/** Parents before children, in the order of the tree. */
	readonly boxes: readonly Box[];
	readonly depth: number;
}

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

/** A path in an answer: nodes stand in the order of the tree, each with its depth. */
export interface Path {
	readonly depth: number;
	readonly name: string;
	readonly object: string | null;
	readonly others?: number | undefined;
}

/** A forest that grows; `make` adds to a new box what its view keeps there. */
export class Grower<B extends Box> {
	readonly boxes: B[] = [];
	readonly root: B;
	depth = 0;
	private readonly byKey = new Map<string, B>();

	constructor(private readonly make: (box: Box) => B) {
		this.root = this.add(null, { name: "", object: null });
	}

	private add(parent: B | null, path: Omit<Path, "depth">): B {
		const { name, object, others = 0 } = path;
		const key = parent ? hashOf(parent.key, others ? "" : idOf(name, object)) : "all";
		const known = this.byKey.get(key);
		if (known) return known;
		const depth = parent ? parent.depth + 1 : 0;
		const index = this.boxes.length;
		const box = this.make({ index, parent, depth, name, object, key, others, children: [] });
		this.boxes.push(box);
		this.byKey.set(key, box);
		this.depth = Math.max(this.depth, depth);
		parent?.children.push(box);
		return box;
	}

	/** Puts the nodes of an answer in; those that have a path that is there already come to the same box. */
	take<N>(nodes: readonly N[], pathOf: (node: N) => Path, put: (box: B, node: N) => void): void {
		const way: B[] = [this.root];
		for (const node of nodes) {
			const path = pathOf(node);
			// An answer that jumps in depth is not believed: the node then stands below the deepest known caller.
			way.length = Math.max(1, Math.min(way.length, path.depth + 1));
			const parent = way[way.length - 1] ?? this.root;
			const box = this.add(parent, path);
			put(box, node);
			way.push(box);
		}
	}
}

export function boxOf<B extends Box>(forest: { readonly boxes: readonly B[] }, key: string): B | null {
	return key === "" ? null : (forest.boxes.find((b) => b.key === key) ?? null);
}

export function pathOf(box: Box): readonly Box[] {
	const path: Box[] = [];
	for (let b: Box | null = box; b; b = b.parent) path.unshift(b);
	return path;
}
