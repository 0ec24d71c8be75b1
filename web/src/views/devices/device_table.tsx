// SPDX-License-Identifier: MIT
// device_table: all devices, under the headings of their groups, of which only those in sight are in the page. A
// mark in front of each chooses it for what is done to several.
import type { Device } from "../../api/schema";
import { ROW_PX, sortRows, type Column, type Order } from "../../parts/table";
import { plain } from "../../parts/text";
import { useVisible } from "../../parts/visible";
import { deviceColumns, nameColumn } from "./columns";
import { linesOf, markOf, type Heading, type Line } from "./device_lines";
import { say } from "./words";

export interface DeviceTableProps {
	readonly devices: readonly Device[];
	readonly marks: ReadonlySet<string>;
	readonly mark: (devices: readonly Device[], on: boolean) => void;
	readonly opened: string;
	readonly open: (device: Device) => void;
	readonly order: Order;
	readonly setOrder: (order: Order) => void;
}

type Box = HTMLInputElement;

function isAll(list: readonly Device[], marks: ReadonlySet<string>): boolean {
	return list.length > 0 && list.every((d) => marks.has(markOf(d)));
}

function Head({ table, columns }: { table: DeviceTableProps; columns: readonly Column<Device>[] }) {
	const { order } = table;
	return (
		<thead>
			<tr>
				<th scope="col" class="mark">
					<input
						type="checkbox"
						aria-label={say("markAll")}
						title={say("markAll")}
						checked={isAll(table.devices, table.marks)}
						onChange={(e) => table.mark(table.devices, e.currentTarget.checked)}
					/>
				</th>
				{columns.map((c) => {
					const sorted = order.column === c.id;
					const turned = { column: c.id, falling: sorted ? !order.falling : !!c.numeric };
					return (
						<th
							key={c.id}
							scope="col"
							class={`${c.numeric ? "n" : ""} of-${c.id}`}
							title={c.hint}
							aria-sort={sorted ? (order.falling ? "descending" : "ascending") : undefined}
						>
							<button type="button" onClick={() => table.setOrder(turned)}>
								{c.head}
								<span aria-hidden="true">{sorted ? (order.falling ? " ▾" : " ▴") : ""}</span>
							</button>
						</th>
					);
				})}
			</tr>
		</thead>
	);
}

function GroupRow({ line, table, span }: { line: Heading; table: DeviceTableProps; span: number }) {
	return (
		<tr class="group">
			<td class="mark">
				<input
					type="checkbox"
					aria-label={say("mark", { name: plain(line.group) || say("noGroup") })}
					checked={isAll(line.devices, table.marks)}
					onChange={(e) => table.mark(line.devices, e.currentTarget.checked)}
				/>
			</td>
			<th scope="rowgroup" colSpan={span}>
				<bdi>{line.group === "" ? say("noGroup") : plain(line.group)}</bdi>{" "}
				<span class="fine">{line.devices.length}</span>
			</th>
		</tr>
	);
}

function DeviceRow({
	device,
	table,
	columns,
}: {
	device: Device;
	table: DeviceTableProps;
	columns: readonly Column<Device>[];
}) {
	const marked = table.marks.has(markOf(device));
	const turn = (on: boolean): void => table.mark([device], on);
	const keyDown = (e: KeyboardEvent & { currentTarget: HTMLTableRowElement }): void => {
		if (e.target !== e.currentTarget) return;
		const to =
			e.key === "ArrowDown" ? "nextElementSibling" : e.key === "ArrowUp" ? "previousElementSibling" : null;
		if (e.key === "Enter") table.open(device);
		else if (e.key === " ") turn(!marked);
		else if (to) {
			let next = e.currentTarget[to];
			while (next && !next.hasAttribute("data-device")) next = next[to];
			if (next instanceof HTMLElement) next.focus();
		} else return;
		e.preventDefault();
	};
	return (
		<tr
			class="choice"
			data-device={device.id}
			aria-selected={device.id === table.opened}
			tabIndex={0}
			onClick={() => table.open(device)}
			onKeyDown={keyDown}
		>
			<td class="mark" onClick={(e) => e.stopPropagation()}>
				<input
					type="checkbox"
					aria-label={say("mark", { name: plain(device.name) })}
					checked={marked}
					onChange={(e: Event & { currentTarget: Box }) => turn(e.currentTarget.checked)}
				/>
			</td>
			{columns.map((c) => (
				<td key={c.id} class={`${c.numeric ? "n" : ""} of-${c.id}`}>
					{c.cell(device)}
				</td>
			))}
		</tr>
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

export function DeviceTable(table: DeviceTableProps) {
	const columns = [nameColumn(), ...deviceColumns()];
	const lines: readonly Line[] = linesOf(sortRows(table.devices, columns, table.order));
	const seen = useVisible(lines.length, ROW_PX, ROW_PX);
	return (
		<div class="table devices" ref={seen.box} onScroll={seen.onScroll} tabIndex={-1}>
			<table aria-label={say("title")} aria-rowcount={lines.length}>
				<Head table={table} columns={columns} />
				<tbody>
					<Space rows={seen.from} columns={columns.length + 1} />
					{lines
						.slice(seen.from, seen.to)
						.map((line) =>
							line.kind === "group" ? (
								<GroupRow key={`group ${line.group}`} line={line} table={table} span={columns.length} />
							) : (
								<DeviceRow key={line.device.id} device={line.device} table={table} columns={columns} />
							),
						)}
					<Space rows={lines.length - seen.to} columns={columns.length + 1} />
				</tbody>
			</table>
		</div>
	);
}
