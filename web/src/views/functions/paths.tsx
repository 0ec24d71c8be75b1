// SPDX-License-Identifier: MIT
// paths: the selection as flame graph, tree or table, with search and one function's figures beside it.
import { useMemo, useRef } from "preact/hooks";

import type { CallReport, CallSelection } from "../../api/calls";
import { compare } from "../../flame/change";
import { boxOf, idOf, type Box } from "../../flame/forest";
import { usePicked as usePickedBoxes } from "../../flame/picked";
import { Problem } from "../../parts/problem";
import { hasOthers, PATHS, PATHS_MORE, usePaths } from "./data";
import { Detail } from "./detail";
import { knownMeasures, valuesOf, type Forest } from "./forest";
import { Graph } from "./graph";
import { sandwichOf } from "./sandwich";
import { change, type State } from "./state";
import { CompareTable, compareFunctions, FunctionTable } from "./table";
import { Toolbar } from "./toolbar";
import { Tree } from "./tree";
import { turn } from "./rows";
import type { Picked } from "./picked";
import { say } from "./words";

export interface PathsProps {
	readonly state: State;
	readonly after: CallSelection;
	readonly before: CallSelection | null;
	readonly report: CallReport;
	readonly base: CallReport | null;
}

/** Paths, asked for again with more of them when somebody looks closer than the answer goes. */
function useForest(props: PathsProps) {
	const { state, after, before } = props;
	const more = useRef(false);
	const loaded = usePaths(after, before, more.current ? PATHS_MORE : PATHS);
	const zoomed = loaded.value ? boxOf(loaded.value, state.zoom) : null;
	if (zoomed && !more.current && hasOthers(zoomed)) more.current = true;
	return loaded;
}

/** All that follows from the paths and the address. */
function usePicked(forest: Forest | undefined, state: State): Picked | null {
	const measures = useMemo(() => (forest ? knownMeasures(forest) : []), [forest]);
	const by = measures.includes(state.by) ? state.by : "total";
	const widths = useMemo(() => {
		if (!forest) return null;
		if (!forest.compared) return { values: valuesOf(forest, by), change: null };
		const comparison = compare(valuesOf(forest, by, true), valuesOf(forest, by), state.shares);
		return { values: comparison.widths, change: comparison.of };
	}, [forest, by, state.shares]);
	const picked = usePickedBoxes(forest, widths, state);
	return picked && forest ? { ...picked, forest, measures, by } : null;
}

function selectBox(box: Box, remember: boolean): void {
	change({ at: box.key, fn: box.parent && !box.others ? idOf(box.name, box.object) : "" }, remember);
}

function Body({ props, picked }: { props: PathsProps; picked: Picked }) {
	const { state, report, base } = props;
	const rows = useMemo(
		() => (base ? compareFunctions(base.functions, report.functions) : null),
		[base, report],
	);
	if (state.tab === "graph") return <Graph state={state} picked={picked} select={selectBox} />;
	if (state.tab === "tree")
		return (
			<Tree
				{...picked}
				found={picked.found?.boxes ?? null}
				turned={state.turned}
				shares={state.shares}
				onTurn={(box) => change({ turned: turn(state.turned, box.key) }, false)}
				onFocus={(box) => selectBox(box, false)}
			/>
		);
	const select = (fn: string): void => change({ fn: state.fn === fn ? "" : fn });
	const common = {
		matches: picked.matches,
		selected: state.fn,
		select,
		sort: state.sort,
		setSort: (sort: string) => change({ sort }),
	};
	if (rows && base)
		return (
			<CompareTable
				{...common}
				rows={rows}
				shares={state.shares}
				whole={{ before: base.all_functions.local_ns, after: report.all_functions.local_ns }}
			/>
		);
	return <FunctionTable {...common} functions={report.functions} all={report.all_functions} />;
}

export function Paths(props: PathsProps) {
	const { state, report } = props;
	const loaded = useForest(props);
	const picked = usePicked(loaded.value, state);
	const sandwich = useMemo(
		() => (loaded.value && state.fn ? sandwichOf(loaded.value, state.fn) : null),
		[loaded.value, state.fn],
	);
	const exact = sandwich && report.functions.find((f) => idOf(f.function, f.object) === state.fn);
	if (loaded.error && !picked) return <Problem error={loaded.error} retry={loaded.again} />;
	if (!picked) return <p class="quiet">{say("loadingMore")}</p>;
	return (
		<>
			<Toolbar state={state} picked={picked} waiting={loaded.waiting} />
			{loaded.error ? <Problem error={loaded.error} retry={loaded.again} /> : null}
			<div class="functions-body">
				<Body props={props} picked={picked} />
				{sandwich && (
					<Detail
						sandwich={sandwich}
						figures={exact ?? sandwich.figures}
						whole={report.all_functions.local_ns}
						select={(fn) => change({ fn })}
						show={(box) => change({ at: box.key, zoom: state.tab === "graph" ? box.key : state.zoom })}
						close={() => change({ fn: "" })}
					/>
				)}
			</div>
		</>
	);
}
