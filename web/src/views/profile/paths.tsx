// SPDX-License-Identifier: MIT
// paths: the stacks of the selection as a flame graph, or two selections laid over each other.
import type { ProfileSelection, ProfileTotals } from "../../api/profile";
import { useForest } from "./data";
import { unitOf } from "./figures";
import { Stacks } from "./stacks";
import { change, GROUPS, type State } from "./state";
import { say } from "./words";

export interface PathsProps {
	readonly state: State;
	readonly after: ProfileSelection;
	readonly before: ProfileSelection | null;
	readonly totals: ProfileTotals;
	readonly round: number;
}

function Choices({ state }: { state: State }) {
	return (
		<>
			<label>
				{say("groups")}{" "}
				<select
					value={state.groups}
					onChange={(e) =>
						change({ groups: GROUPS.find((g) => g === e.currentTarget.value) ?? "process", zoom: "", at: "" })
					}
				>
					<option value="process">{say("groupProcess")}</option>
					<option value="thread">{say("groupThread")}</option>
					<option value="none">{say("groupNone")}</option>
				</select>
			</label>
			<label title={say("callersHint")}>
				<input
					type="checkbox"
					checked={state.callers}
					onChange={(e) => change({ callers: e.currentTarget.checked, zoom: "", at: "" })}
				/>{" "}
				{say("callers")}
			</label>
		</>
	);
}

export function Paths({ state, after, before, totals, round }: PathsProps) {
	const loaded = useForest(after, before, state, round);
	return (
		<Stacks name="profile" state={state} loaded={loaded} unit={unitOf(totals, state.samples)}>
			<Choices state={state} />
		</Stacks>
	);
}
