// SPDX-License-Identifier: MIT
// graph: the flame graph of calls.
import type { Box } from "../../flame/forest";
import { Graph as Flames } from "../../flame/graph";
import { idOf } from "../../flame/forest";
import { formatPercent } from "../../parts/format";
import { BoxFigures, describeBox, formatChange, formatValue, type Shown } from "./figures";
import type { Picked } from "./picked";
import { change, type State } from "./state";

export interface GraphProps {
	readonly state: State;
	readonly picked: Picked;
	readonly select: (box: Box, remember: boolean) => void;
}

function shownOf(picked: Picked, box: Box, shares: boolean): Shown {
	return {
		box: picked.forest.boxes[box.index] ?? picked.forest.root,
		by: picked.by,
		value: picked.values[box.index] ?? 0,
		whole: picked.values[0] ?? 0,
		change: picked.change?.(box) ?? null,
		shares,
	};
}

const figureOf =
	(picked: Picked, shares: boolean) =>
	(box: Box): string => {
		const c = picked.change?.(box);
		if (c) return formatChange(c, picked.by, shares).slice(2);
		const value = picked.values[box.index] ?? 0;
		return `${formatValue(value, picked.by)} · ${formatPercent(value / (picked.values[0] || 1))}`;
	};

/** Zooms, and takes the figures of its function beside it. */
function zoomTo(box: Box | null): void {
	if (!box) change({ zoom: "", at: "", fn: "" });
	else change({ zoom: box.key, at: box.key, ...(box.others ? {} : { fn: idOf(box.name, box.object) }) });
}

export function Graph({ state, picked, select }: GraphProps) {
	return (
		<Flames
			picked={picked}
			upward={state.upward}
			name="functions"
			figure={figureOf(picked, state.shares)}
			describe={(box) => <BoxFigures {...shownOf(picked, box, state.shares)} />}
			spoken={(box) => describeBox(shownOf(picked, box, state.shares))}
			select={select}
			zoomTo={zoomTo}
		/>
	);
}
