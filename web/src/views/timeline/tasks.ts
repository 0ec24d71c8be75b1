// SPDX-License-Identifier: MIT
// tasks: who is known of a run. The whole run's overview names those with the most CPU time first; tiles add the
// others as they come. Places in the order are never changed by what comes later, so that rows do not jump under
// the pointer. A task is called as it was last: a tile says what it was called at the tile's end, and tiles come in any
// order, so the time of a name is kept with it (who is seen between fork and exec has its parent's name there).
import { nameId } from "./names";

export interface Task {
	readonly pid: number;
	tgid: number; /* its own pid while nobody knows better */
	comm: string;
	/** When it was called so; -1 while nobody said. */
	namedNs: number;
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
			known = { pid, tgid: tgid > 0 ? tgid : pid, comm: "", namedNs: -1, runNs, place: this.byPid.size };
			this.byPid.set(pid, known);
			this.version++;
		}
		known.runNs = Math.max(known.runNs, runNs);
		if (tgid > 0 && known.tgid !== tgid) {
			known.tgid = tgid;
			this.version++;
		}
		if (comm === "" || atNs < known.namedNs) return;
		known.namedNs = atNs;
		if (comm === known.comm) return;
		known.comm = comm;
		this.version++;
	}

	/** All of a tile. */
	putAll(tile: KnownTasks): void {
		for (let i = 0; i < tile.pid.length; i++)
			this.put(tile.pid[i] ?? 0, tile.tgid[i] ?? -1, tile.comm[i] ?? "", tile.to, tile.runNs?.[i] ?? 0);
	}
}

/** Where each task of a tile is in it, and the number of its name. */
export interface TileTasks {
	readonly index: ReadonlyMap<number, number>;
	readonly names: Int32Array;
}

export function indexTasks(tile: { pid: Int32Array; comm: readonly string[] }): TileTasks {
	const index = new Map<number, number>();
	tile.pid.forEach((pid, i) => index.set(pid, i));
	return { index, names: Int32Array.from(tile.comm, nameId) };
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
