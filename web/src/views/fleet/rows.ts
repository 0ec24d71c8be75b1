// SPDX-License-Identifier: MIT
// rows: answers about facts as rows and stacks, in the form that profiles have. Without DOM.
//
// The collector's lists are of all processes. Those of some are made here, from the stacks: what has no room in an answer
// of twenty thousand of them is missing there.
import type { FleetBy, FleetDiff, FleetDiffTree, FleetTop, FleetValues } from "../../api/fleet";
import type { ProfileNode, ProfileValues } from "../../api/profile";
import { changeOf } from "../../flame/change";
import type { Compared, Figured } from "../profile/columns";
import { addValues } from "../profile/forest";
import { fitsPattern, wordsOf } from "./which";

const NOTHING: ProfileValues = { samples: 0, weight: 0 };
const NO_FIGURES = { self: NOTHING, total: NOTHING };

/** What only groups others has one of these as its object. */
const GROUPS: ReadonlySet<string> = new Set([
	...["process", "machine", "class", "mode", "object", "exit", "culprit", "note", "host", "vcpu", "thread"],
]);

export function toProfile(v: FleetValues): ProfileValues {
	return { samples: v.samples, weight: v.ns };
}

export function rowsOfTop(top: FleetTop): readonly Figured[] {
	return top.rows.map((r) => ({
		name: r.name,
		object: r.object,
		self: toProfile(r.self),
		total: toProfile(r.total),
	}));
}

export interface Sides {
	readonly before: readonly ProfileNode[];
	readonly after: readonly ProfileNode[];
}

/** Both sides of a tree, each with what it has. */
export function sidesOf(nodes: FleetDiffTree["nodes"]): Sides {
	const of = (side: "before" | "after"): readonly ProfileNode[] =>
		nodes
			.filter((n) => n[side].total.samples > 0 || n[side].total.ns > 0)
			.map(({ depth, name, object, [side]: v }) => ({
				depth,
				name,
				object,
				self: toProfile(v.self),
				total: toProfile(v.total),
			}));
	return { before: of("before"), after: of("after") };
}

/** Only what is below processes of these names, which then are the outermost. */
export function belowProcess(nodes: readonly ProfileNode[], text: string): readonly ProfileNode[] {
	const words = wordsOf(text);
	if (!words.length) return nodes;
	const kept: ProfileNode[] = [];
	let root = -1;
	for (const n of nodes) {
		if (root >= 0 && n.depth <= root) root = -1;
		if (root < 0 && n.object === "process" && words.some((w) => fitsPattern(w, n.name))) root = n.depth;
		if (root >= 0) kept.push({ ...n, depth: n.depth - root });
	}
	return kept;
}

export function sumOf(nodes: readonly ProfileNode[]): ProfileValues {
	return nodes.filter((n) => n.depth === 0).reduce((sum, n) => addValues(sum, n.total), NOTHING);
}

function rowOf(n: ProfileNode, by: FleetBy): readonly [string, string | null] | null {
	if (n.others) return null;
	const grouped = n.object !== null && GROUPS.has(n.object);
	if (by === "function") return grouped ? null : [n.name, n.object];
	if (by === "object") return grouped || n.object === null ? null : [n.object, null];
	return n.object === by ? [n.name, null] : null;
}

/** The list that stacks make; what stands in itself counts once in its total. */
export function rowsOfNodes(nodes: readonly ProfileNode[], by: FleetBy): readonly Figured[] {
	const table = new Map<string, { name: string; object: string | null } & typeof NO_FIGURES>();
	const way: string[] = [];
	for (const n of nodes) {
		way.length = n.depth;
		const row = rowOf(n, by);
		const key = row ? `${row[0]}\u0001${row[1] ?? ""}` : "";
		if (row) {
			const old = table.get(key) ?? { name: row[0], object: row[1], ...NO_FIGURES };
			const inside = way.includes(key);
			const total = inside ? old.total : addValues(old.total, n.total);
			const own = by === "function" || by === "object" ? n.self : inside ? NOTHING : n.total;
			table.set(key, { ...old, self: addValues(old.self, own), total });
		}
		way.push(key);
	}
	return [...table.values()].sort((a, b) => b.self.weight - a.self.weight);
}

type Change = FleetDiff["changes"][number];

export function comparedOfDiff(diff: FleetDiff, samples: boolean): readonly Compared[] {
	const key = samples ? "samples" : "ns";
	const [whole, other] = [diff.after.all[key] || 1, diff.before.all[key] || 1];
	const of = (c: Change, which: "self" | "total") =>
		changeOf((c.before?.[which][key] ?? 0) / other, (c.after?.[which][key] ?? 0) / whole);
	return diff.changes.map((c) => ({
		name: c.name,
		object: c.object,
		self: of(c, "self"),
		total: of(c, "total"),
		samples: [c.before?.self.samples ?? 0, c.after?.self.samples ?? 0],
	}));
}

export function comparedOfNodes(sides: Sides, by: FleetBy, samples: boolean): readonly Compared[] {
	const unit = samples ? "samples" : "weight";
	const keyOf = (r: Figured): string => `${r.name}\u0001${r.object ?? ""}`;
	const before = new Map(rowsOfNodes(sides.before, by).map((r) => [keyOf(r), r]));
	const after = new Map(rowsOfNodes(sides.after, by).map((r) => [keyOf(r), r]));
	const [then, now] = [sumOf(sides.before)[unit] || 1, sumOf(sides.after)[unit] || 1];
	return [...new Map([...before, ...after])].map(([key, { name, object }]) => {
		const [a, b] = [before.get(key), after.get(key)];
		return {
			name,
			object,
			self: changeOf((a?.self[unit] ?? 0) / then, (b?.self[unit] ?? 0) / now),
			total: changeOf((a?.total[unit] ?? 0) / then, (b?.total[unit] ?? 0) / now),
			samples: [a?.self.samples ?? 0, b?.self.samples ?? 0] as const,
		};
	});
}
