// SPDX-License-Identifier: MIT
// selection: of which calls: recording, time, processes and threads, and what they are compared with.
import type { Run } from "../../api/schema";
import { setParams } from "../../app/address";
import { Brush, type Extent } from "../../parts/brush";
import { CompareWith } from "../../parts/compare_with";
import { RunPicker } from "../../parts/run_picker";
import { plain } from "../../parts/text";
import { change, type State } from "./state";
import { say } from "./words";

function Processes({ run, state }: { run: Run; state: State }) {
	const processes = run.processes ?? [];
	if (processes.length < 2 && state.process === "") return null;
	const listed = processes.some((p) => String(p.pid) === state.process);
	return (
		<label>
			{say("process")}{" "}
			<select
				value={state.process}
				onChange={(e) => change({ process: e.currentTarget.value, zoom: "", at: "" })}
			>
				<option value="">{say("allProcesses", { n: processes.length })}</option>
				{state.process !== "" && !listed && <option value={state.process}>{plain(state.process)}</option>}
				{processes.map((p) => (
					<option key={p.pid} value={String(p.pid)}>
						{plain(p.command)} ({p.pid ?? "?"})
					</option>
				))}
			</select>
		</label>
	);
}

function Threads({ state }: { state: State }) {
	return (
		<label title={say("threadsHint")}>
			{say("threads")}{" "}
			<input
				class="threads"
				type="text"
				value={state.thread}
				placeholder={say("allThreads")}
				onChange={(e) => change({ thread: e.currentTarget.value.trim(), zoom: "", at: "" })}
			/>
		</label>
	);
}

/* The same recording, another time: halves of it are a beginning that shows what it does. */
function startCompare(run: Run, other: number, state: State, extent: Extent | null): void {
	const middle = extent ? Math.round((extent.from + extent.to) / 2) : null;
	const halves = other === run.run && state.from === null && extent && middle !== null;
	setParams(
		{
			base: other,
			basefrom: halves ? extent.from : null,
			baseto: halves ? middle : null,
			...(halves ? { from: middle, to: extent.to } : {}),
			zoom: null,
			at: null,
		},
		true,
	);
}

export interface SelectionProps {
	readonly run: Run;
	readonly state: State;
	readonly extent: Extent | null;
	readonly baseExtent: Extent | null;
}

const partOf = (from: number | null, to: number | null, extent: Extent): Extent | null =>
	from === null && to === null ? null : { from: from ?? extent.from, to: to ?? extent.to };

export function Selection(props: SelectionProps) {
	const { run, state, extent, baseExtent } = props;
	return (
		<>
			<div class="bar">
				<RunPicker />
				<Processes run={run} state={state} />
				<Threads state={state} />
				<CompareWith
					run={run}
					base={state.base}
					choose={(other) => {
						if (other === null) change({ base: null, baseFrom: null, baseTo: null, zoom: "", at: "" });
						else startCompare(run, other, state, extent);
					}}
				/>
				{state.base !== null && (
					<label title={say("sharesHint")}>
						<input
							type="checkbox"
							checked={state.shares}
							onChange={(e) => change({ shares: e.currentTarget.checked })}
						/>{" "}
						{say("shares")}
					</label>
				)}
			</div>
			<div class="bar brushes">
				{extent && (
					<Brush
						label={state.base === null ? say("range") : say("after")}
						fromLabel={say("rangeFrom")}
						toLabel={say("rangeTo")}
						allLabel={say("wholeRun")}
						extent={extent}
						value={partOf(state.from, state.to, extent)}
						choose={(v) => setParams({ from: v?.from ?? null, to: v?.to ?? null }, true)}
					/>
				)}
				{state.base !== null && baseExtent && (
					<Brush
						label={say("before")}
						fromLabel={say("baseFrom")}
						toLabel={say("baseTo")}
						allLabel={say("wholeRun")}
						extent={baseExtent}
						value={partOf(state.baseFrom, state.baseTo, baseExtent)}
						choose={(v) => change({ baseFrom: v?.from ?? null, baseTo: v?.to ?? null })}
					/>
				)}
			</div>
		</>
	);
}
