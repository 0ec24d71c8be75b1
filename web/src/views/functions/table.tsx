// SPDX-License-Identifier: MIT
// table: every function of the selection, with the parts of its local time; and the same for two recordings.
import type { Figures, FunctionFigures, Named, Split } from "../../api/calls";
import { formatCount, formatLength, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import { formatOrder, parseOrder, Table, type Column, type Order } from "../../parts/table";
import { changeOf, type Change } from "../../flame/change";
import { formatChange } from "./figures";
import { idOf } from "../../flame/forest";
import { isSplit, partsOf, SplitBar, type Part } from "./split";
import type { Matcher } from "../../flame/search";
import { say } from "./words";

/** An order that was chosen; one by a column that is not there any more is none. */
function orderIn<T>(columns: readonly Column<T>[], text: string): Order | null {
	const order = parseOrder(text);
	return order && columns.some((c) => c.id === order.column) ? order : null;
}

const nameColumn = <T extends Named>(): Column<T> => ({
	id: "function",
	head: say("function"),
	cell: (f) => (
		<>
			<Name text={f.function} />
			{f.object && (
				<small class="object">
					<Name text={f.object} />
				</small>
			)}
		</>
	),
	order: (f) => f.function,
});

function lengthColumn(
	id: string,
	head: string,
	of: (f: FunctionFigures) => number | null,
): Column<FunctionFigures> {
	return {
		id,
		head,
		numeric: true,
		cell: (f) => {
			const ns = of(f);
			return ns === null ? "–" : formatLength(ns);
		},
		order: (f) => of(f) ?? -1,
	};
}

/** Which parts anything is known about; one column for each. */
function partColumns(all: Split): readonly Column<FunctionFigures>[] {
	if (!isSplit(all)) return [];
	const known: readonly Part[] = partsOf(all).map((p) => p.part);
	return known.map((part) => lengthColumn(part, say(part), (f) => f[`${part}_ns`]));
}

export interface FunctionTableProps {
	readonly functions: readonly FunctionFigures[];
	readonly all: Split;
	readonly matches: Matcher | null;
	readonly selected: string;
	readonly select: (id: string) => void;
	/** As the address has it. */
	readonly sort: string;
	readonly setSort: (sort: string) => void;
}

export function FunctionTable(props: FunctionTableProps) {
	const { all, matches } = props;
	const rows = matches ? props.functions.filter((f) => matches(f.function, f.object)) : props.functions;
	const most = rows.reduce((ns, f) => Math.max(ns, f.local_ns), 1);
	const columns: readonly Column<FunctionFigures>[] = [
		nameColumn<FunctionFigures>(),
		lengthColumn("local", say("local"), (f) => f.local_ns),
		{
			id: "share",
			head: say("share"),
			hint: say("shareHint"),
			numeric: true,
			cell: (f) => formatPercent(f.local_ns / (all.local_ns || 1)),
			order: (f) => f.local_ns,
		},
		{
			id: "split",
			head: say("split"),
			cell: (f) => <SplitBar split={f} scale={f.local_ns / most} />,
		},
		lengthColumn("total", say("total"), (f) => f.total_ns),
		{
			id: "calls",
			head: say("calls"),
			numeric: true,
			cell: (f) => formatCount(f.calls),
			order: (f) => f.calls,
		},
		...partColumns(all),
		lengthColumn("avg", say("average"), (f) => f.avg_ns),
		lengthColumn("min", say("shortest"), (f) => f.min_ns),
		lengthColumn("max", say("longest"), (f) => f.max_ns),
	];
	return (
		<Table
			label={say("table")}
			columns={columns}
			rows={rows}
			id={(f) => idOf(f.function, f.object)}
			select={(f) => props.select(idOf(f.function, f.object))}
			selected={props.selected}
			sort="local"
			order={orderIn(columns, props.sort)}
			setOrder={(order) => props.setSort(formatOrder(order))}
			empty={say("nothing")}
		/>
	);
}

export interface FunctionChange extends Named {
	readonly before: Figures | null;
	readonly after: Figures | null;
}

/** Functions of two reports side by side; the same ones are those of the same name and file. */
export function compareFunctions(
	before: readonly FunctionFigures[],
	after: readonly FunctionFigures[],
): readonly FunctionChange[] {
	const old = new Map(before.map((f) => [idOf(f.function, f.object), f]));
	const rows: FunctionChange[] = after.map((f) => {
		const id = idOf(f.function, f.object);
		const was = old.get(id) ?? null;
		old.delete(id);
		return { function: f.function, object: f.object, before: was, after: f };
	});
	for (const f of old.values()) rows.push({ function: f.function, object: f.object, before: f, after: null });
	return rows;
}

export interface CompareTableProps {
	readonly rows: readonly FunctionChange[];
	/** All local time of both, for shares; 1 and 1 compares times. */
	readonly whole: { readonly before: number; readonly after: number };
	readonly shares: boolean;
	readonly matches: Matcher | null;
	readonly selected: string;
	readonly select: (id: string) => void;
	/** As the address has it. */
	readonly sort: string;
	readonly setSort: (sort: string) => void;
}

export function CompareTable(props: CompareTableProps) {
	const { matches, shares, whole } = props;
	const rows = matches ? props.rows.filter((f) => matches(f.function, f.object)) : props.rows;
	const change = (f: FunctionChange, of: (x: Figures) => number): Change =>
		shares
			? changeOf(
					(f.before ? of(f.before) : 0) / (whole.before || 1),
					(f.after ? of(f.after) : 0) / (whole.after || 1),
				)
			: changeOf(f.before ? of(f.before) : 0, f.after ? of(f.after) : 0);
	const value = (v: number): string => (shares ? formatPercent(v) : formatLength(v));
	const columnsOf = (id: "local" | "total", head: string): readonly Column<FunctionChange>[] => {
		const of = (f: FunctionChange): Change => change(f, (x) => x[`${id}_ns`]);
		return [
			{
				id: `${id}-before`,
				head: `${head} ${say("before")}`,
				numeric: true,
				cell: (f) => value(of(f).before),
				order: (f) => of(f).before,
			},
			{
				id: `${id}-after`,
				head: `${head} ${say("after")}`,
				numeric: true,
				cell: (f) => value(of(f).after),
				order: (f) => of(f).after,
			},
			{
				id: `${id}-change`,
				head: `${head}: ${say("change")}`,
				numeric: true,
				cell: (f) => <span class={`change ${of(f).kind}`}>{formatChange(of(f), "total", shares)}</span>,
				order: (f) => of(f).after - of(f).before,
			},
		];
	};
	const columns: readonly Column<FunctionChange>[] = [
		nameColumn<FunctionChange>(),
		...columnsOf("local", say("local")),
		...columnsOf("total", say("total")),
		{
			id: "calls",
			head: say("calls"),
			numeric: true,
			cell: (f) => `${formatCount(f.before?.calls ?? 0)} → ${formatCount(f.after?.calls ?? 0)}`,
			order: (f) => (f.after?.calls ?? 0) - (f.before?.calls ?? 0),
		},
	];
	return (
		<Table
			label={say("compareTable")}
			columns={columns}
			rows={rows}
			id={(f) => idOf(f.function, f.object)}
			select={(f) => props.select(idOf(f.function, f.object))}
			selected={props.selected}
			sort="local-change"
			order={orderIn(columns, props.sort)}
			setOrder={(order) => props.setSort(formatOrder(order))}
			empty={say("nothing")}
		/>
	);
}
