// SPDX-License-Identifier: MIT
// ledger: every loss of a run: where, when, how many, why; with the way to the gap in the timeline.
import { useMemo } from "preact/hooks";

import type { Extent } from "../../api/extent";
import { getJson } from "../../api/request";
import type { Ledger, Run } from "../../api/schema";
import { openView, setParams } from "../../app/address";
import { momentChanges } from "../../app/moment";
import { Command } from "../../parts/copy";
import { formatCount, formatLength, formatMoment, formatOffset } from "../../parts/format";
import { useLoaded } from "../../parts/loaded";
import { Problem } from "../../parts/problem";
import { formatOrder, parseOrder, Table, type Column } from "../../parts/table";
import { language } from "../../words/dictionary";
import { causeText } from "./event_row";
import { say } from "./words";

type Row = Ledger["rows"][number];
const AROUND_NS = 1_000_000;

function whereOf(r: Row): string {
	if (r.cpu !== null) return say("onCpu", { cpu: r.cpu });
	return r.tid ? say("ofThread", { tid: r.tid }) : say("ofStream", { stream: r.stream });
}

function columnsOf(extent: Extent | undefined): readonly Column<Row>[] {
	const start = extent?.fromNs ?? 0;
	return [
		{
			...{ id: "from", head: say("from"), numeric: true },
			cell: (r) => (r.from_ns === null ? say("beforeFirst") : formatOffset(r.from_ns - start, 1000)),
			order: (r) => r.from_ns ?? 0,
		},
		{ id: "wall", head: say("wall"), cell: (r) => formatMoment(r.from), order: (r) => r.from ?? "" },
		{
			...{ id: "length", head: say("length"), numeric: true },
			cell: (r) =>
				r.from_ns === null || r.to_ns === null || r.to_ns === r.from_ns
					? "–"
					: formatLength(r.to_ns - r.from_ns),
			order: (r) => (r.to_ns ?? 0) - (r.from_ns ?? 0),
		},
		{ id: "where", head: say("where"), cell: whereOf, order: (r) => r.cpu ?? r.stream },
		{
			...{ id: "count", head: say("count"), numeric: true },
			cell: (r) => <strong>{r.count === null ? say("notCounted") : formatCount(r.count)}</strong>,
			order: (r) => r.count ?? 0,
		},
		{
			...{ id: "cause", head: say("cause") },
			cell: (r) => (
				<>
					<code>{r.cause}</code> {causeText(r.cause)}
				</>
			),
			order: (r) => r.cause,
		},
	];
}

function showGap(r: Row, run: Run): void {
	const from = r.from_ns ?? r.to_ns;
	if (from === null || !run.kinds.includes("sched")) return;
	const to = r.to_ns ?? from;
	const around = Math.max(AROUND_NS, to - from);
	openView("timeline", momentChanges({ run: run.run, pid: null, ns: from }, from - around, to + around));
}

function Sum({ ledger }: { ledger: Ledger }) {
	const lost = Object.values(ledger.lost).reduce((a, b) => a + b, 0);
	const values = { events: formatCount(ledger.events), lost: formatCount(lost) };
	return (
		<p class="sum">
			{say("ledgerSum", values)}
			{ledger.lost_uncounted > 0 && say("ledgerPlus", { count: formatCount(ledger.lost_uncounted) })}
			{Object.entries(ledger.lost)
				.filter(([, n]) => n > 0)
				.map(([cause, n]) => (
					<span key={cause} class="losses">
						{cause} {formatCount(n)}
					</span>
				))}
		</p>
	);
}

export function LedgerList({ run, extent, sort }: { run: Run; extent: Extent | undefined; sort: string }) {
	const ledger = useLoaded((abort) => getJson<Ledger>(`runs/${run.run}/ledger`, {}, abort), [run.run]);
	const columns = useMemo(() => columnsOf(extent), [extent, language.value]);
	const { value } = ledger;
	return (
		<>
			{ledger.error ? <Problem error={ledger.error} retry={ledger.again} /> : null}
			{value && (
				<div class="bar">
					<Sum ledger={value} />
					{!run.ended && (
						<button type="button" onClick={ledger.again}>
							{say("refresh")}
						</button>
					)}
				</div>
			)}
			{value && !value.rows.length && <p class="quiet">{say("noLosses")}</p>}
			{value && value.rows.length > 0 && (
				<Table
					label={say("ledger")}
					columns={columns}
					rows={value.rows}
					id={(r) => `${r.stream} ${r.from_tick} ${r.to_tick} ${r.cause}`}
					select={(r) => showGap(r, run)}
					order={parseOrder(sort) ?? { column: "from", falling: false }}
					setOrder={(o) => setParams({ sort: formatOrder(o) })}
				/>
			)}
			{!!value?.more && (
				<div class="quiet">
					{say("ledgerMore", { count: formatCount(value.more) })}
					<Command text={`kiseki ledger ${run.run} --server ${location.origin}`} />
				</div>
			)}
		</>
	);
}
