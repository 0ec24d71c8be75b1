// SPDX-License-Identifier: MIT
// run_picker: which recording is looked at; for views of one.
import { known, runParam } from "../api/runs";
import type { Run } from "../api/schema";
import { setParams } from "../app/address";
import { say } from "../app/words";
import { formatCount, formatMoment } from "./format";
import { plain } from "./text";

export function describeRun(run: Run): string {
	return `${run.run}: ${plain(run.device)}, ${formatMoment(run.first)}, ${formatCount(run.events)}`;
}

export function RunPicker() {
	return (
		<label class="picker">
			{say("run")}{" "}
			<select
				value={runParam.value}
				onChange={(e) =>
					setParams({ run: e.currentTarget.value, from: null, to: null, mark: null, sel: null }, true)
				}
			>
				{known.value.map((r) => (
					<option key={r.run} value={String(r.run)}>
						{describeRun(r)}
					</option>
				))}
			</select>
		</label>
	);
}
