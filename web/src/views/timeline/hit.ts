// SPDX-License-Identifier: MIT
// hit: what is at a time in a row: the slice there, whole, even if tiles cut it; its neighbours; who woke it.
import { CALL_BEGAN_BEFORE, CALL_ENDS_LATER, type Calls } from "./calls";
import { RUNNING, SLICE_IDLE, SLICE_INFERRED, SLICE_KIND, SLICE_TASK, type Detail } from "./decode";
import type { Row } from "./layout";
import { callAt, callAtEdge, type CallAt } from "./lanes";
import { findEnd } from "./quantise";
import type { CallSource, Source } from "./source";
import { taskAt } from "./tasks";
import { coverSpan } from "./tiles";

export type SliceKind = "task" | "idle" | "unknown";

export interface Slice {
	readonly rowId: string;
	readonly kind: SliceKind;
	/** Of the axis. */
	readonly from: number;
	readonly to: number;
	/** It goes on beyond what is known. */
	readonly isOpenBefore: boolean;
	readonly isOpenAfter: boolean;
	/** Numbers of docs/format/slices.md; of CPU rows: running. */
	readonly state: number;
	readonly cpu: number; /* -1: none */
	readonly pid: number; /* -1: none */
	readonly tgid: number;
	readonly comm: string;
	readonly isInferred: boolean;
	/** Of a call: its function, and how deep it is nested. */
	readonly fn: string | null;
	readonly depth: number | null;
}

/** A slice of one tile, by its place in the arrays. */
interface Found {
	readonly tile: Detail;
	readonly index: number;
	readonly from: number;
	readonly to: number;
	readonly task: number;
	readonly state: number;
	readonly cpu: number;
	readonly kind: number;
}

const SLICE_MAX_TILES = 256;

function inCpu(tile: Detail, cpu: number, ns: number): Found | null {
	if (cpu >= tile.cpus) return null;
	const lo = tile.cpuAt[cpu] ?? 0;
	const hi = tile.cpuAt[cpu + 1] ?? lo;
	const index = findEnd(tile.sliceEnd, lo, hi, ns - tile.from);
	if (index >= hi) return null;
	const kind = tile.sliceKind[index] ?? 0;
	return {
		tile,
		index,
		from: tile.from + (index > lo ? (tile.sliceEnd[index - 1] ?? 0) : 0),
		to: tile.from + (tile.sliceEnd[index] ?? 0),
		task: tile.sliceTask[index] ?? -1,
		state: RUNNING,
		cpu,
		kind,
	};
}

function inTask(tile: Detail, task: number, ns: number): Found | null {
	const lo = tile.spanAt[task] ?? 0;
	const hi = tile.spanAt[task + 1] ?? lo;
	const index = findEnd(tile.spanEnd, lo, hi, ns - tile.from);
	if (index >= hi) return null;
	return {
		tile,
		index,
		from: tile.from + (index > lo ? (tile.spanEnd[index - 1] ?? 0) : 0),
		to: tile.from + (tile.spanEnd[index] ?? 0),
		task,
		state: tile.spanState[index] ?? 0,
		cpu: tile.spanCpu[index] ?? -1,
		kind: SLICE_TASK,
	};
}

function find(source: Source, row: Row, ns: number, level: number): Found | null {
	const piece = source.detailAt(ns, level);
	if (!piece || ns < piece.tile.from || ns >= piece.tile.to) return null;
	if (row.kind === "cpu") return inCpu(piece.tile, row.number, ns);
	const task = taskAt(source.index(piece.tile), row.number, ns - piece.tile.from);
	return task === undefined ? null : inTask(piece.tile, task, ns);
}

function pidOf(f: Found): number {
	return f.task < 0 ? -1 : (f.tile.pid[f.task] ?? -1);
}

function isSame(a: Found, b: Found): boolean {
	const kinds = (a.kind & SLICE_KIND) === (b.kind & SLICE_KIND);
	return kinds && a.state === b.state && a.cpu === b.cpu && pidOf(a) === pidOf(b);
}

/** Where the slice ends in one direction when tiles beside it are looked at, and whether that is known. */
function extend(
	source: Source,
	row: Row,
	first: Found,
	level: number,
	forward: boolean,
): { at: number; open: boolean } {
	let here = first;
	for (let i = 0; i < SLICE_MAX_TILES; i++) {
		const at = forward ? here.to : here.from;
		const edge = forward ? here.tile.to : here.tile.from;
		if (at !== edge) return { at, open: false };
		if (at <= source.start || at >= source.end) return { at, open: true };
		const next = find(source, row, forward ? at : at - 1, level);
		if (!next) return { at, open: true };
		if (!isSame(first, next)) return { at, open: false };
		if (next.tile === here.tile) return { at, open: true };
		here = next;
	}
	return { at: forward ? here.to : here.from, open: true };
}

/** `axisNs` is of the axis, as are the slice's times. */
export function sliceAt(source: Source, row: Row, axisNs: number, level: number): Slice | null {
	const found = find(source, row, axisNs - source.shift, level);
	if (!found) return null;
	const before = extend(source, row, found, level, false);
	const after = extend(source, row, found, level, true);
	const kind = found.kind & SLICE_KIND;
	const pid = pidOf(found);
	return {
		rowId: row.id,
		kind: kind === SLICE_TASK ? "task" : kind === SLICE_IDLE ? "idle" : "unknown",
		from: before.at + source.shift,
		to: after.at + source.shift,
		isOpenBefore: before.open,
		isOpenAfter: after.open,
		state: found.state,
		cpu: found.cpu,
		pid,
		tgid: pid < 0 ? -1 : (found.tile.tgid[found.task] ?? -1),
		comm: pid < 0 ? "" : (found.tile.comm[found.task] ?? ""),
		isInferred: (found.kind & SLICE_INFERRED) !== 0,
		fn: null,
		depth: null,
	};
}

function findCall(from: CallSource, tid: number, depth: number, ns: number, level: number): CallAt | null {
	for (const piece of coverSpan(from.tiles, { from: ns, to: ns + 1 }, level)) {
		const call = callAt(piece.tile, tid, depth, ns);
		if (call) return call;
	}
	return null;
}

/** The tile behind the end of a call's tile, or before its begin. Tiles are taken to the scheduler's clock by what was found
 * in the middle of each, so where they meet they may be some nanoseconds apart, or overlap. */
function tileBeside(from: CallSource, call: CallAt, isBehind: boolean, level: number): Calls | null {
	const { tile } = call;
	const edge = isBehind ? tile.to : tile.from;
	const apart = Math.ceil((tile.to - tile.from) / 1000);
	const beside = coverSpan(from.tiles, { from: edge - apart, to: edge + apart }, level).filter((p) => {
		const isOther = p.tile !== tile;
		return isOther && (isBehind ? p.tile.to > tile.to : p.tile.from < tile.from);
	});
	return (isBehind ? beside[0] : beside.at(-1))?.tile ?? null;
}

/** A call whole, as far as tiles beside it have the rest of it. */
function wholeCall(from: CallSource, tid: number, depth: number, ns: number, level: number): CallAt | null {
	const call = findCall(from, tid, depth, ns, level);
	if (!call) return null;
	let first = call;
	let last = call;
	for (let i = 0; i < SLICE_MAX_TILES && first.flags & CALL_BEGAN_BEFORE; i++) {
		const tile = tileBeside(from, first, false, level);
		const before = tile && callAtEdge(tile, tid, depth, false);
		if (!before || before.name !== call.name || !(before.flags & CALL_ENDS_LATER)) break;
		first = before;
	}
	for (let i = 0; i < SLICE_MAX_TILES && last.flags & CALL_ENDS_LATER; i++) {
		const tile = tileBeside(from, last, true, level);
		const next = tile && callAtEdge(tile, tid, depth, true);
		if (!next || next.name !== call.name || !(next.flags & CALL_BEGAN_BEFORE)) break;
		last = next;
	}
	const flags = (first.flags & CALL_BEGAN_BEFORE) | (last.flags & CALL_ENDS_LATER);
	return { name: call.name, from: first.from, to: last.to, flags, tile: call.tile };
}

/** A function under a thread's row. */
export function callSlice(
	source: Source,
	row: Row,
	depth: number,
	axisNs: number,
	level: number,
): Slice | null {
	for (const from of source.calls) {
		const call = wholeCall(from, row.number, depth, axisNs - source.shift, level);
		if (!call) continue;
		const task = source.tasks.byPid.get(row.number);
		return {
			rowId: row.id,
			kind: "task",
			from: call.from + source.shift,
			to: call.to + source.shift,
			isOpenBefore: (call.flags & CALL_BEGAN_BEFORE) !== 0,
			isOpenAfter: (call.flags & CALL_ENDS_LATER) !== 0,
			state: RUNNING,
			cpu: -1,
			pid: row.number,
			tgid: task?.tgid ?? -1,
			comm: task?.comm ?? "",
			isInferred: false,
			fn: call.name,
			depth,
		};
	}
	return null;
}

export interface Waking {
	/** Of the axis. */
	readonly at: number;
	readonly ran: number | null;
	readonly wakerPid: number; /* -1: an interrupt while idle, or not known */
	readonly wakerComm: string;
	readonly cpu: number;
}

function wakingAt(source: Source, tile: Detail, i: number): Waking {
	const waker = tile.waker[i] ?? -1;
	const ran = tile.wakeRan[i] ?? -1;
	return {
		at: tile.from + (tile.wakeAt[i] ?? 0) + source.shift,
		ran: ran < 0 ? null : tile.from + ran + source.shift,
		wakerPid: waker < 0 ? -1 : (tile.pid[waker] ?? -1),
		wakerComm: waker < 0 ? "" : (tile.comm[waker] ?? ""),
		cpu: tile.wakeCpu[i] ?? -1,
	};
}

/** The latest wakeup of a task up to a time of the axis, as far as tiles are there; null: look further back. */
export function wakingBefore(source: Source, pid: number, axisNs: number, level: number): Waking | null {
	let ns = axisNs - source.shift;
	for (let n = 0; n < SLICE_MAX_TILES; n++) {
		const piece = source.detailAt(ns, level);
		if (!piece) return null;
		const { tile } = piece;
		const task = taskAt(source.index(tile), pid, ns - tile.from);
		if (task !== undefined)
			for (
				let i = findEnd(tile.wakeAt, 0, tile.wakeAt.length, axisNs - source.shift - tile.from) - 1;
				i >= 0;
				i--
			)
				if (tile.woken[i] === task) return wakingAt(source, tile, i);
		if (tile.from >= ns || tile.from <= source.start) return null;
		ns = tile.from - 1;
	}
	return null;
}
