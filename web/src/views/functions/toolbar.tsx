// SPDX-License-Identifier: MIT
// toolbar: how the paths are shown, what their width is, and what is looked for.
import { useKeys, type Key } from "../../app/keys";
import { ChangeLegend, Crumbs, FlameSearch, foundText, GrowChoice } from "../../flame/bar";
import { formatValue } from "./figures";
import type { Measure } from "./forest";
import type { Picked } from "./picked";
import { change, currentState, TABS, type State } from "./state";
import { say } from "./words";

const KEYS: readonly Key[] = [
	{
		keys: ["t"],
		what: () => say("keyTab"),
		run: () => {
			const at = TABS.indexOf(currentState().tab);
			change({ tab: TABS[(at + 1) % TABS.length] ?? "graph" });
		},
	},
];

interface Props {
	readonly state: State;
	readonly picked: Picked;
	readonly waiting: boolean;
}

function Tabs({ state }: { state: State }) {
	return (
		<div class="choice-row" role="group" aria-label={say("kindOfView")}>
			{TABS.map((tab) => (
				<button key={tab} type="button" aria-pressed={state.tab === tab} onClick={() => change({ tab })}>
					{say(tab)}
				</button>
			))}
		</div>
	);
}

export function Toolbar({ state, picked, waiting }: Props) {
	useKeys(KEYS);
	return (
		<>
			<div class="bar" aria-busy={waiting}>
				<Tabs state={state} />
				{state.tab !== "table" && (
					<label>
						{say("width")}{" "}
						<select value={picked.by} onChange={(e) => change({ by: e.currentTarget.value as Measure })}>
							{picked.measures.map((m) => (
								<option key={m} value={m}>
									{say(m)}
								</option>
							))}
						</select>
					</label>
				)}
				{state.tab === "graph" && <GrowChoice upward={state.upward} />}
				<FlameSearch
					state={state}
					text={foundText(picked, state.tab === "table" ? null : (v) => formatValue(v, picked.by))}
				/>
				{picked.change && <ChangeLegend />}
				{waiting && <span class="quiet-note">{say("loadingMore")}</span>}
			</div>
			{state.tab === "graph" && <Crumbs picked={picked} />}
		</>
	);
}
