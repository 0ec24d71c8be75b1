// SPDX-License-Identifier: MIT
// lists: what takes the time of these devices: functions, processes, files, and of virtual machines themselves and classes;
// or what changed between two times or two sets of devices. A click on a row shows it over time; on a device, only that.
import { useMemo } from "preact/hooks";

import { FlameSearch } from "../../flame/bar";
import { matcherOf } from "../../flame/search";
import { formatCount } from "../../parts/format";
import { formatOrder, parseOrder, Table, type Column, type Order } from "../../parts/table";
import {
	comparedColumns,
	nameColumn,
	samplesColumn,
	valueColumns,
	type Figured,
	type Named,
} from "../profile/columns";
import { pick } from "../profile/figures";
import { Spark } from "./chart";
import { useSparks, type ListAnswer, type Question } from "./data";
import { bysOf, change, currentState, unitOf, type State } from "./state";
import { say } from "./words";

export function idOfRow(row: Named): string {
	return `${row.name}\u0001${row.object ?? ""}`;
}

/** Of a function and a file also what they are anywhere in. */
const hasTotals = (state: State): boolean => state.by === "function" || state.by === "object";

function chosenId(state: State): string | null {
	return state.name ? idOfRow({ name: state.name, object: state.object || null }) : null;
}

/** A device is looked into; all else is shown over time. */
const hasTrend = (state: State): boolean => state.by !== "device";

function choose(row: Named): void {
	if (!hasTrend(currentState())) {
		change({ devices: row.name, by: "function", sort: "" });
		return;
	}
	const same = chosenId(currentState()) === idOfRow(row);
	change({ name: same ? "" : row.name, object: same ? "" : (row.object ?? "") });
}

function ByChoice({ state }: { state: State }) {
	return (
		<div class="choice-row" role="group" aria-label={say("by")}>
			{bysOf(state.kind, state.process).map((by) => (
				<button
					key={by}
					type="button"
					aria-pressed={state.by === by}
					onClick={() => change({ by, name: "", object: "", sort: "" })}
				>
					{say(by)}
				</button>
			))}
		</div>
	);
}

function columnsOf(
	answer: ListAnswer,
	state: State,
	sparkOf: (row: Figured) => preact.ComponentChildren,
): readonly Column<Figured>[] {
	const unit = unitOf(state);
	const whole = pick(answer.whole, unit);
	return [
		nameColumn<Figured>(say(state.by)),
		...valueColumns(answer.rows, whole, unit, "self"),
		...(hasTotals(state) ? valueColumns(answer.rows, whole, unit, "total") : []),
		samplesColumn<Figured>(),
		...(hasTrend(state) ? [{ id: "trend", head: say("trend"), hint: say("trendHint"), cell: sparkOf }] : []),
	];
}

/** Null: the order of the column that is there at first. */
function orderIn(columns: readonly { readonly id: string }[], sort: string): Order | null {
	const order = parseOrder(sort);
	return order && columns.some((c) => c.id === order.column) ? order : null;
}

export function Lists({ q, answer, waiting }: { q: Question; answer: ListAnswer; waiting: boolean }) {
	const { state } = q;
	const matches = useMemo(() => matcherOf(state.find), [state.find]);
	const fits = <T extends Named>(rows: readonly T[]): readonly T[] =>
		matches ? rows.filter((r) => matches(r.name, r.object)) : rows;
	const rows = fits(answer.rows);
	const sparks = useSparks(q, answer.bases, rows, idOfRow);
	const columns = columnsOf(answer, state, (r) => (
		<Spark trend={sparks.get(idOfRow(r))} samples={state.samples} />
	));
	const compared = comparedColumns(say(state.by), hasTotals(state));
	const shown = answer.compared ? fits(answer.compared) : rows;
	const common = {
		label: say(state.by),
		id: idOfRow,
		select: choose,
		selected: chosenId(state),
		setOrder: (order: Order) => change({ sort: formatOrder(order) }),
		empty: answer.compared ? say("nothingChanged") : say("nothing"),
	};
	return (
		<>
			<div class="bar">
				<ByChoice state={state} />
				<FlameSearch state={state} text={matches ? formatCount(shown.length) : ""} />
			</div>
			<div class="profile-body" aria-busy={waiting}>
				{answer.compared ? (
					<Table
						{...common}
						columns={compared}
						rows={fits(answer.compared)}
						sort="self-change"
						order={orderIn(compared, state.sort)}
					/>
				) : (
					<Table {...common} columns={columns} rows={rows} sort="self" order={orderIn(columns, state.sort)} />
				)}
			</div>
		</>
	);
}
