// SPDX-License-Identifier: MIT
// rows: the lines of the call tree that are to be seen, given which nodes are open.
//
// By itself the path that took longest is open down to where it splits; `turned` are those that are not as they
// are by themselves, so that the address stays short. What is looked for is always to be seen: its callers are open.
import type { Box as AnyBox } from "../../flame/forest";
import type { Box, Forest } from "./forest";

export interface Row {
	readonly box: Box;
	readonly level: number;
	readonly open: boolean;
}

/** The largest child is followed while it has a good part of its parent's value. */
const MOST = 0.3;

export function openByItself(forest: Forest, values: Float64Array): ReadonlySet<Box> {
	const open = new Set<Box>([forest.root]);
	for (let box: Box | undefined = forest.root; box;) {
		open.add(box);
		const whole: number = values[box.index] ?? 0;
		box = box.children.find((c) => (values[c.index] ?? 0) > MOST * whole);
	}
	return open;
}

export function parseTurned(text: string): ReadonlySet<string> {
	return new Set(text.split(",").filter((k) => /^[0-9a-f]{13}$/.test(k)));
}

/** Of an address only so many; what is older is forgotten. */
export const TURNED_MAX = 64;

export function turn(text: string, key: string): string {
	const keys = [...parseTurned(text)];
	const at = keys.indexOf(key);
	if (at >= 0) keys.splice(at, 1);
	else keys.push(key);
	return keys.slice(-TURNED_MAX).join(",");
}

export interface Opening {
	readonly usual: ReadonlySet<Box>;
	readonly turned: ReadonlySet<string>;
	readonly found: ReadonlySet<AnyBox> | null;
}

function callersOf(found: ReadonlySet<AnyBox>): ReadonlySet<AnyBox> {
	const callers = new Set<AnyBox>();
	for (const box of found) for (let b = box.parent; b && !callers.has(b); b = b.parent) callers.add(b);
	return callers;
}

export function rowsOf(forest: Forest, values: Float64Array, opening: Opening): readonly Row[] {
	const callers = opening.found ? callersOf(opening.found) : null;
	const rows: Row[] = [];
	const isOpen = (box: Box): boolean =>
		(callers?.has(box) ?? false) || opening.usual.has(box) !== opening.turned.has(box.key);
	const stack: Box[] = [];
	const pushChildren = (box: Box): void => {
		const children = box.children.toSorted((a, b) => (values[a.index] ?? 0) - (values[b.index] ?? 0));
		for (const c of children) if ((values[c.index] ?? 0) > 0) stack.push(c);
	};
	pushChildren(forest.root);
	for (let box = stack.pop(); box; box = stack.pop()) {
		const open = box.children.length > 0 && isOpen(box);
		rows.push({ box, level: box.depth, open });
		if (open) pushChildren(box);
	}
	return rows;
}
