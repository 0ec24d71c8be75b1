// SPDX-License-Identifier: MIT
// lanes: an answer of vm/slices as rows of pieces in order of time: virtual CPUs, machine by machine, and physical CPUs.
//
// A piece is a span, with all that is known of it, or several short ones that were merged: then it has only the time of
// each class. Times are those of the run's clock.
import { CLASSES, type Class, type HostTask, type VmSlices } from "../../api/vm";

export const KINDS = ["unknown", "idle", "vcpu", "other"] as const;
export type Kind = (typeof KINDS)[number];

export type Place = VmSlices["places"][number];

interface Time {
	readonly from: number;
	readonly to: number;
}

export interface VcpuPiece extends Time {
	/** Of one that was merged, the class that has most of it. */
	readonly cls: Class;
	/** Where it ran, or the CPU that it waits for; -1: none, or not known. */
	readonly cpu: number;
	readonly place: Place | null;
	readonly exit: string | null;
	/** Who had the CPU instead; null: not known, or nobody has. */
	readonly culprit: HostTask | null;
	/** Nanoseconds of each class, by its number; null: it is a single span. */
	readonly merged: readonly number[] | null;
}

export interface CpuPiece extends Time {
	readonly kind: Kind;
	readonly task: HostTask | null;
	readonly merged: readonly number[] | null;
}

export interface VcpuLane {
	readonly kind: "vcpu";
	/** As the address has it. */
	readonly id: string;
	readonly vm: number;
	readonly name: string | null;
	readonly vcpu: number;
	readonly tid: number;
	readonly comm: string;
	readonly ended: boolean;
	readonly pieces: readonly VcpuPiece[];
}

export interface CpuLane {
	readonly kind: "cpu";
	readonly id: string;
	readonly cpu: number;
	readonly pieces: readonly CpuPiece[];
}

export type Lane = VcpuLane | CpuLane;

export interface Lanes {
	readonly from: number;
	readonly to: number;
	readonly vcpus: readonly VcpuLane[];
	readonly cpus: readonly CpuLane[];
}

/** The number with the most, the first of equal ones. */
function mostOf(parts: readonly number[]): number {
	let most = 0;
	parts.forEach((ns, i) => (most = ns > (parts[most] ?? 0) ? i : most));
	return most;
}

/** Two lists that are in order of time as one. */
function join<T extends Time>(a: readonly T[], b: readonly T[]): readonly T[] {
	return [...a, ...b].sort((x, y) => x.from - y.from);
}

function vcpuPieces(s: VmSlices, v: VmSlices["vcpus"][number]): readonly VcpuPiece[] {
	const spans = v.spans.map(([start = 0, length = 0, number = 0, cpu = -1, what = -1]): VcpuPiece => {
		const cls = CLASSES[number] ?? "unknown";
		const isSteal = cls === "steal" || cls === "waiting";
		const isVmm = cls === "vmm-kernel" || cls === "vmm-user";
		return {
			from: s.from_ns + start,
			to: s.from_ns + start + length,
			cls,
			cpu,
			place: cls === "guest" ? (s.places[what] ?? null) : null,
			exit: isVmm ? (s.exits[what] ?? null) : null,
			culprit: isSteal ? (s.tasks[what] ?? null) : null,
			merged: null,
		};
	});
	const merged = v.merged.map(([start = 0, length = 0, ...parts]): VcpuPiece => ({
		from: s.from_ns + start,
		to: s.from_ns + start + length,
		cls: CLASSES[mostOf(parts)] ?? "unknown",
		cpu: -1,
		place: null,
		exit: null,
		culprit: null,
		merged: parts,
	}));
	return join(spans, merged);
}

function kindOf(task: HostTask | null): Kind {
	if (!task) return "unknown";
	if (task.tid === 0) return "idle";
	return task.vcpu === null ? "other" : "vcpu";
}

function cpuPieces(s: VmSlices, c: VmSlices["cpus"][number]): readonly CpuPiece[] {
	const spans = c.spans.map(([start = 0, length = 0, what = -1]): CpuPiece => {
		const task = s.tasks[what] ?? null;
		return {
			from: s.from_ns + start,
			to: s.from_ns + start + length,
			kind: kindOf(task),
			task,
			merged: null,
		};
	});
	const merged = c.merged.map(([start = 0, length = 0, ...parts]): CpuPiece => ({
		from: s.from_ns + start,
		to: s.from_ns + start + length,
		kind: KINDS[mostOf(parts)] ?? "unknown",
		task: null,
		merged: parts,
	}));
	return join(spans, merged);
}

export function lanesOf(s: VmSlices): Lanes {
	const vcpus = s.vcpus.map((v): VcpuLane => {
		const { vm, name, vcpu, tid, comm, ended } = v;
		return { kind: "vcpu", id: `t${tid}`, vm, name, vcpu, tid, comm, ended, pieces: vcpuPieces(s, v) };
	});
	/* Machine by machine, and in each by number. */
	vcpus.sort((a, b) => a.vm - b.vm || a.vcpu - b.vcpu || a.tid - b.tid);
	const cpus = s.cpus.map((c): CpuLane => ({
		kind: "cpu",
		id: `c${c.cpu}`,
		cpu: c.cpu,
		pieces: cpuPieces(s, c),
	}));
	return { from: s.from_ns, to: s.to_ns, vcpus, cpus };
}

/** The first piece that ends behind a moment; by halving. */
export function firstBehind(pieces: readonly Time[], ns: number): number {
	let from = 0;
	let to = pieces.length;
	while (from < to) {
		const middle = (from + to) >> 1;
		if ((pieces[middle]?.to ?? 0) <= ns) from = middle + 1;
		else to = middle;
	}
	return from;
}

export function pieceAt<T extends Time>(pieces: readonly T[], ns: number): T | null {
	const piece = pieces[firstBehind(pieces, ns)];
	return piece && piece.from <= ns ? piece : null;
}

/** Where the one that took the CPU is to be seen: its own row, if it is a virtual CPU, and the CPU's. */
export function culpritRows(piece: VcpuPiece): readonly string[] {
	const rows: string[] = [];
	if (piece.cpu >= 0) rows.push(`c${piece.cpu}`);
	if (piece.culprit && piece.culprit.vcpu !== null) rows.push(`t${piece.culprit.tid}`);
	return rows;
}

/** Of all virtual CPUs, the time of each class between two moments; pieces that are cut count by their part. */
export function classesOf(lane: VcpuLane, from: number, to: number): readonly number[] {
	const sums = CLASSES.map(() => 0);
	for (const p of lane.pieces) {
		const part = Math.min(p.to, to) - Math.max(p.from, from);
		if (part <= 0) continue;
		if (p.merged) p.merged.forEach((ns, i) => (sums[i] = (sums[i] ?? 0) + (ns * part) / (p.to - p.from)));
		else {
			const i = CLASSES.indexOf(p.cls);
			sums[i] = (sums[i] ?? 0) + part;
		}
	}
	return sums;
}
