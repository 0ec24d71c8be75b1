// SPDX-License-Identifier: MIT
// tables: the selection in numbers: classes of each virtual CPU, true and apparent times of what ran in guests, who had
// CPUs instead, and why guests were left.
import type { ComponentChildren } from "preact";

import {
	type Class,
	type Culprit,
	type Exit,
	type GuestBy,
	type GuestRow,
	type Machine,
	type VmRows,
	type VmSteal,
} from "../../api/vm";
import { formatCount, formatLength, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import { formatOrder, parseOrder, Table, type Column } from "../../parts/table";
import { colorOfClass, LOOKS } from "./looks";
import { className, machineName, taskName, vcpuName } from "./names";
import { change } from "./state";
import { say } from "./words";

interface Sorted {
	readonly sort: string;
}

function orderOf<T>(columns: readonly Column<T>[], sort: string) {
	const order = parseOrder(sort);
	return order && columns.some((c) => c.id === order.column) ? order : null;
}

const setOrder = (order: Parameters<typeof formatOrder>[0]): void => change({ sort: formatOrder(order) });

function lengthColumn<T>(id: string, head: string, of: (row: T) => number, hint?: string): Column<T> {
	return {
		id,
		head,
		numeric: true,
		cell: (row) => formatLength(of(row)),
		order: of,
		...(hint ? { hint } : {}),
	};
}

function countColumn<T>(id: string, head: string, of: (row: T) => number): Column<T> {
	return { id, head, numeric: true, cell: (row) => formatCount(of(row)), order: of };
}

/** Classes as a bar, in the order in which they stand everywhere. */
export function ClassBar({ classes, wall }: { classes: Machine["classes_ns"]; wall: number }) {
	const parts = BAR.filter((c) => classes[c] > 0);
	const text = parts.map((c) => `${className(c)} ${formatPercent(classes[c] / (wall || 1))}`).join(", ");
	return (
		<span class="split wide" role="img" aria-label={text} title={text}>
			{parts.map((c) => (
				<i
					key={c}
					class={`class-${LOOKS[c].pattern}`}
					ref={(e) => {
						e?.style.setProperty("flex-grow", String(classes[c] / (wall || 1)));
						e?.style.setProperty("--class", colorOfClass(c));
					}}
				/>
			))}
		</span>
	);
}

export const BAR: readonly Class[] = [
	"guest",
	"vmm-kernel",
	"vmm-user",
	"steal",
	"waiting",
	"halt-polling",
	"halt",
	"asleep",
	"unknown",
];

interface MachineRow {
	readonly id: string;
	readonly name: ComponentChildren;
	readonly order: string;
	readonly of: Pick<Machine, "wall_ns" | "classes_ns" | "sampling_ns" | "entries">;
}

function machineRows(machines: readonly Machine[]): readonly MachineRow[] {
	return machines
		.toSorted((a, b) => a.vm - b.vm)
		.flatMap((m) => [
			{
				id: String(m.vm),
				name: <strong>{machineName(m.vm, m.name)}</strong>,
				order: `${m.vm}`.padStart(10, "0"),
				of: m,
			},
			...m.vcpus
				.toSorted((a, b) => a.vcpu - b.vcpu)
				.map((v) => ({
					id: `${m.vm}/${v.tid}`,
					name: <span class="inner">{say("vcpuName", { n: v.vcpu < 0 ? "?" : v.vcpu })}</span>,
					order: `${`${m.vm}`.padStart(10, "0")}/${`${v.vcpu}`.padStart(5, "0")}`,
					of: v,
				})),
		]);
}

export function MachineTable({ machines, sort }: { machines: readonly Machine[] } & Sorted) {
	const share = (cls: Class): Column<MachineRow> => ({
		id: cls,
		head: className(cls),
		hint: say(`hint_${cls}`),
		numeric: true,
		cell: (r) => (
			<span title={formatLength(r.of.classes_ns[cls])}>
				{formatPercent(r.of.classes_ns[cls] / (r.of.wall_ns || 1))}
			</span>
		),
		order: (r) => r.of.classes_ns[cls] / (r.of.wall_ns || 1),
	});
	const seen = BAR.filter((c) => machines.some((m) => m.classes_ns[c] > 0));
	const columns: readonly Column<MachineRow>[] = [
		{ id: "machine", head: say("machine"), cell: (r) => r.name, order: (r) => r.order },
		lengthColumn<MachineRow>("wall", say("wall"), (r) => r.of.wall_ns, say("wallHint")),
		{
			id: "bar",
			head: say("classes"),
			cell: (r) => <ClassBar classes={r.of.classes_ns} wall={r.of.wall_ns} />,
		},
		...seen.map(share),
		lengthColumn<MachineRow>("sampling", say("sampling"), (r) => r.of.sampling_ns, say("samplingHint")),
		countColumn<MachineRow>("entries", say("entries"), (r) => r.of.entries),
	];
	return (
		<Table
			label={say("machines")}
			columns={columns}
			rows={machineRows(machines)}
			id={(r) => r.id}
			order={orderOf(columns, sort)}
			setOrder={setOrder}
			empty={say("nothing")}
		/>
	);
}

export function GuestTable({ rows, by, sort }: { rows: VmRows; by: GuestBy } & Sorted) {
	const what = (r: GuestRow): string =>
		(by === "function" ? r.function : by === "thread" ? r.thread : r.process) ?? "";
	const columns: readonly Column<GuestRow>[] = [
		{
			id: "name",
			head: say(by),
			cell: (r) => (
				<>
					<Name text={what(r)} />
					{by === "function" && r.object && <small class="object">{r.object}</small>}
				</>
			),
			order: what,
		},
		...(by === "process"
			? []
			: [
					{
						id: "process",
						head: say("process"),
						cell: (r: GuestRow) => <Name text={r.process} />,
						order: (r: GuestRow) => r.process,
					},
				]),
		{ id: "vm", head: say("machine"), cell: (r) => machineName(r.vm), order: (r) => r.vm },
		lengthColumn<GuestRow>("true", say("trueTime"), (r) => r.true_ns, say("trueHint")),
		lengthColumn<GuestRow>("error", "±", (r) => r.error_ns, say("errorHint")),
		lengthColumn<GuestRow>("apparent", say("apparent"), (r) => r.apparent_ns, say("apparentHint")),
		lengthColumn<GuestRow>("steal1", say("steal1"), (r) => r.steal1_ns, say("steal1Hint")),
		lengthColumn<GuestRow>("steal2", say("steal2"), (r) => r.steal2_ns, say("steal2Hint")),
		countColumn<GuestRow>("samples", say("samples"), (r) => r.samples),
	];
	return (
		<Table
			label={say("guests")}
			columns={columns}
			rows={rows.rows}
			id={(r) => [r.vm, r.process, r.thread, r.function, r.object].join("\u0001")}
			sort="true"
			order={orderOf(columns, sort)}
			setOrder={setOrder}
			empty={say("nothing")}
		/>
	);
}

export function StealTable({ steal, sort }: { steal: VmSteal } & Sorted) {
	const columns: readonly Column<Culprit>[] = [
		{
			id: "vcpu",
			head: say("vcpu"),
			cell: (r) => vcpuName(r.vm, r.vcpu),
			order: (r) => vcpuName(r.vm, r.vcpu),
		},
		{
			id: "by",
			head: say("culprit"),
			cell: (r) => <Name text={taskName(r.by)} />,
			order: (r) => taskName(r.by),
		},
		lengthColumn<Culprit>("sum", say("steal1"), (r) => r.steal_ns + r.waiting_ns, say("steal1Hint")),
		lengthColumn<Culprit>("steal", className("steal"), (r) => r.steal_ns, say("hint_steal")),
		lengthColumn<Culprit>("waiting", className("waiting"), (r) => r.waiting_ns, say("hint_waiting")),
		countColumn<Culprit>("times", say("times"), (r) => r.times),
	];
	return (
		<Table
			label={say("culprits")}
			columns={columns}
			rows={steal.culprits}
			id={(r) => `${r.tid} ${r.by?.tid ?? "?"}`}
			sort="sum"
			order={orderOf(columns, sort)}
			setOrder={setOrder}
			empty={say("noSteal")}
		/>
	);
}

export function ExitTable({ steal, sort }: { steal: VmSteal } & Sorted) {
	const columns: readonly Column<Exit>[] = [
		{
			id: "vcpu",
			head: say("vcpu"),
			cell: (r) => vcpuName(r.vm, r.vcpu),
			order: (r) => vcpuName(r.vm, r.vcpu),
		},
		{ id: "exit", head: say("exit"), cell: (r) => r.exit ?? say("notKnown"), order: (r) => r.exit ?? "" },
		countColumn<Exit>("exits", say("times"), (r) => r.exits),
		lengthColumn<Exit>("sum", say("steal2"), (r) => r.kernel_ns + r.user_ns, say("steal2Hint")),
		lengthColumn<Exit>("kernel", className("vmm-kernel"), (r) => r.kernel_ns, say("hint_vmm-kernel")),
		lengthColumn<Exit>("user", className("vmm-user"), (r) => r.user_ns, say("hint_vmm-user")),
		lengthColumn<Exit>("sampling", say("sampling"), (r) => r.sampling_ns, say("samplingHint")),
	];
	return (
		<Table
			label={say("exits")}
			columns={columns}
			rows={steal.exits}
			id={(r) => `${r.tid} ${r.exit ?? "?"} ${r.reason ?? ""}`}
			sort="sum"
			order={orderOf(columns, sort)}
			setOrder={setOrder}
			empty={say("nothing")}
		/>
	);
}

export function Legend() {
	return (
		<ul class="vm-legend">
			{BAR.map((c) => (
				<li key={c} data-class={c}>
					<i
						class={`swatch class-${LOOKS[c].pattern}`}
						aria-hidden="true"
						ref={(e) => {
							e?.style.setProperty("--class", colorOfClass(c));
							e?.style.setProperty("--high", String(LOOKS[c].height));
						}}
					/>
					<b>{className(c)}</b> {say(`hint_${c}`)}
				</li>
			))}
			<li>{say("legendFar")}</li>
		</ul>
	);
}
