// SPDX-License-Identifier: MIT
// toolbar: which recordings are on the axis, what is searched and filtered, and the buttons.
import type { RefObject } from "preact";

import { known } from "../../api/runs";
import { setParams } from "../../app/address";
import { describeRun, RunPicker } from "../../parts/run_picker";
import { plain } from "../../parts/text";
import type { Row } from "./layout";
import { Search } from "./search";
import type { Stage } from "./stage";
import { say } from "./words";

/** Devices beside the first one. */
function OtherRuns({ stage }: { stage: Stage }) {
	const shown = stage.sources.map((s) => s.run.run);
	const setRuns = (runs: readonly number[]): void => setParams({ run: runs.join(",") }, true);
	const offered = known.value.filter((r) => !shown.includes(r.run));
	return (
		<>
			{stage.sources.slice(1).map((s) => (
				<button
					type="button"
					key={s.run.run}
					aria-label={say("removeRun", { name: plain(s.run.device) })}
					title={say("removeRun", { name: plain(s.run.device) })}
					onClick={() => setRuns(shown.filter((n) => n !== s.run.run))}
				>
					<bdi>{plain(s.run.device)}</bdi> ×
				</button>
			))}
			{offered.length > 0 && (
				<select
					aria-label={say("addRun")}
					value=""
					onChange={(e) => e.currentTarget.value && setRuns([...shown, Number(e.currentTarget.value)])}
				>
					<option value="">+ {say("addRun")}</option>
					{offered.map((r) => (
						<option key={r.run} value={String(r.run)}>
							{describeRun(r)}
						</option>
					))}
				</select>
			)}
		</>
	);
}

export function Toolbar(props: {
	stage: Stage;
	search: RefObject<HTMLInputElement>;
	showRow: (row: Row) => void;
	showAll: () => void;
	fit: () => void;
	toggleFollow: () => void;
}) {
	const { stage } = props;
	const { place } = stage;
	const isLive = stage.isLive.value;
	return (
		<div class="bar">
			{stage.sources.length > 1 ? <bdi>{plain(stage.sources[0]?.run.device ?? "")}</bdi> : <RunPicker />}
			<button
				type="button"
				class={place.follow ? "primary" : ""}
				aria-pressed={place.follow}
				disabled={!isLive && !place.follow}
				title={isLive ? say("followHint") : say("notLive")}
				onClick={props.toggleFollow}
			>
				{say("follow")}
			</button>
			<OtherRuns stage={stage} />
			<Search stage={stage} input={props.search} show={props.showRow} />
			<input
				class="filter"
				placeholder={say("filter")}
				aria-label={say("filter")}
				title={say("filterHint")}
				value={place.filter}
				onInput={(e) => setParams({ filter: e.currentTarget.value || null })}
			/>
			<label>
				{say("arrows")}{" "}
				<select
					value={place.arrows}
					onChange={(e) =>
						setParams({ arrows: e.currentTarget.value === "near" ? null : e.currentTarget.value })
					}
				>
					<option value="near">{say("arrowsNear")}</option>
					<option value="all">{say("arrowsAll")}</option>
					<option value="none">{say("arrowsNone")}</option>
				</select>
			</label>
			<span class="push" />
			<button type="button" title={say("allHint")} onClick={props.showAll}>
				{say("all")}
			</button>
			<button type="button" title={say("fitHint")} onClick={props.fit}>
				{say("fit")}
			</button>
		</div>
	);
}
