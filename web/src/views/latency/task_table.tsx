// SPDX-License-Identifier: MIT
// task_table: how long each task waited, in percentiles. Choosing one shows its own histogram and cases.
import { useMemo } from "preact/hooks";

import type { TaskWaits, WaitKind, Waits } from "../../api/latency";
import { setParams } from "../../app/address";
import { formatCount, formatLength } from "../../parts/format";
import { Name } from "../../parts/name";
import { formatOrder, parseOrder, Table, type Column } from "../../parts/table";
import { language } from "../../words/dictionary";
import { say } from "./words";

export function unclearOf(w: Waits): number {
	return w.unknown + w.inferred + w.never_ran + w.unseen;
}

export function unclearHint(w: Waits): string {
	return say("unclearHint", {
		unknown: formatCount(w.unknown),
		inferred: formatCount(w.inferred),
		never: formatCount(w.never_ran),
		unseen: formatCount(w.unseen),
	});
}

/** Words of a task that a filter is compared with. */
export function matchesTask(t: Pick<TaskWaits, "pid" | "comm">, filter: string): boolean {
	const text = filter.trim().toLowerCase();
	return text === "" || String(t.pid) === text || t.comm.toLowerCase().includes(text);
}

function columnsOf(kind: WaitKind): readonly Column<TaskWaits>[] {
	const length = (id: string, head: string, get: (w: Waits) => number): Column<TaskWaits> => ({
		...{ id, head, numeric: true },
		cell: (t) => (t[kind].waits ? formatLength(get(t[kind])) : "–"),
		order: (t) => (t[kind].waits ? get(t[kind]) : -1),
	});
	return [
		{ id: "comm", head: say("task"), cell: (t) => <Name text={t.comm} />, order: (t) => t.comm },
		{ id: "pid", head: say("pid"), numeric: true, cell: (t) => t.pid, order: (t) => t.pid },
		{
			...{ id: "waits", head: say("waits"), numeric: true },
			cell: (t) => formatCount(t[kind].waits),
			order: (t) => t[kind].waits,
		},
		length("avg", say("avg"), (w) => w.avg_ns),
		length("p50", "p50", (w) => w.p50_ns),
		length("p90", "p90", (w) => w.p90_ns),
		length("p99", "p99", (w) => w.p99_ns),
		length("p999", "p99.9", (w) => w.p999_ns),
		length("max", "max", (w) => w.max_ns),
		length("total", say("total"), (w) => w.total_ns),
		{
			...{ id: "unclear", head: say("unclear"), hint: say("unclearHead"), numeric: true },
			cell: (t) => <span title={unclearHint(t[kind])}>{formatCount(unclearOf(t[kind]))}</span>,
			order: (t) => unclearOf(t[kind]),
		},
	];
}

export interface TaskTableProps {
	readonly tasks: readonly TaskWaits[];
	readonly kind: WaitKind;
	readonly filter: string;
	readonly chosen: number | null;
	readonly sort: string;
}

/** Several tasks have had a pid, one after the other. */
const idOf = (t: TaskWaits): string => `${t.pid}@${t.born_ns}`;

export function TaskTable({ tasks, kind, filter, chosen, sort }: TaskTableProps) {
	const columns = useMemo(() => columnsOf(kind), [kind, language.value]);
	const rows = useMemo(() => tasks.filter((t) => matchesTask(t, filter)), [tasks, filter]);
	const own = rows.find((t) => t.pid === chosen);
	return (
		<Table
			label={say("tasks")}
			columns={columns}
			rows={rows}
			id={idOf}
			selected={own ? idOf(own) : null}
			select={(t) => setParams({ task: t.pid === chosen ? null : t.pid }, true)}
			order={parseOrder(sort) ?? { column: "max", falling: true }}
			setOrder={(o) => setParams({ sort: formatOrder(o) })}
		/>
	);
}
