// SPDX-License-Identifier: MIT
// boot: a boot as a chart, and why it took so long; or two, one below the other on one axis, and how they differ.
import { useMemo } from "preact/hooks";

import { getBootChart, getBootDiff, getBootReport, getBootSvg, type BootSelection } from "../../api/boots";
import { urlOf } from "../../api/request";
import { known, useRuns } from "../../api/runs";
import type { Run } from "../../api/schema";
import { setParams } from "../../app/address";
import { useKeys, type Key } from "../../app/keys";
import { say as sayFrame } from "../../app/words";
import { useLoaded } from "../../parts/loaded";
import { NoRun, Nothing } from "../../parts/no_run";
import { Problem } from "../../parts/problem";
import { describeRun, RunPicker } from "../../parts/run_picker";
import "../../style/figures.css";
import "./boot.css";
import { Chart } from "./chart";
import { Differences } from "./diff";
import { CriticalPath } from "./path";
import { Report } from "./report";
import { currentState, showTab, tabsOf, type State } from "./state";
import { Summary } from "./summary";
import { say } from "./words";

const KEYS: readonly Key[] = [
	{
		keys: ["t"],
		what: () => say("keyTab"),
		run: () => {
			const state = currentState();
			const tabs = tabsOf(state.base !== null);
			showTab(tabs[(tabs.indexOf(state.tab) + 1) % tabs.length] ?? "chart");
		},
	},
];

/** The chart as a document of its own; of two boots the earlier one comes first. */
function ownOf(run: number, state: State): (kind: "html" | "svg") => string {
	const sampled = state.sampled ? 1 : null;
	return (kind) =>
		state.base === null
			? urlOf(`runs/${run}/boot.${kind}`, { sampled })
			: urlOf(`runs/${state.base}/boot.${kind}`, { with: run, sampled });
}

function Selection({ run, state }: { run: Run; state: State }) {
	const others = known.value.filter((r) => r.run !== run.run);
	const own = ownOf(run.run, state);
	return (
		<div class="bar">
			<RunPicker />
			<label>
				{say("compareWith")}{" "}
				<select
					value={state.base === null ? "" : String(state.base)}
					onChange={(e) =>
						setParams(
							{ base: e.currentTarget.value || null, from: null, to: null, pid: null, of: null },
							true,
						)
					}
				>
					<option value="">{say("nothingElse")}</option>
					{others.map((r) => (
						<option key={r.run} value={String(r.run)}>
							{describeRun(r)}
						</option>
					))}
				</select>
			</label>
			<label title={say("sampledHint")}>
				<input
					type="checkbox"
					checked={state.sampled}
					onChange={(e) => setParams({ sampled: e.currentTarget.checked ? 1 : null }, true)}
				/>{" "}
				{say("sampled")}
			</label>
			<a href={own("html")} target="_blank" rel="noopener">
				{say("ownPage")}
			</a>
			<a href={own("svg")} target="_blank" rel="noopener">
				{say("asSvg")}
			</a>
		</div>
	);
}

function Tabs({ state }: { state: State }) {
	return (
		<div class="bar">
			<div class="choice-row" role="group" aria-label={say("shownAs")}>
				{tabsOf(state.base !== null).map((tab) => (
					<button key={tab} type="button" aria-pressed={state.tab === tab} onClick={() => showTab(tab)}>
						{say(tab)}
					</button>
				))}
			</div>
		</div>
	);
}

function Boot({ run }: { run: Run }) {
	const state = currentState();
	useKeys(KEYS);
	const selection = useMemo<BootSelection>(
		() => ({ run: run.run, before: state.base, sampled: state.sampled }),
		[run.run, state.base, state.sampled],
	);
	const inputs = [selection];
	const chart = useLoaded((abort) => getBootChart(selection, abort), inputs);
	const report = useLoaded((abort) => getBootReport(selection, abort), inputs);
	const diff = useLoaded(state.base === null ? null : (abort) => getBootDiff(selection, abort), inputs);
	const compared = state.base !== null;
	const shownDiff = compared ? (diff.value ?? null) : null;
	const error = chart.error ?? report.error ?? (compared ? diff.error : null);
	return (
		<div class="boot">
			<Selection run={run} state={state} />
			{error ? (
				<Problem error={error} retry={() => [chart, report, diff].forEach((l) => l.error && l.again())} />
			) : null}
			{report.value && <Summary report={report.value} diff={shownDiff} />}
			<Tabs state={state} />
			{state.tab === "chart" && chart.value && (
				<Chart data={chart.value} state={state} svg={() => getBootSvg(selection)} />
			)}
			{state.tab === "report" && report.value && <Report report={report.value} compared={compared} />}
			{state.tab === "path" && report.value && <CriticalPath report={report.value} compared={compared} />}
			{state.tab === "diff" && shownDiff && <Differences diff={shownDiff} />}
			{!error && !chart.value && <p class="quiet">{sayFrame("loading")}</p>}
		</div>
	);
}

export default function BootView() {
	const { runs, waiting, error } = useRuns("boot");
	const run = runs[0];
	if (error) return <NoRun error={error} />;
	if (run) return <Boot key={run.run} run={run} />;
	return waiting ? <p class="quiet">{sayFrame("loading")}</p> : <Nothing text={say("noRuns")} />;
}
