// SPDX-License-Identifier: MIT
// functions: where programs spend their time: flame graph, call tree, and a table of functions, of one selection or of
// two that are compared.
//
// The address has all of it (state.ts). Figures of functions and paths are two answers; each is shown when it is
// there, and stays until the next one comes.
import { useOtherRun, useRuns } from "../../api/runs";
import type { Run } from "../../api/schema";
import { NoRun, Nothing } from "../../parts/no_run";
import { Problem } from "../../parts/problem";
import { say as sayFrame } from "../../app/words";
import { extentOf, useReport } from "./data";
import "../../style/figures.css";
import "./functions.css";
import { Paths } from "./paths";
import { Selection } from "./selection";
import { baseOf, currentState, selectionOf } from "./state";
import { Summary } from "./summary";
import { say } from "./words";

function Calls({ run }: { run: Run }) {
	const state = currentState();
	const after = selectionOf(state, run.run);
	const before = baseOf(state, run.run);
	const report = useReport(after);
	const base = useReport(before);
	const baseRun = useOtherRun(run, state.base);
	const error = report.error ?? (before ? base.error : null);
	return (
		<div class="functions">
			<Selection run={run} state={state} extent={extentOf(run)} baseExtent={extentOf(baseRun)} />
			{error ? (
				<Problem
					error={error}
					retry={() => {
						report.again();
						base.again();
					}}
				/>
			) : null}
			{report.value && <Summary run={run} report={report.value} waiting={report.waiting} />}
			{report.value && (!before || base.value) ? (
				<Paths
					state={state}
					after={after}
					before={before}
					report={report.value}
					base={before ? (base.value ?? null) : null}
				/>
			) : (
				!error && <p class="quiet">{sayFrame("loading")}</p>
			)}
		</div>
	);
}

export default function Functions() {
	const { runs, waiting, error } = useRuns("func");
	const run = runs[0];
	if (error) return <NoRun error={error} />;
	if (run) return <Calls key={run.run} run={run} />;
	return waiting ? <p class="quiet">{sayFrame("loading")}</p> : <Nothing text={say("noRuns")} />;
}
