// SPDX-License-Identifier: MIT
// table: functions, processes, threads, objects or CPUs of the selection; and the same for two recordings.
import { useMemo } from "preact/hooks";

import type { ProfileBy, ProfileReport, ProfileRow, ProfileSelection } from "../../api/profile";
import { FlameSearch } from "../../flame/bar";
import { changeOf } from "../../flame/change";
import { idOf } from "../../flame/forest";
import { matcherOf } from "../../flame/search";
import { formatCount, formatPercent } from "../../parts/format";
import { Problem } from "../../parts/problem";
import { formatOrder, parseOrder, Table, type Column } from "../../parts/table";
import {
	comparedColumns,
	nameColumn,
	samplesColumn,
	valueColumns,
	type Compared,
	type Named,
} from "./columns";
import { useReport } from "./data";
import { pick, unitOf, type Unit } from "./figures";
import { withoutNumber } from "./forest";
import { change, type State } from "./state";
import { manyOf, say } from "./words";

function columnsOf(report: ProfileReport, unit: Unit): readonly Column<ProfileRow>[] {
	const { by, rows } = report;
	const whole = pick(report.totals.total, unit);
	const part = (id: "kernel" | "guest"): Column<ProfileRow> => ({
		id,
		head: say(id),
		hint: say("partHint"),
		numeric: true,
		cell: (r) => formatPercent(r[id] / (r.self.samples || 1)),
		order: (r) => r[id] / (r.self.samples || 1),
	});
	return [
		nameColumn<ProfileRow>(say(by), (r) => (by === "cpu" ? say("cpuName", { n: r.name }) : r.name)),
		...valueColumns(rows, whole, unit, "self"),
		...(hasTotals(by) ? valueColumns(rows, whole, unit, "total") : []),
		samplesColumn<ProfileRow>(),
		part("kernel"),
		...(rows.some((r) => r.guest > 0) ? [part("guest")] : []),
	];
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

/** Of a function and a file also what they are anywhere in. */
const hasTotals = (by: ProfileBy): boolean => by === "function" || by === "object";

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
	const heads = comparedColumns(say(report.by), hasTotals(report.by));
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
