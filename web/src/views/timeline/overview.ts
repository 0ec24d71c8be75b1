// SPDX-License-Identifier: MIT
// overview: an answer of …/timeline as arrays. Shares are kept as bytes (0 to 255; what is there at all is at least
// 1), because a picture cannot show more, and a tile with hundreds of tasks stays small.
import type { Timeline } from "../../api/schema";
import { weigh } from "./decode";

export interface Overview {
	readonly kind: "overview";
	readonly bytes: number;
	readonly final: boolean;
	readonly from: number;
	readonly to: number;
	readonly pieceNs: number;
	readonly pieces: number;
	readonly cpus: number;
	readonly runFrom: number;
	readonly runTo: number;
	/** busy[cpu * pieces + piece], and so on. */
	readonly busy: Uint8Array;
	readonly unknown: Uint8Array;
	readonly lost: Float32Array; /* events; -1: some that nobody counted */
	readonly events: Float32Array; /* of all CPUs, for each piece */
	readonly pid: Int32Array;
	readonly tgid: Int32Array;
	readonly comm: readonly string[];
	/** Name of the leader of its process; "": not known. */
	readonly process: readonly string[];
	readonly runNs: Float64Array;
	/** share[task * pieces + piece]. */
	readonly share: Uint8Array;
	readonly tasksInAll: number;
}

export function shareByte(part: number, whole: number): number {
	if (part <= 0 || whole <= 0) return 0;
	return Math.max(1, Math.min(255, Math.round((255 * part) / whole)));
}

function putCpus(
	t: Timeline,
	n: number,
	busy: Uint8Array,
	unknown: Uint8Array,
	lost: Float32Array,
	events: Float32Array,
): void {
	t.cpus.forEach((cpu, c) => {
		for (let i = 0; i < n; i++) {
			const whole = (cpu.busy_ns[i] ?? 0) + (cpu.idle_ns[i] ?? 0) + (cpu.unknown_ns[i] ?? 0);
			const at = c * n + i;
			busy[at] = shareByte(cpu.busy_ns[i] ?? 0, whole);
			unknown[at] = shareByte(cpu.unknown_ns[i] ?? 0, whole);
			lost[at] = cpu.lost[i] || (cpu.uncounted[i] ? -1 : 0);
			const count = (cpu.switches[i] ?? 0) + (cpu.wakeups[i] ?? 0) + (cpu.others[i] ?? 0);
			events[i] = (events[i] ?? 0) + count;
		}
	});
}

/** `endNs`: where the tile ends; a run that goes on behind it will not change it any more. */
export function decodeTimeline(t: Timeline, endNs: number): Overview {
	const n = t.pieces;
	const cpus = t.cpus.length;
	const tasks = t.tasks.length;
	const arrays = {
		busy: new Uint8Array(cpus * n),
		unknown: new Uint8Array(cpus * n),
		lost: new Float32Array(cpus * n),
		events: new Float32Array(n),
		pid: Int32Array.from(t.tasks, (k) => k.pid),
		tgid: Int32Array.from(t.tasks, (k) => k.tgid ?? -1),
		runNs: Float64Array.from(t.tasks, (k) => k.run_ns),
		share: new Uint8Array(tasks * n),
	};
	putCpus(t, n, arrays.busy, arrays.unknown, arrays.lost, arrays.events);
	t.tasks.forEach((task, k) => {
		for (let i = 0; i < task.pieces_ns.length; i++)
			arrays.share[k * n + i] = shareByte(task.pieces_ns[i] ?? 0, t.piece_ns);
	});
	return {
		kind: "overview",
		bytes: weigh(arrays, tasks),
		final: t.run_to_ns >= endNs && t.pending_from_ns === null,
		from: t.from_ns,
		to: t.to_ns,
		pieceNs: t.piece_ns,
		pieces: n,
		cpus,
		runFrom: t.run_from_ns,
		runTo: t.run_to_ns,
		comm: t.tasks.map((k) => k.comm),
		process: t.tasks.map((k) => k.process ?? ""),
		tasksInAll: t.tasks_in_all,
		...arrays,
	};
}

/** How many events there are between two times, as far as the overview can tell. */
export function eventsBetween(o: Overview, from: number, to: number): number {
	let sum = 0;
	const first = Math.max(0, Math.floor((from - o.from) / o.pieceNs));
	const last = Math.min(o.pieces - 1, Math.floor((to - o.from) / o.pieceNs));
	for (let i = first; i <= last; i++) {
		const start = o.from + i * o.pieceNs;
		const part = Math.min(to, start + o.pieceNs) - Math.max(from, start);
		sum += (o.events[i] ?? 0) * Math.max(0, part / o.pieceNs);
	}
	return sum;
}
