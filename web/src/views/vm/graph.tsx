// SPDX-License-Identifier: MIT
// graph: the time of the machines as a flame graph of the synthetic stack machine, process, class, file, function.
import { useMemo } from "preact/hooks";

import type { Class, VmReport } from "../../api/vm";
import { FlameBar } from "../../flame/bar";
import type { Box as AnyBox } from "../../flame/forest";
import { colorOfBox, Graph } from "../../flame/graph";
import { usePicked } from "../../flame/picked";
import { changeFlame } from "../../flame/state";
import { titleOf } from "../../flame/title";
import { formatCount, formatLength, formatPercent } from "../../parts/format";
import { language } from "../../words/dictionary";
import { growForest, valuesOf, type Box } from "./forest";
import { colorOfClass, colorOfMachine } from "./looks";
import { className, machineName } from "./names";
import { change, type State } from "./state";
import { say } from "./words";

/** Steal of a row is known by its type only. */
function partName(cls: Class): string {
	if (cls === "steal") return say("steal1");
	return cls === "vmm-kernel" ? say("steal2") : className(cls);
}

function BoxFigures({ box, whole }: { box: Box; whole: number }) {
	return (
		<>
			<strong>
				<bdi class="name">{titleOf(box)}</bdi>
			</strong>
			{box.cls && <div class="object">{partName(box.cls)}</div>}
			<dl class="figures">
				<dt>{say("time")}</dt>
				<dd>
					{formatLength(box.ns)} <span class="share">{formatPercent(box.ns / (whole || 1))}</span>
				</dd>
				{box.samples > 0 && (
					<>
						<dt>{say("samples")}</dt>
						<dd>{formatCount(box.samples)}</dd>
					</>
				)}
			</dl>
		</>
	);
}

export function VmGraph({ report, state }: { report: VmReport; state: State }) {
	const spoken = language.value;
	const forest = useMemo(() => {
		const names = { machine: machineName, cls: partName, nobody: say("nobodys") };
		return growForest(report.machines, report.function?.rows ?? [], names, state.idle);
	}, [report, state.idle, spoken]);
	const widths = useMemo(() => ({ values: valuesOf(forest), change: null }), [forest]);
	const picked = usePicked(forest, widths, state);
	if (!picked) return null;
	const own = (box: AnyBox): Box => forest.boxes[box.index] ?? forest.root;
	const whole = forest.root.ns;
	/* A class has its colour where it stands; what is below it, that of its name. */
	const color = (box: AnyBox): string => {
		const { cls, parent, vm } = own(box);
		if (vm !== null) return colorOfMachine(vm);
		return cls && parent?.cls !== cls ? colorOfClass(cls) : colorOfBox(box);
	};
	const figure = (box: AnyBox): string =>
		`${formatLength(own(box).ns)} · ${formatPercent(own(box).ns / (whole || 1))}`;
	return (
		<>
			<FlameBar state={state} picked={picked} format={formatLength}>
				<label>
					<input
						type="checkbox"
						checked={state.idle}
						onChange={(e) => change({ idle: e.currentTarget.checked, zoom: "", at: "" })}
					/>{" "}
					{say("withIdle")}
				</label>
			</FlameBar>
			<div class="vm-flame">
				<Graph
					picked={picked}
					upward={state.upward}
					name="machines"
					figure={figure}
					describe={(box) => <BoxFigures box={own(box)} whole={whole} />}
					spoken={(box) => `${titleOf(box)}: ${figure(box)}`}
					color={color}
					select={(box, remember) => changeFlame({ at: box.key }, remember)}
					zoomTo={(box) => changeFlame({ zoom: box?.key ?? "", at: box?.key ?? "" })}
				/>
			</div>
		</>
	);
}
