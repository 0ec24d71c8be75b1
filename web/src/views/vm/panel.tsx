// SPDX-License-Identifier: MIT
// panel: the selection in tables and as a flame graph, and the legend.
import { getVmReport, getVmSteal, type VmPart, type VmReport } from "../../api/vm";
import { formatLength, formatOffset } from "../../parts/format";
import { useLoaded } from "../../parts/loaded";
import { Problem } from "../../parts/problem";
import type { Span } from "../../parts/scale";
import { setParams } from "../../app/address";
import { VmGraph } from "./graph";
import { learnMachine } from "./names";
import { change, GUEST_BY, TABS, type State } from "./state";
import { ExitTable, GuestTable, Legend, MachineTable, StealTable } from "./tables";
import { say } from "./words";

const ROWS = 2000;

function Tabs({ state }: { state: State }) {
	return (
		<div class="choice-row" role="group" aria-label={say("kindOfView")}>
			{TABS.map((tab) => (
				<button key={tab} type="button" aria-pressed={state.tab === tab} onClick={() => change({ tab })}>
					{say(`tab_${tab}`)}
				</button>
			))}
		</div>
	);
}

/** Which time the numbers are of. */
function Range({ state, span, bounds }: { state: State; span: Span | null; bounds: Span }) {
	const step = ((span ?? bounds).to - (span ?? bounds).from) / 1000;
	const from = Math.max(bounds.from, (span ?? bounds).from);
	const to = Math.min(bounds.to, (span ?? bounds).to);
	return (
		<span class="vm-range">
			{state.mark ? say("ofMark") : span ? say("ofSight") : say("ofAll")}{" "}
			{formatOffset(from - bounds.from, step)} – {formatOffset(to - bounds.from, step)} (
			{formatLength(Math.max(0, Math.round(to - from)))})
			{state.mark && (
				<>
					{" "}
					<button type="button" onClick={() => setParams({ mark: null }, true)}>
						{say("unmark")}
					</button>
				</>
			)}
		</span>
	);
}

function ByChoice({ state }: { state: State }) {
	return (
		<label>
			{say("by")}{" "}
			<select
				value={state.by}
				onChange={(e) => change({ by: GUEST_BY.find((b) => b === e.currentTarget.value) ?? "function" })}
			>
				{GUEST_BY.map((b) => (
					<option key={b} value={b}>
						{say(b)}
					</option>
				))}
			</select>
		</label>
	);
}

interface Props {
	readonly state: State;
	readonly part: VmPart;
	readonly round: number;
}

function Nobodys({ report, by }: { report: VmReport; by: State["by"] }) {
	const rest = report[by]?.nobodys;
	if (!rest || rest.true_ns + rest.steal1_ns + rest.steal2_ns === 0) return null;
	return (
		<p class="fine vm-note">
			{say("nobodysText", {
				true: formatLength(rest.true_ns),
				steal1: formatLength(rest.steal1_ns),
				steal2: formatLength(rest.steal2_ns),
			})}
		</p>
	);
}

function OfReport({ state, part, round }: Props) {
	const by = state.tab === "guests" ? state.by : "function";
	const loaded = useLoaded((abort) => getVmReport(part, by, ROWS, abort), [JSON.stringify(part), by, round]);
	if (loaded.error) return <Problem error={loaded.error} retry={loaded.again} />;
	const report = loaded.value;
	for (const m of report?.machines ?? []) learnMachine(m.vm, m.name);
	const rows = report?.[by];
	if (!report || !rows) return <p class="quiet">{say("loading")}</p>;
	return (
		<div class="vm-body" aria-busy={loaded.waiting}>
			{state.tab === "machines" && <MachineTable machines={report.machines} sort={state.sort} />}
			{state.tab === "guests" && (
				<>
					<GuestTable rows={rows} by={by} sort={state.sort} />
					<Nobodys report={report} by={by} />
				</>
			)}
			{state.tab === "graph" && <VmGraph report={report} state={state} />}
		</div>
	);
}

function OfSteal({ state, part, round }: Props) {
	const loaded = useLoaded((abort) => getVmSteal(part, abort), [JSON.stringify(part), round]);
	if (loaded.error) return <Problem error={loaded.error} retry={loaded.again} />;
	const steal = loaded.value;
	for (const m of steal?.machines ?? []) learnMachine(m.vm, m.name);
	if (!steal) return <p class="quiet">{say("loading")}</p>;
	return (
		<div class="vm-body" aria-busy={loaded.waiting}>
			{state.tab === "steal" ? (
				<StealTable steal={steal} sort={state.sort} />
			) : (
				<ExitTable steal={steal} sort={state.sort} />
			)}
		</div>
	);
}

export function Panel(props: Props & { readonly span: Span | null; readonly bounds: Span }) {
	const { state } = props;
	return (
		<section class="vm-panel" aria-label={say("panel")}>
			<div class="bar">
				<Tabs state={state} />
				{state.tab === "guests" && <ByChoice state={state} />}
				<Range state={state} span={props.span} bounds={props.bounds} />
			</div>
			{state.tab === "legend" ? (
				<Legend />
			) : state.tab === "steal" || state.tab === "exits" ? (
				<OfSteal {...props} />
			) : (
				<OfReport {...props} />
			)}
		</section>
	);
}
