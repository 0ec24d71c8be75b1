// SPDX-License-Identifier: MIT
// compare_with: which recording the one that is shown is compared with: another one, or itself at another time.
import { known } from "../api/runs";
import type { Run } from "../api/schema";
import { say } from "../app/words";
import { describeRun } from "./run_picker";

export interface CompareWithProps {
	readonly run: Run;
	/** Null: with nothing. */
	readonly base: number | null;
	readonly choose: (base: number | null) => void;
}

export function CompareWith({ run, base, choose }: CompareWithProps) {
	return (
		<label class="picker">
			{say("compareWith")}{" "}
			<select
				value={base === null ? "" : String(base)}
				onChange={(e) => choose(e.currentTarget.value === "" ? null : Number(e.currentTarget.value))}
			>
				<option value="">{say("compareNothing")}</option>
				<option value={String(run.run)}>{say("compareSame")}</option>
				{known.value
					.filter((r) => r.run !== run.run)
					.map((r) => (
						<option key={r.run} value={String(r.run)}>
							{describeRun(r)}
						</option>
					))}
			</select>
		</label>
	);
}
