// SPDX-License-Identifier: MIT
// table: functions, processes, threads, objects or CPUs of the selection; and the same for two recordings.
import { useMemo } from "preact/hooks";

import type { ProfileBy, ProfileReport, ProfileRow, ProfileSelection } from "../../api/profile";
import { FlameSearch } from "../../flame/bar";
import { changeOf, type Change } from "../../flame/change";
import { idOf } from "../../flame/forest";
import { matcherOf } from "../../flame/search";
import { formatCount, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import { Problem } from "../../parts/problem";
import { formatOrder, parseOrder, Table, type Column } from "../../parts/table";
import { useReport } from "./data";
import { formatChange, formatValue, ObjectNote, pick, unitOf, type Unit } from "./figures";
import { withoutNumber } from "./forest";
import { change, type State } from "./state";
import { manyOf, say } from "./words";

interface Named {
	readonly name: string;
	readonly object: string | null;
}

const nameColumn = <T extends Named>(by: ProfileBy): Column<T> => ({
	id: "name",
	head: say(by),
	cell: (r) => (
		<>
			<Name text={by === "cpu" ? say("cpuName", { n: r.name }) : r.name} />
			<ObjectNote text={r.object} />
		</>
	),
	order: (r) => r.name,
});

function valueColumns(
	report: ProfileReport,
	unit: Unit,
	which: "self" | "total",
): readonly Column<ProfileRow>[] {
	const whole = pick(report.totals.total, unit) || 1;
	const most = report.rows.reduce((n, r) => Math.max(n, pick(r[which], unit)), 1);
	return [
		{
			id: which,
			head: say(which),
			numeric: true,
			cell: (r) => (
				<span class="measured">
					<i
						class="length"
						ref={(e) => e?.style.setProperty("width", `${((100 * pick(r[which], unit)) / most).toFixed(1)}%`)}
					/>
					{formatValue(pick(r[which], unit), unit)}
				</span>
			),
			order: (r) => pick(r[which], unit),
		},
		{
			id: `${which}-share`,
			head: say("share"),
			hint: say("shareHint"),
			numeric: true,
			cell: (r) => formatPercent(pick(r[which], unit) / whole),
			order: (r) => pick(r[which], unit),
		},
	];
}

function columnsOf(report: ProfileReport, unit: Unit): readonly Column<ProfileRow>[] {
	const part = (id: "kernel" | "guest"): Column<ProfileRow> => ({
		id,
		head: say(id),
		hint: say("partHint"),
		numeric: true,
		cell: (r) => formatPercent(r[id] / (r.self.samples || 1)),
		order: (r) => r[id] / (r.self.samples || 1),
	});
	return [
		nameColumn<ProfileRow>(report.by),
		...valueColumns(report, unit, "self"),
		...(report.by === "function" || report.by === "object" ? valueColumns(report, unit, "total") : []),
		{
			id: "samples",
			head: say("samples"),
			hint: say("samplesHint"),
			numeric: true,
			cell: (r) => formatCount(r.self.samples),
			order: (r) => r.self.samples,
		},
		part("kernel"),
		...(report.rows.some((r) => r.guest > 0) ? [part("guest")] : []),
	];
}

export interface Compared extends Named {
	readonly self: Change;
	readonly total: Change;
	readonly samples: readonly [number, number];
}

/** Rows of two reports side by side, as shares; the same ones are those of the same name and file. */
export function compareRows(before: ProfileReport, after: ProfileReport, unit: Unit): readonly Compared[] {
	const numbered = after.by === "process" || after.by === "thread";
	const nameOf = (r: ProfileRow): string => (numbered ? withoutNumber(r.name) : r.name);
	const objectOf = (r: ProfileRow): string | null =>
		r.object !== null && numbered ? withoutNumber(r.object) : r.object;
	const table = new Map<string, { name: string; object: string | null; parts: number[] }>();
	const take = (report: ProfileReport, at: 0 | 1): void => {
		const whole = pick(report.totals.total, unit) || 1;
		for (const r of report.rows) {
			const [name, object] = [nameOf(r), objectOf(r)];
			const row = table.get(idOf(name, object)) ?? { name, object, parts: [0, 0, 0, 0, 0, 0] };
			[pick(r.self, unit) / whole, pick(r.total, unit) / whole, r.self.samples].forEach(
				(v, i) => (row.parts[2 * i + at] = (row.parts[2 * i + at] ?? 0) + v),
			);
			table.set(idOf(name, object), row);
		}
	};
	take(before, 0);
	take(after, 1);
	return [...table.values()].map(({ name, object, parts: [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] }) => ({
		name,
		object,
		self: changeOf(a, b),
		total: changeOf(c, d),
		samples: [e, f],
	}));
}

function comparedColumns(by: ProfileBy): readonly Column<Compared>[] {
	const of = (id: "self" | "total"): readonly Column<Compared>[] => [
		{
			id: `${id}-before`,
			head: `${say(id)} ${say("before")}`,
			numeric: true,
			cell: (r) => formatPercent(r[id].before),
			order: (r) => r[id].before,
		},
		{
			id: `${id}-after`,
			head: `${say(id)} ${say("after")}`,
			numeric: true,
			cell: (r) => formatPercent(r[id].after),
			order: (r) => r[id].after,
		},
		{
			id: `${id}-change`,
			head: `${say(id)}: ${say("change")}`,
			numeric: true,
			cell: (r) => <span class={`change ${r[id].kind}`}>{formatChange(r[id])}</span>,
			order: (r) => r[id].after - r[id].before,
		},
	];
	return [
		nameColumn<Compared>(by),
		...of("self"),
		...(by === "function" || by === "object" ? of("total") : []),
		{
			id: "samples",
			head: say("samples"),
			numeric: true,
			cell: (r) => `${formatCount(r.samples[0])} → ${formatCount(r.samples[1])}`,
			order: (r) => r.samples[1] - r.samples[0],
		},
	];
}

interface RowsProps {
	readonly state: State;
	readonly report: ProfileReport;
	readonly base: ProfileReport | null;
}

function Rows({ state, report, base }: RowsProps) {
	const unit = unitOf(report.totals, state.samples);
	const matches = useMemo(() => matcherOf(state.find), [state.find]);
	const columns = useMemo(() => columnsOf(report, unit), [report, unit, say("share")]);
	const compared = useMemo(
		() => (base && base.by === report.by ? compareRows(base, report, unit) : null),
		[base, report, unit],
	);
	const fits = <T extends Named>(rows: readonly T[]): readonly T[] =>
		matches ? rows.filter((r) => matches(r.name, r.object)) : rows;
	const id = (r: Named): string => idOf(r.name, r.object);
	const orderOf = (all: readonly { readonly id: string }[]) => {
		const order = parseOrder(state.sort);
		return order && all.some((c) => c.id === order.column) ? order : null;
	};
	const common = {
		label: say(manyOf(report.by)),
		id,
		setOrder: (order: Parameters<typeof formatOrder>[0]) => change({ sort: formatOrder(order) }),
		empty: say("nothing"),
	};
	const heads = comparedColumns(report.by);
	return compared ? (
		<Table {...common} columns={heads} rows={fits(compared)} sort="self-change" order={orderOf(heads)} />
	) : (
		<Table
			{...common}
			columns={columns}
			rows={fits(report.rows)}
			sort="self"
			order={orderOf(columns)}
			{...(report.by === "process" || report.by === "thread"
				? { select: (r: ProfileRow) => openRow(report.by, r) }
				: {})}
		/>
	);
}

/** The number in "server (42)"; a process number that was used again is "(42#2)", and cannot be told from the first. */
export function numberOf(name: string): string {
	return /\((\d+)(?:#\d+)?\)$/.exec(name)?.[1] ?? "";
}

/** A process or thread that is clicked on is all that is shown. */
function openRow(by: ProfileBy, row: ProfileRow): void {
	const number = numberOf(row.name);
	if (!number) return;
	change({
		tab: "graph",
		zoom: "",
		at: "",
		...(by === "process" ? { process: number } : { thread: number }),
	});
}

export interface TableProps {
	readonly state: State;
	readonly by: ProfileBy;
	readonly after: ProfileSelection;
	readonly before: ProfileSelection | null;
	readonly round: number;
}

export function ProfileTable({ state, by, after, before, round }: TableProps) {
	const report = useReport(after, by, round);
	const base = useReport(before, by, round);
	const error = report.error ?? (before ? base.error : null);
	if (error) return <Problem error={error} retry={report.error ? report.again : base.again} />;
	const ready = report.value?.by === by && (!before || base.value?.by === by);
	return (
		<>
			<div class="bar">
				<FlameSearch state={state} text="" />
				{report.value && report.value.more > 0 && (
					<span class="quiet-note">{say("more", { n: formatCount(report.value.more) })}</span>
				)}
			</div>
			<div class="profile-body" aria-busy={report.waiting}>
				{ready && report.value ? (
					<Rows state={state} report={report.value} base={before ? (base.value ?? null) : null} />
				) : (
					<p class="quiet">{say("loading")}</p>
				)}
			</div>
		</>
	);
}
