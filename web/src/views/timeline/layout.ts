// SPDX-License-Identifier: MIT
// layout: which rows there are, in which order, and where. Rows have names that stay the same whatever is folded or
// filtered: "RUN.c0" is a CPU, "RUN.t1234" a task, "RUN.p1234" the head of a process, "RUN.d" the head of a device.
// The address names pinned and folded rows so, and so do the tests.
import { matcher, namesOf, type Task, type Tasks } from "./tasks";

export type RowKind = "device" | "cpu" | "process" | "thread";

export interface Row {
	readonly id: string;
	readonly kind: RowKind;
	/** Index of the source. */
	readonly source: number;
	/** Of a CPU row: its number; of a thread or process: its pid. */
	readonly number: number;
	readonly comm: string;
	readonly top: number;
	readonly height: number;
	/** Threads below a process. */
	readonly inner: boolean;
	/** Rows of functions below the states. */
	readonly depth: number;
	/** Has rows below it that can be hidden. */
	readonly folds: boolean;
	readonly folded: boolean;
	readonly pinned: boolean;
	/** Of the head of a process: its threads. */
	readonly members: readonly number[];
}

export const HEIGHTS: Readonly<Record<RowKind, number>> = { device: 24, cpu: 26, process: 20, thread: 20 };
export const CALL_HEIGHT = 14;
export const CALLS_MAX = 24;

export interface LayoutSource {
	readonly run: number;
	readonly cpus: number;
	readonly tasks: Tasks;
	/** How deep functions of a thread are nested, where there are any. */
	readonly depths: ReadonlyMap<number, number>;
}

export interface Wishes {
	readonly filter: string;
	readonly pinned: readonly string[];
	readonly folded: ReadonlySet<string>;
	/** Whether each source has a head: where there are several. */
	readonly heads: boolean;
}

export interface Layout {
	readonly pinned: readonly Row[];
	readonly pinnedHeight: number;
	readonly rows: readonly Row[];
	readonly height: number;
	readonly byId: ReadonlyMap<string, Row>;
}

type Draft = Omit<Row, "top" | "pinned" | "height">;

interface Group {
	readonly tgid: number;
	readonly members: Task[];
	place: number;
}

function matchesTask(matches: (pid: number, comm: string) => boolean, task: Task): boolean {
	return matches(task.pid, task.comm) || [...task.names.keys()].some((name) => matches(task.pid, name));
}

function groupTasks(tasks: Tasks, filter: string): readonly Group[] {
	const matches = matcher(filter);
	const groups = new Map<number, Group>();
	for (const task of tasks.byPid.values()) {
		const leader = tasks.byPid.get(task.tgid);
		if (!matchesTask(matches, task) && !(leader && matchesTask(matches, leader))) continue;
		const group = groups.get(task.tgid);
		if (group) {
			group.members.push(task);
			group.place = Math.min(group.place, task.place);
		} else groups.set(task.tgid, { tgid: task.tgid, members: [task], place: task.place });
	}
	return [...groups.values()].sort((a, b) => a.place - b.place);
}

function draftGroup(source: LayoutSource, index: number, group: Group, wishes: Wishes): readonly Draft[] {
	const thread = (t: Task, inner: boolean): Draft => ({
		id: `${source.run}.t${t.pid}`,
		kind: "thread",
		source: index,
		number: t.pid,
		comm: namesOf(t),
		inner,
		depth: Math.min(source.depths.get(t.pid) ?? 0, CALLS_MAX),
		folds: false,
		folded: false,
		members: [],
	});
	const [only] = group.members;
	if (group.members.length === 1 && only) return [thread(only, false)];
	const id = `${source.run}.p${group.tgid}`;
	const leader = source.tasks.byPid.get(group.tgid);
	const folded = wishes.folded.has(id);
	const head: Draft = {
		id,
		kind: "process",
		source: index,
		number: group.tgid,
		comm: leader ? namesOf(leader) : "",
		inner: false,
		depth: 0,
		folds: true,
		folded,
		members: group.members.map((t) => t.pid),
	};
	if (folded) return [head];
	return [head, ...group.members.toSorted((a, b) => a.place - b.place).map((t) => thread(t, true))];
}

function draftSource(source: LayoutSource, index: number, wishes: Wishes): readonly Draft[] {
	const drafts: Draft[] = [];
	const head = `${source.run}.d`;
	const plain = { source: index, comm: "", inner: false, depth: 0, members: [] };
	if (wishes.heads)
		drafts.push({
			...plain,
			id: head,
			kind: "device",
			number: 0,
			folds: true,
			folded: wishes.folded.has(head),
		});
	if (wishes.heads && wishes.folded.has(head)) return drafts;
	for (let cpu = 0; cpu < source.cpus; cpu++)
		drafts.push({
			...plain,
			id: `${source.run}.c${cpu}`,
			kind: "cpu",
			number: cpu,
			folds: false,
			folded: false,
		});
	for (const group of groupTasks(source.tasks, wishes.filter))
		drafts.push(...draftGroup(source, index, group, wishes));
	return drafts;
}

function place(drafts: readonly Draft[], pinned: boolean): { rows: Row[]; height: number } {
	let top = 0;
	const rows = drafts.map((draft) => {
		const height = HEIGHTS[draft.kind] + draft.depth * CALL_HEIGHT;
		const row: Row = { ...draft, top, height, pinned };
		top += height;
		return row;
	});
	return { rows, height: top };
}

export function makeLayout(sources: readonly LayoutSource[], wishes: Wishes): Layout {
	const drafts = sources.flatMap((s, i) => draftSource(s, i, wishes));
	const unfiltered = wishes.pinned.length
		? sources.flatMap((s, i) => draftSource(s, i, { ...wishes, filter: "", folded: new Set() }))
		: [];
	const top = wishes.pinned
		.map((id) => unfiltered.find((d) => d.id === id))
		.filter((d): d is Draft => d !== undefined);
	const pinned = place(top, true);
	const rest = place(
		drafts.filter((d) => !wishes.pinned.includes(d.id)),
		false,
	);
	const byId = new Map([...rest.rows, ...pinned.rows].map((row) => [row.id, row]));
	return { pinned: pinned.rows, pinnedHeight: pinned.height, rows: rest.rows, height: rest.height, byId };
}

/** Index of the row at a height; -1 above the first, rows.length below the last. */
export function rowAt(rows: readonly Row[], y: number): number {
	if (y < 0) return -1;
	let lo = 0;
	let hi = rows.length;
	while (lo < hi) {
		const middle = (lo + hi) >>> 1;
		const row = rows[middle];
		if (row && row.top + row.height > y) hi = middle;
		else lo = middle + 1;
	}
	return lo;
}
