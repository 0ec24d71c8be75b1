// SPDX-License-Identifier: MIT
// table: rows that can be sorted by a click on a head, of which only those in sight are in the page, so that
// a hundred thousand of them cost what fifty cost. Rows have one height (`--row` of the style sheet).
import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";

export const ROW_PX = 26;
const BEYOND = 10; /* rows that are kept above and below what is in sight */

export interface Column<T> {
	readonly id: string;
	readonly head: string;
	readonly cell: (row: T) => ComponentChildren;
	/** What it is sorted by; without it, it cannot be. */
	readonly order?: (row: T) => number | string;
	readonly numeric?: boolean;
	readonly hint?: string;
}

export interface TableProps<T> {
	readonly label: string;
	readonly columns: readonly Column<T>[];
	readonly rows: readonly T[];
	readonly id: (row: T) => string | number;
	readonly select?: (row: T) => void;
	readonly selected?: string | number | null;
	/** Column and direction at first; numbers fall by default. */
	readonly sort?: string;
	/** Given, the order is somebody else's: in the address, so that a link has it. */
	readonly order?: Order | null;
	readonly setOrder?: (order: Order) => void;
	readonly empty?: string;
}

export interface Order {
	readonly column: string;
	readonly falling: boolean;
}

/** As it stands in the address: the column, with '-' in front if it falls. */
export function parseOrder(text: string): Order | null {
	return text ? { column: text.replace(/^-/, ""), falling: text.startsWith("-") } : null;
}

export function formatOrder(order: Order): string {
	return `${order.falling ? "-" : ""}${order.column}`;
}

export function sortRows<T>(
	rows: readonly T[],
	columns: readonly Column<T>[],
	order: Order | null,
): readonly T[] {
	const by = order && columns.find((c) => c.id === order.column)?.order;
	if (!by) return rows;
	const sign = order.falling ? -1 : 1;
	return rows.toSorted((a, b) => {
		const x = by(a);
		const y = by(b);
		if (typeof x === "string" || typeof y === "string") return sign * String(x).localeCompare(String(y));
		return sign * (x - y);
	});
}

export function Table<T>(props: TableProps<T>) {
	const first = props.columns.find((c) => c.id === props.sort);
	const [own, setOwn] = useState<Order | null>(first ? { column: first.id, falling: !!first.numeric } : null);
	const order = props.order ?? own;
	const [top, setTop] = useState(0);
	const box = useRef<HTMLDivElement>(null);
	const rows = useMemo(() => sortRows(props.rows, props.columns, order), [props.rows, props.columns, order]);
	const height = box.current?.clientHeight || 600;
	const from = Math.max(0, Math.floor(top / ROW_PX) - BEYOND);
	const to = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + BEYOND);
	const turn = (c: Column<T>): void =>
		(props.setOrder ?? setOwn)({
			column: c.id,
			falling: order?.column === c.id ? !order.falling : !!c.numeric,
		});
	return (
		<div class="table" ref={box} onScroll={(e) => setTop(e.currentTarget.scrollTop)} tabIndex={0}>
			<table aria-label={props.label} aria-rowcount={rows.length}>
				<thead>
					<tr>
						{props.columns.map((c) => {
							const sorted = order?.column === c.id;
							return (
								<th
									key={c.id}
									scope="col"
									class={c.numeric ? "n" : ""}
									title={c.hint}
									aria-sort={sorted ? (order.falling ? "descending" : "ascending") : undefined}
								>
									{c.order ? (
										<button type="button" onClick={() => turn(c)}>
											{c.head}
											<span aria-hidden="true">{sorted ? (order.falling ? " ▾" : " ▴") : ""}</span>
										</button>
									) : (
										c.head
									)}
								</th>
							);
						})}
					</tr>
				</thead>
				<tbody>
					<Space rows={from} columns={props.columns.length} />
					{rows.slice(from, to).map((row) => (
						<Row key={props.id(row)} row={row} table={props} />
					))}
					<Space rows={rows.length - to} columns={props.columns.length} />
				</tbody>
			</table>
			{!rows.length && props.empty && <p class="quiet">{props.empty}</p>}
		</div>
	);
}

function Space({ rows, columns }: { rows: number; columns: number }) {
	if (rows <= 0) return null;
	return (
		<tr aria-hidden="true" ref={(tr) => tr?.style.setProperty("height", `${rows * ROW_PX}px`)}>
			<td colSpan={columns} />
		</tr>
	);
}

function Row<T>({ row, table }: { row: T; table: TableProps<T> }) {
	const { select } = table;
	const selected = table.selected !== undefined && table.selected === table.id(row);
	return (
		<tr
			aria-selected={select ? selected : undefined}
			class={select ? "choice" : ""}
			tabIndex={select ? 0 : undefined}
			onClick={select && (() => select(row))}
			onKeyDown={select && ((e) => e.key === "Enter" && select(row))}
		>
			{table.columns.map((c) => (
				<td key={c.id} class={c.numeric ? "n" : ""}>
					{c.cell(row)}
				</td>
			))}
		</tr>
	);
}
