// SPDX-License-Identifier: MIT
// paths: the stacks of the selection as a flame graph, or two selections laid over each other.
import { useMemo } from "preact/hooks";

import type { ProfileSelection, ProfileTotals } from "../../api/profile";
import { FlameBar } from "../../flame/bar";
import { compare } from "../../flame/change";
import type { Box } from "../../flame/forest";
import { Graph } from "../../flame/graph";
import { usePicked, type Widths } from "../../flame/picked";
import { changeFlame } from "../../flame/state";
import { formatPercent } from "../../parts/format";
import type { Loaded } from "../../parts/loaded";
import { Problem } from "../../parts/problem";
import { useForest } from "./data";
import { BoxFigures, describeBox, formatChange, formatValue, pick, unitOf, type Shown } from "./figures";
import { valuesOf, type Forest } from "./forest";
import { change, GROUPS, type State } from "./state";
import { say } from "./words";

export interface PathsProps {
	readonly state: State;
	readonly after: ProfileSelection;
	readonly before: ProfileSelection | null;
	readonly totals: ProfileTotals;
	readonly round: number;
}

/** Two recordings are compared by shares: they may differ in length and rate. */
function useWidths(loaded: Loaded<Forest>, samples: boolean): Widths | null {
	const forest = loaded.value;
	return useMemo(() => {
		if (!forest) return null;
		const now = valuesOf(forest, samples);
		if (!forest.compared) return { values: now, change: null };
		const comparison = compare(valuesOf(forest, samples, true), now, true);
		return { values: comparison.widths, change: comparison.of };
	}, [forest, samples]);
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

export function Paths(props: PathsProps) {
	const { state, after, before, totals, round } = props;
	const loaded = useForest(after, before, state, round);
	const widths = useWidths(loaded, state.samples);
	const picked = usePicked(loaded.value, widths, state);
	const unit = unitOf(totals, state.samples);
	if (loaded.error) return <Problem error={loaded.error} retry={loaded.again} />;
	const forest = loaded.value;
	if (!picked || !forest) return <p class="quiet">{say("loading")}</p>;
	const whole = pick(forest.root.figures.total, unit);
	const shown = (box: Box): Shown => ({
		box: forest.boxes[box.index] ?? forest.root,
		unit,
		whole,
		change: picked.change?.(box) ?? null,
	});
	const figure = (box: Box): string => {
		const c = picked.change?.(box);
		if (c) return formatChange(c).slice(2);
		const value = picked.values[box.index] ?? 0;
		return `${formatValue(value, unit)} · ${formatPercent(value / (whole || 1))}`;
	};
	return (
		<>
			<FlameBar state={state} picked={picked} format={(v) => formatValue(v, unit)}>
				<Choices state={state} />
			</FlameBar>
			<div class="profile-body" aria-busy={loaded.waiting}>
				<Graph
					picked={picked}
					upward={state.upward}
					name="profile"
					figure={figure}
					describe={(box) => <BoxFigures {...shown(box)} />}
					spoken={(box) => describeBox(shown(box))}
					select={(box, remember) => changeFlame({ at: box.key }, remember)}
					zoomTo={(box) => changeFlame({ zoom: box?.key ?? "", at: box?.key ?? "" })}
				/>
			</div>
		</>
	);
}
