// SPDX-License-Identifier: MIT
// tasks: who is known of a run. The whole run's overview names those with the most CPU time first; tiles add the
// others as they come. Places in the order are never changed by what comes later, so that rows do not jump under
// the pointer. A row is a pid, and has all tasks that had it, one after the other, each with its own name on its
// slices. The row has the names in the order of their times, "sh → gzip": a tile says what a task was called at the
// tile's end, and tiles come in any order, so the time of a name is kept with it.
import { nameId } from "./names";

export interface Task {
	readonly pid: number;
	tgid: number; /* its own pid while nobody knows better */
	comm: string;
	/** When it was called so; -1 while nobody said. */
	namedNs: number;
	/** All names that were seen, and when each was first. */
	readonly names: Map<string, number>;
	/** Over the whole run, as far as the overview says. */
	runNs: number;
	readonly place: number;
}

/** What a tile says of tasks, at its end. */
interface KnownTasks {
	readonly to: number;
	readonly pid: Int32Array;
	readonly tgid: Int32Array;
	readonly comm: readonly string[];
	readonly runNs?: Float64Array;
	readonly process?: readonly string[];
	readonly from?: number;
	readonly pieceNs?: number;
	readonly pieces?: number;
	readonly share?: Uint8Array;
}

/** When a tile knows a task by its name: at its end; from afar, behind the last piece in which it ran so. */
function seenAt(tile: KnownTasks, i: number): number {
	const { share, pieces = 0, from = 0, pieceNs = 0 } = tile;
	if (!share) return tile.to;
	const last = share.subarray(i * pieces, (i + 1) * pieces).findLastIndex((part) => part > 0);
	return from + (last + 1) * pieceNs;
}

export class Tasks {
	readonly byPid = new Map<number, Task>();
	/** Counts changes that rows depend on. */
	version = 0;

	/** What was known of a task at `atNs`. */
	put(pid: number, tgid: number, comm: string, atNs: number, runNs = 0): void {
		if (pid <= 0) return;
		let known = this.byPid.get(pid);
		if (!known) {
			const place = this.byPid.size;
			known = { pid, tgid: tgid > 0 ? tgid : pid, comm: "", namedNs: -1, names: new Map(), runNs, place };
			this.byPid.set(pid, known);
			this.version++;
		}
		known.runNs = Math.max(known.runNs, runNs);
		if (tgid > 0 && known.tgid !== tgid) {
			known.tgid = tgid;
			this.version++;
		}
		if (comm === "") return;
		const first = known.names.get(comm);
		if (first === undefined || atNs < first) {
			known.names.set(comm, atNs);
			this.version++;
		}
		if (atNs < known.namedNs) return;
		known.namedNs = atNs;
		if (comm === known.comm) return;
		known.comm = comm;
		this.version++;
	}

	/** All of a tile. From afar a pid has a line for each of its names: those with the most time of all names come
	 * first, and of a pid's names the latest last. */
	putAll(tile: KnownTasks): void {
		const total = new Map<number, number>();
		const of = (i: number): number => total.get(tile.pid[i] ?? 0) ?? 0;
		tile.runNs?.forEach((ns, i) => total.set(tile.pid[i] ?? 0, of(i) + ns));
		const lines = Array.from(tile.pid.keys());
		for (const i of lines.sort((a, b) => of(b) - of(a) || seenAt(tile, a) - seenAt(tile, b) || a - b)) {
			const tgid = tile.tgid[i] ?? -1;
			this.put(tile.pid[i] ?? 0, tgid, tile.comm[i] ?? "", seenAt(tile, i), of(i));
			/* A process has its leader's name, which may have slept all the time. */
			const leader = tile.process?.[i] ?? "";
			if (leader !== "" && !this.byPid.has(tgid)) this.put(tgid, tgid, leader, 0);
		}
	}
}

const NAMES_MAX = 3; /* in the name of a row */

/** "sh → gzip": all names of a row's tasks, by time; where they are many, the first and the last ones. */
export function namesOf(task: Task): string {
	const names = [...task.names].sort((a, b) => a[1] - b[1]).map(([name]) => name);
	if (names.length <= 1) return task.comm;
	if (names.length <= NAMES_MAX) return names.join(" → ");
	return [names[0], "…", ...names.slice(1 - NAMES_MAX)].join(" → ");
}

/** Where the tasks of a tile are in it, and the numbers of their names. */
export interface TileTasks {
	/** Of a pid: all that had it in this tile, by birth. */
	readonly byPid: ReadonlyMap<number, readonly number[]>;
	/** When the next task with the same pid was there first; Infinity: there is none. Of the tile's beginning. */
	readonly until: Float64Array;
	readonly names: Int32Array;
}

interface Indexed {
	readonly pid: Int32Array;
	readonly comm: readonly string[];
	readonly spanAt?: Uint32Array;
	readonly spanEnd?: Float64Array;
	readonly spanState?: Uint8Array;
}

const UNKNOWN = 0;
const UNBORN = 9;

/** When something is known of a task first, after its birth. */
function knownFrom(tile: Indexed, task: number): number {
	let at = 0;
	for (let i = tile.spanAt?.[task] ?? 0; i < (tile.spanAt?.[task + 1] ?? 0); i++) {
		const state = tile.spanState?.[i] ?? UNKNOWN;
		if (state !== UNKNOWN && state !== UNBORN) return at;
		at = tile.spanEnd?.[i] ?? at;
	}
	return at;
}

export function indexTasks(tile: Indexed): TileTasks {
	const byPid = new Map<number, number[]>();
	const until = new Float64Array(tile.pid.length).fill(Infinity);
	tile.pid.forEach((pid, i) => {
		const before = byPid.get(pid);
		const last = before?.at(-1);
		if (before && last !== undefined) {
			until[last] = knownFrom(tile, i);
			before.push(i);
		} else byPid.set(pid, [i]);
	});
	return { byPid, until, names: Int32Array.from(tile.comm, nameId) };
}

/** The task that had a pid at a time of the tile; of none that lived then, the next one. */
export function taskAt(index: TileTasks, pid: number, ns: number): number | undefined {
	return index.byPid.get(pid)?.find((task) => ns < (index.until[task] ?? Infinity));
}

/** "nginx", "ngi*x", "42"; several with commas. Empty: everybody. */
export function matcher(text: string): (pid: number, comm: string) => boolean {
	const parts = text
		.split(",")
		.map((x) => x.trim().toLowerCase())
		.filter((x) => x !== "");
	if (!parts.length) return () => true;
	const tests = parts.map((part) => {
		if (/^\d+$/.test(part)) {
			const pid = Number(part);
			return (p: number, comm: string) => p === pid || comm.toLowerCase().includes(part);
		}
		if (!/[*?]/.test(part)) return (_: number, comm: string) => comm.toLowerCase().includes(part);
		const source = part
			.replace(/[.+^${}()|[\]\\]/g, "\\$&")
			.replaceAll("*", ".*")
			.replaceAll("?", ".");
		const pattern = new RegExp(`^${source}$`, "u");
		return (_: number, comm: string) => pattern.test(comm.toLowerCase());
	});
	return (pid, comm) => tests.some((test) => test(pid, comm));
}
