// SPDX-License-Identifier: MIT
// forest: the time of all machines as one synthetic stack: machine, process, class, file, function.
//
// All boxes of a machine together are its wall time: what no row of the report has is "nobody's", and idle time and such
// stand below the machine itself. So what is missing is to be seen and not spread over what is there.
import type { Class, GuestRow, Machine } from "../../api/vm";
import { Grower, type Box as Path, type Forest as Paths, type Path as Step } from "../../flame/forest";

export interface Box extends Path {
	readonly parent: Box | null;
	readonly children: Box[];
	/** Of the box and all below it. */
	ns: number;
	samples: number;
	/** That it stands for, or lies below. */
	cls: Class | null;
	/** Of a machine's own box, its number. */
	vm: number | null;
}

export interface Forest extends Paths {
	readonly root: Box;
	readonly boxes: readonly Box[];
}

export interface Names {
	readonly machine: (vm: number, name: string | null) => string;
	readonly cls: (cls: Class) => string;
	readonly nobody: string;
}

/** What a machine does not spend in its guest and not for it. */
export const IDLE: readonly Class[] = ["halt", "halt-polling", "asleep", "unknown"];

/** The guest's time and both kinds of steal of one row. */
const PARTS = [
	["guest", "true_ns"],
	["steal", "steal1_ns"],
	["vmm-kernel", "steal2_ns"],
] as const;

interface Leaf {
	readonly vm: number;
	readonly path: readonly string[];
	readonly object: string | null;
	readonly cls: Class;
	readonly ns: number;
	readonly samples: number;
}

function leavesOfRow(row: GuestRow, machine: string, names: Names): readonly Leaf[] {
	return PARTS.map(([cls, field]) => ({
		vm: row.vm,
		path: [
			machine,
			row.process,
			names.cls(cls),
			...(row.object ? [row.object] : []),
			...(row.function ? [row.function] : []),
		],
		object: row.object ?? null,
		cls,
		ns: row[field],
		samples: cls === "guest" ? row.samples : 0,
	}));
}

/** What the rows of a machine do not have. */
function leavesOfRest(m: Machine, rows: readonly GuestRow[], machine: string, names: Names): readonly Leaf[] {
	const whole = { true_ns: m.classes_ns.guest, steal1_ns: m.steal1_ns, steal2_ns: m.steal2_ns };
	const rest = PARTS.map(([cls, field]): Leaf => ({
		vm: m.vm,
		path: [machine, names.nobody, names.cls(cls)],
		object: null,
		cls,
		ns: Math.max(0, whole[field] - rows.reduce((sum, r) => sum + r[field], 0)),
		samples: 0,
	}));
	const idle = IDLE.map((cls): Leaf => ({
		vm: m.vm,
		path: [machine, names.cls(cls)],
		object: null,
		cls,
		ns: m.classes_ns[cls],
		samples: 0,
	}));
	return [...rest, ...idle];
}

function plant(g: Grower<Box>, leaf: Leaf): void {
	if (leaf.ns <= 0) return;
	const steps = leaf.path.map((name, depth): Step => ({
		depth,
		name,
		object: depth === leaf.path.length - 1 ? leaf.object : null,
	}));
	const idle = IDLE.includes(leaf.cls);
	g.take(
		steps,
		(s) => s,
		(box, s) => {
			box.ns += leaf.ns;
			box.samples += leaf.samples;
			if (s.depth === 0) box.vm = leaf.vm;
			if (s.depth >= (idle ? 1 : 2)) box.cls = leaf.cls;
		},
	);
	g.root.ns += leaf.ns;
	g.root.samples += leaf.samples;
}

export function growForest(
	machines: readonly Machine[],
	rows: readonly GuestRow[],
	names: Names,
	withIdle: boolean,
): Forest {
	const g = new Grower<Box>((box) => Object.assign(box as Box, { ns: 0, samples: 0, cls: null, vm: null }));
	for (const m of machines) {
		const machine = names.machine(m.vm, m.name);
		const own = rows.filter((r) => r.vm === m.vm);
		for (const row of own) for (const leaf of leavesOfRow(row, machine, names)) plant(g, leaf);
		for (const leaf of leavesOfRest(m, own, machine, names))
			if (withIdle || !IDLE.includes(leaf.cls)) plant(g, leaf);
	}
	return { root: g.root, boxes: g.boxes, depth: g.depth };
}

export function valuesOf(forest: Forest): Float64Array {
	return Float64Array.from(forest.boxes, (b) => b.ns);
}
