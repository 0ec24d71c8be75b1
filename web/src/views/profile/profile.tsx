// SPDX-License-Identifier: MIT
// profile: where the CPUs of a machine spend their time, by samples: over time, as a flame graph, and in tables.
//
// The address has all of it (state.ts). Each answer is shown when it is there, and stays until the next one comes; of a
// run that is still recorded all are asked for again when more came.
import { useMemo } from "preact/hooks";

import { useGrowing } from "../../api/growing";
import { profileOf } from "../../api/profile";
import { useOtherRun, useRuns } from "../../api/runs";
import type { Run } from "../../api/schema";
import { useKeys, type Key } from "../../app/keys";
import { say as sayFrame } from "../../app/words";
import type { Extent } from "../../parts/brush";
import { NoRun, Nothing } from "../../parts/no_run";
import { Problem } from "../../parts/problem";
import "../../style/figures.css";
import { useReport, useTimeline } from "./data";
import { Paths } from "./paths";
import "./profile.css";
import { BaseBrush, Selection } from "./selection";
import { baseOf, change, currentState, selectionOf, TABS, type State } from "./state";
import { Strip } from "./strip";
import { Summary } from "./summary";
import { ProfileTable } from "./table";
import { manyOf, say } from "./words";

const KEYS: readonly Key[] = [
	{
		keys: ["t"],
		what: () => say("keyTab"),
		run: () => change({ tab: TABS[(TABS.indexOf(currentState().tab) + 1) % TABS.length] ?? "graph" }),
	},
	{ keys: ["b"], what: () => say("keyWhole"), run: () => change({ from: null, to: null }) },
	{ keys: ["c"], what: () => say("keyCallers"), run: () => change({ callers: !currentState().callers }) },
];

function extentOf(run: Run | undefined): Extent | null {
	const place = profileOf(run);
	return place && { from: place.from_ns, to: place.to_ns };
}

function Tabs({ state }: { state: State }) {
	return (
		<div class="bar">
			<div class="choice-row" role="group" aria-label={say("kindOfView")}>
				{TABS.map((tab) => (
					<button key={tab} type="button" aria-pressed={state.tab === tab} onClick={() => change({ tab })}>
						{tab === "graph" ? say("graph") : say(manyOf(tab))}
					</button>
				))}
			</div>
		</div>
	);
}

function Body({ run, extent }: { run: Run; extent: Extent }) {
	const state = currentState();
	const round = extent.to;
	const after = selectionOf(state, run.run);
	const before = baseOf(state, run.run);
	const timeline = useTimeline(run.run, round);
	/* One row: what is wanted here is the sum. */
	const report = useReport(after, "cpu", round);
	const baseExtent = extentOf(useOtherRun(run, state.base));
	const error = report.error ?? timeline.error;
	const totals = report.value?.totals;
	const shown = useMemo(() => ({ state, after, before, round }), [JSON.stringify(state), run.run, round]);
	return (
		<>
			<Selection run={run} state={state} extent={extent} />
			{timeline.value && <Strip timeline={timeline.value} extent={extent} state={state} />}
			{state.base !== null && baseExtent && <BaseBrush state={state} extent={baseExtent} />}
			{error ? <Problem error={error} retry={report.error ? report.again : timeline.again} /> : null}
			{totals && <Summary run={run} totals={totals} waiting={report.waiting} />}
			<Tabs state={state} />
			{totals &&
				(state.tab === "graph" ? (
					<Paths {...shown} totals={totals} />
				) : (
					<ProfileTable {...shown} by={state.tab} />
				))}
			{!totals && !error && <p class="quiet">{sayFrame("loading")}</p>}
		</>
	);
}

function OfRun({ run: first }: { run: Run }) {
	useKeys(KEYS);
	const { run } = useGrowing(first);
	const extent = extentOf(run);
	return (
		<div class="profile">
			{extent ? <Body run={run} extent={extent} /> : <p class="quiet">{say("noSamples")}</p>}
		</div>
	);
}

export default function Profile() {
	const { runs, waiting, error } = useRuns("profile");
	const run = runs[0];
	if (error) return <NoRun error={error} />;
	if (run) return <OfRun key={run.run} run={run} />;
	return waiting ? <p class="quiet">{sayFrame("loading")}</p> : <Nothing text={say("noRuns")} />;
}
