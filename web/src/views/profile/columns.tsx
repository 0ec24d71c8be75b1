// SPDX-License-Identifier: MIT
// columns: rows of a profile, of one selection and of two side by side; whoever has such rows shows them so.
import type { ProfileValues } from "../../api/profile";
import type { Change } from "../../flame/change";
import { formatCount, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import type { Column } from "../../parts/table";
import { formatChange, formatValue, ObjectNote, pick, type Unit } from "./figures";
import { say } from "./words";

export interface Named {
	readonly name: string;
	readonly object: string | null;
}

export interface Figured extends Named {
	readonly self: ProfileValues;
	readonly total: ProfileValues;
}

export function nameColumn<T extends Named>(
	head: string,
	title: (row: T) => string = (r) => r.name,
): Column<T> {
	return {
		id: "name",
		head,
		cell: (r) => (
			<>
				<Name text={title(r)} />
				<ObjectNote text={r.object} />
			</>
		),
		order: (r) => r.name,
	};
}

/** A value with its length, and its share of the whole. */
export function valueColumns<T extends Figured>(
	rows: readonly T[],
	whole: number,
	unit: Unit,
	which: "self" | "total",
): readonly Column<T>[] {
	const most = rows.reduce((n, r) => Math.max(n, pick(r[which], unit)), 1);
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
			cell: (r) => formatPercent(pick(r[which], unit) / (whole || 1)),
			order: (r) => pick(r[which], unit),
		},
	];
}

export function samplesColumn<T extends Figured>(): Column<T> {
	return {
		id: "samples",
		head: say("samples"),
		hint: say("samplesHint"),
		numeric: true,
		cell: (r) => formatCount(r.self.samples),
		order: (r) => r.self.samples,
	};
}

export interface Compared extends Named {
	readonly self: Change;
	readonly total: Change;
	readonly samples: readonly [number, number];
}

/** `head` is of the names; `totals`: what is anywhere in it is another figure than what ends in it. */
export function comparedColumns(head: string, totals: boolean): readonly Column<Compared>[] {
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
		nameColumn<Compared>(head),
		...of("self"),
		...(totals ? of("total") : []),
		{
			id: "samples",
			head: say("samples"),
			numeric: true,
			cell: (r) => `${formatCount(r.samples[0])} → ${formatCount(r.samples[1])}`,
			order: (r) => r.samples[1] - r.samples[0],
		},
	];
}
