// SPDX-License-Identifier: MIT
// search: functions by a part of their name, or by /a regular expression/, and how much they are together.
//
// A sum counts a moment once: what is below a box that fits is within it already.
import { idOf, type Box, type Forest } from "./forest";

export type Matcher = (name: string, object: string | null) => boolean;

/** Null: nothing is looked for. An expression that is none (somebody still types it) is looked for as text. */
export function matcherOf(text: string): Matcher | null {
	const wanted = text.trim();
	if (wanted === "") return null;
	const expression = /^\/(.+)\/$/.exec(wanted)?.[1];
	if (expression !== undefined)
		try {
			const pattern = new RegExp(expression, "iu");
			return (name, object) => pattern.test(name) || (object !== null && pattern.test(object));
		} catch {
			// Taken as text below.
		}
	const lower = wanted.toLowerCase();
	return (name, object) =>
		name.toLowerCase().includes(lower) || (object !== null && object.toLowerCase().includes(lower));
}

export interface Found {
	readonly boxes: ReadonlySet<Box>;
	readonly functions: number;
	/** Of the values, each moment once. */
	readonly value: number;
}

export function search(forest: Forest, values: Float64Array, matches: Matcher, below: Box | null): Found {
	const boxes = new Set<Box>();
	const functions = new Set<string>();
	let value = 0;
	const visit: { readonly box: Box; readonly counted: boolean }[] = [
		{ box: below ?? forest.root, counted: false },
	];
	for (let item = visit.pop(); item; item = visit.pop()) {
		const { box } = item;
		let { counted } = item;
		if (box.parent && !box.others && matches(box.name, box.object)) {
			boxes.add(box);
			functions.add(idOf(box.name, box.object));
			if (!counted) value += values[box.index] ?? 0;
			counted = true;
		}
		for (const child of box.children) visit.push({ box: child, counted });
	}
	return { boxes, functions: functions.size, value };
}
