// SPDX-License-Identifier: MIT
// selection: of which samples: recording, processes, threads, CPUs, where they were, and what they are compared with.
import type { Run } from "../../api/schema";
import { setParams } from "../../app/address";
import { Brush, type Extent } from "../../parts/brush";
import { CompareWith } from "../../parts/compare_with";
import { RunPicker } from "../../parts/run_picker";
import { change, SELECTS, type State } from "./state";
import { say } from "./words";

function Which({ id, state }: { id: "process" | "thread" | "cpu"; state: State }) {
	return (
		<label title={id === "cpu" ? say("cpusHint") : say("whichHint")}>
			{say(id)}{" "}
			<input
				class="which"
				type="text"
				value={state[id]}
				placeholder={say("all")}
				onChange={(e) => change({ [id]: e.currentTarget.value.trim(), zoom: "", at: "" })}
			/>
		</label>
	);
}

function ModeChoice({ state }: { state: State }) {
	return (
		<label>
			{say("mode")}{" "}
			<select value={state.mode} onChange={(e) => change({ mode: e.currentTarget.value, zoom: "", at: "" })}>
				<option value="">{say("all")}</option>
				{SELECTS.map((m) => (
					<option key={m} value={m}>
						{say(m)}
					</option>
				))}
			</select>
		</label>
	);
}

/* The same recording, another time: halves of it are a beginning that shows what it does. */
function startCompare(run: Run, other: number, state: State, extent: Extent): void {
	const middle = Math.round((extent.from + extent.to) / 2);
	const halves = other === run.run && state.from === null;
	change({
		base: other,
		baseFrom: halves ? extent.from : null,
		baseTo: halves ? middle : null,
		...(halves ? { from: middle, to: extent.to } : {}),
		zoom: "",
		at: "",
	});
}

export function Selection({ run, state, extent }: { run: Run; state: State; extent: Extent }) {
	const cut = state.process || state.thread || state.cpu || state.mode;
	return (
		<div class="bar">
			<RunPicker />
			<Which id="process" state={state} />
			<Which id="thread" state={state} />
			<Which id="cpu" state={state} />
			<ModeChoice state={state} />
			{cut && (
				<button
					type="button"
					onClick={() => setParams({ process: null, thread: null, cpu: null, mode: null, zoom: null }, true)}
				>
					{say("everybody")}
				</button>
			)}
			<label title={say("samplesHint")}>
				<input
					type="checkbox"
					checked={state.samples}
					onChange={(e) => change({ samples: e.currentTarget.checked })}
				/>{" "}
				{say("countSamples")}
			</label>
			<CompareWith
				run={run}
				base={state.base}
				choose={(other) => {
					if (other === null) change({ base: null, baseFrom: null, baseTo: null, zoom: "", at: "" });
					else startCompare(run, other, state, extent);
				}}
			/>
		</div>
	);
}

/** The time of the recording that is compared with. */
export function BaseBrush({ state, extent }: { state: State; extent: Extent }) {
	const part =
		state.baseFrom === null && state.baseTo === null
			? null
			: { from: state.baseFrom ?? extent.from, to: state.baseTo ?? extent.to };
	return (
		<div class="bar strips">
			<Brush
				label={say("before")}
				fromLabel={say("baseFrom")}
				toLabel={say("baseTo")}
				allLabel={say("wholeRun")}
				extent={extent}
				value={part}
				choose={(v) => change({ baseFrom: v?.from ?? null, baseTo: v?.to ?? null })}
			/>
		</div>
	);
}
