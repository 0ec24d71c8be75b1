// SPDX-License-Identifier: MIT
// stacks: a flame graph of samples, or of two selections laid over each other; profiles and fleets show theirs so.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

import { FlameBar } from "../../flame/bar";
import { compare } from "../../flame/change";
import type { Box } from "../../flame/forest";
import { Graph } from "../../flame/graph";
import { usePicked, type Widths } from "../../flame/picked";
import { changeFlame, type FlameState } from "../../flame/state";
import { formatPercent } from "../../parts/format";
import type { Loaded } from "../../parts/loaded";
import { Problem } from "../../parts/problem";
import { BoxFigures, describeBox, formatChange, formatValue, pick, type Shown, type Unit } from "./figures";
import { valuesOf, type Forest } from "./forest";
import { say } from "./words";

export interface StacksProps {
	readonly loaded: Loaded<Forest>;
	readonly state: FlameState;
	readonly unit: Unit;
	/** Of its picture's file. */
	readonly name: string;
	/** Looked for when the state does not say what: a function that a view has chosen. */
	readonly find?: string;
	/** What its view adds to the line above it. */
	readonly children?: ComponentChildren;
}

/** Two recordings are compared by shares: they may differ in length and rate. */
function useWidths(forest: Forest | undefined, samples: boolean): Widths | null {
	return useMemo(() => {
		if (!forest) return null;
		const now = valuesOf(forest, samples);
		if (!forest.compared) return { values: now, change: null };
		const comparison = compare(valuesOf(forest, samples, true), now, true);
		return { values: comparison.widths, change: comparison.of };
	}, [forest, samples]);
}

export function Stacks(props: StacksProps) {
	const { loaded, state, unit } = props;
	const forest = loaded.value;
	const widths = useWidths(forest, unit === "samples");
	const picked = usePicked(forest, widths, { ...state, find: state.find || (props.find ?? "") });
	if (loaded.error) return <Problem error={loaded.error} retry={loaded.again} />;
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
				{props.children}
			</FlameBar>
			<div class="profile-body" aria-busy={loaded.waiting}>
				<Graph
					picked={picked}
					upward={state.upward}
					name={props.name}
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
