// SPDX-License-Identifier: MIT
// board: rows of virtual and physical CPUs over time, with their names beside them and the ruler above.
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { nameKey, useKeys } from "../../app/keys";
import { pictureOf, usePicture } from "../../app/picture";
import { dark } from "../../app/theme";
import { PlotInput } from "../../parts/plot_input";
import { lengthOf } from "../../parts/scale";
import { useSize } from "../../parts/size";
import { Tip } from "../../parts/tip";
import { Actions, markTo } from "./actions";
import { Facts } from "./facts";
import { rowAt, type Row } from "./layout";
import { colorOfMachine } from "./looks";
import { laneName, machineName } from "./names";
import { drawingOf, drawRows, drawTop } from "./picture";
import type { Stage } from "./stage";
import { change } from "./state";
import { say } from "./words";

function RowName({ row }: { row: Row }) {
	const place = (e: HTMLElement | null): void => {
		e?.style.setProperty("top", `${row.top}px`);
		e?.style.setProperty("height", `${row.height}px`);
	};
	if (row.lane)
		return (
			<div class="row-name" ref={place} data-lane={row.lane.id}>
				{laneName(row.lane)}
				{row.lane.kind === "vcpu" && row.lane.ended && <small> {say("ended")}</small>}
			</div>
		);
	const { vm } = row;
	return (
		<div class="row-name caption" ref={place}>
			{vm !== null && (
				<i
					class="machine-color"
					aria-hidden="true"
					ref={(e) => e?.style.setProperty("background", colorOfMachine(vm))}
				/>
			)}
			<bdi>{vm === null ? say("physical") : machineName(vm, row.name)}</bdi>
		</div>
	);
}

function Pointed({ stage }: { stage: Stage }) {
	const hover = stage.hover.value;
	const box = useRef<HTMLElement | null>(null);
	box.current ??= document.querySelector(".vm-rows");
	if (!hover?.lane || !hover.piece) return null;
	const at = box.current?.getBoundingClientRect();
	return (
		<Tip x={hover.x + (at?.left ?? 0)} y={hover.y + (at?.top ?? 0)}>
			<Facts lane={hover.lane} piece={hover.piece} zero={stage.bounds.from} />
		</Tip>
	);
}

function useDrawing(
	stage: Stage,
	rows: { current: HTMLCanvasElement | null },
	ruler: { current: HTMLCanvasElement | null },
): void {
	useLayoutEffect(() => {
		stage.draw = () => {
			if (rows.current) drawRows(rows.current, stage);
			if (ruler.current) drawTop(ruler.current, stage);
		};
		stage.redraw();
		return () => {
			stage.draw = () => undefined;
		};
	}, [stage]);
	usePicture(
		useMemo(
			() =>
				pictureOf(
					() => {
						if (!ruler.current || !rows.current)
							throw new Error("cannot draw the picture: nothing is on the screen yet");
						return drawingOf(stage, ruler.current, rows.current);
					},
					() => "machines",
				),
			[stage],
		),
	);
}

export function Board({ stage }: { stage: Stage }) {
	const rows = useRef<HTMLCanvasElement>(null);
	const ruler = useRef<HTMLCanvasElement>(null);
	const plot = useRef<HTMLDivElement>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const size = useSize(plot);
	const layout = stage.layout.value;
	const actions = useMemo(() => new Actions(stage), [stage]);
	useKeys(actions.keys);
	useDrawing(stage, rows, ruler);
	useLayoutEffect(() => {
		stage.width = Math.max(1, size.width);
		stage.redraw();
	}, [stage, size.width, layout.height, dark.value]);
	useEffect(() => {
		const input = new PlotInput(stage, {
			click: (x, y) => {
				const lane = rowAt(stage.layout.value, y)?.lane;
				const ns = stage.now.from + (x / stage.width) * lengthOf(stage.now);
				/* What was pointed at is in the panel now, which may have moved the rows. */
				stage.point(null, false);
				actions.choose(lane ? { lane: lane.id, ns } : null, true);
			},
			mark: markTo,
			scrollBy: (px) => scroller.current?.scrollBy(0, px),
			grab: () => stage.state.follow && change({ follow: false }, false),
		});
		if (ruler.current) input.listen(ruler.current, true);
		if (rows.current) input.listen(rows.current, false);
		return () => input.close();
	}, [stage]);
	/* Where the rows have the focus their keys come first: a flame graph below has some of the same. */
	const press = (e: KeyboardEvent): void => {
		const key = actions.keys.find((k) => !k.release && k.keys.includes(nameKey(e)));
		if (!key) return;
		e.preventDefault();
		e.stopPropagation();
		key.run(e);
	};
	const setHeight = (e: HTMLElement | null): void => e?.style.setProperty("height", `${layout.height}px`);
	return (
		<div class="vm-board">
			<div class="vm-ruler">
				<canvas ref={ruler} role="img" aria-label={say("ruler")} />
			</div>
			<div class="vm-scroller" ref={scroller}>
				<div class="vm-names" ref={setHeight}>
					{layout.rows.map((row) => (
						<RowName key={row.lane?.id ?? `vm${row.vm}`} row={row} />
					))}
				</div>
				<div class="vm-plot" ref={plot}>
					<canvas
						class="vm-rows"
						tabIndex={0}
						role="application"
						aria-label={say("rowsLabel")}
						data-pending="1"
						onKeyDown={press}
						ref={(e) => {
							rows.current = e;
							setHeight(e);
						}}
					/>
				</div>
			</div>
			<Pointed stage={stage} />
			<p class="spoken" role="status">
				{actions.spoken.value}
			</p>
		</div>
	);
}
