// SPDX-License-Identifier: MIT
// board: minimap, ruler, rows and their names. It tells the stage its size when that changes, passes on what mouse,
// touch and scrolling do, and shows what is under the pointer. For tests it puts a read-only object into the page,
// window.kiseki: where a row and a time are on the screen, and what is in sight.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { setParams } from "../../app/address";
import { pictureOf, usePicture } from "../../app/picture";
import { nameOf, plain } from "../../parts/text";
import type { Actions } from "./actions";
import { lengthWord, stateWord } from "./details";
import { drawingOf } from "./drawing";
import { PlotInput } from "../../parts/plot_input";
import { markChanges } from "./place";
import { RowNames } from "./row_names";
import { panSpan, toNs } from "../../parts/scale";
import type { Hover, Stage } from "./stage";
import { say } from "./words";

function Tip({ stage }: { stage: Stage }) {
	const hover: Hover | null = stage.hover.value;
	if (!hover?.slice) return null;
	const { slice } = hover;
	const put = (element: HTMLElement | null): void => {
		const x = Math.min(hover.x + 14, stage.width - 230);
		element?.style.setProperty("transform", `translate(${Math.max(0, x)}px, ${hover.y + 16}px)`);
	};
	return (
		<div class="tip" ref={put} aria-hidden="true">
			{slice.pid > 0 && (
				<strong>
					<bdi>{nameOf(slice.comm, slice.pid)}</bdi> {slice.pid}
				</strong>
			)}
			{slice.fn !== null && <bdi>{plain(slice.fn)}</bdi>}
			<span>
				{stateWord(slice)}
				{slice.cpu >= 0 && ` · CPU ${slice.cpu}`} · {lengthWord(slice)}
			</span>
		</div>
	);
}

/** Dragging in the minimap moves what is in sight. */
function useMinimap(
	stage: Stage,
	actions: Actions,
	canvas: { readonly current: HTMLCanvasElement | null },
): void {
	useEffect(() => {
		const element = canvas.current;
		if (!element) return undefined;
		const abort = new AbortController();
		let isDown = false;
		let left = 0;
		const go = (e: PointerEvent): void => {
			const ns = toNs(stage.bounds, stage.width, e.clientX - left);
			const { now } = stage;
			stage.setSpan(panSpan(now, ns - (now.from + now.to) / 2, stage.bounds));
		};
		const listen = (
			type: "pointerdown" | "pointermove" | "pointerup" | "pointercancel",
			run: (e: PointerEvent) => void,
		): void => element.addEventListener(type, run, { signal: abort.signal });
		listen("pointerdown", (e) => {
			isDown = true;
			left = element.getBoundingClientRect().left;
			element.setPointerCapture(e.pointerId);
			actions.endFollow();
			go(e);
		});
		listen("pointermove", (e) => isDown && go(e));
		listen("pointerup", () => (isDown = false));
		listen("pointercancel", () => (isDown = false));
		return () => abort.abort();
	}, [stage]);
}

interface Exposed {
	readonly locate: (at: { row: string; ns: number }) => { x: number; y: number } | null;
	readonly view: () => { from: number; to: number };
	readonly rows: () => readonly string[];
	/** Where the data ends, on the axis. */
	readonly end: () => number;
	readonly cacheBytes: () => number;
}

function expose(stage: Stage, canvas: HTMLCanvasElement): void {
	const exposed: Exposed = {
		locate: ({ row, ns }) => {
			const at = stage.locate(row, ns);
			const box = canvas.getBoundingClientRect();
			return at && { x: box.left + at.x, y: box.top + at.y };
		},
		view: () => ({ ...stage.now }),
		rows: () => [...stage.layout.value.pinned, ...stage.layout.value.rows].map((r) => r.id),
		end: () => stage.bounds.to,
		cacheBytes: () => stage.cacheBytes,
	};
	Object.defineProperty(window, "kiseki", { value: Object.freeze(exposed), configurable: true });
}

export function Board({ stage, actions }: { stage: Stage; actions: Actions }) {
	const minimap = useRef<HTMLCanvasElement>(null);
	const ruler = useRef<HTMLCanvasElement>(null);
	const rows = useRef<HTMLCanvasElement>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const plot = useRef<HTMLDivElement>(null);
	const [height, setHeight] = useState(300);
	const layout = stage.layout.value;

	useLayoutEffect(() => {
		if (!minimap.current || !ruler.current || !rows.current || !plot.current) return undefined;
		stage.attach({ minimap: minimap.current, ruler: ruler.current, rows: rows.current });
		expose(stage, rows.current);
		const watch = new ResizeObserver(([entry]) => {
			if (!entry) return;
			setHeight(entry.contentRect.height);
			stage.resize(entry.contentRect.width, entry.contentRect.height, devicePixelRatio || 1);
		});
		watch.observe(plot.current);
		return () => watch.disconnect();
	}, [stage]);

	useEffect(() => {
		const input = new PlotInput(stage, {
			click: (x, y) => actions.choose(stage.chosenAt(x, y), true),
			mark: (span, isDone) => setParams(markChanges(span), isDone),
			scrollBy: (px) => scroller.current?.scrollBy(0, px),
			grab: () => actions.endFollow(),
		});
		if (ruler.current) input.listen(ruler.current, true);
		if (rows.current) input.listen(rows.current, false);
		return () => input.close();
	}, [stage]);
	useMinimap(stage, actions, minimap);
	usePicture(
		useMemo(
			() =>
				pictureOf(
					() => drawingOf(stage),
					() => "timeline",
				),
			[stage],
		),
	);
	actions.sight = height - layout.pinnedHeight;
	actions.scrollTo = (top) => scroller.current?.scrollTo(0, top);

	const { chosen } = stage.place;
	const isPending = stage.isPending.value;
	useLayoutEffect(() => actions.follow(chosen), [actions, chosen, layout, height, isPending]);

	const setTall = (element: HTMLElement | null): void =>
		element?.style.setProperty("height", `${Math.max(layout.height + layout.pinnedHeight, 1)}px`);
	return (
		<div class="board">
			<div class="corner">
				{stage.lossesInSight.value > 0 && (
					<span class="loss-note" title={say("lostInSight")}>
						◤ {say("legendLoss")}
					</span>
				)}
			</div>
			<canvas ref={minimap} class="minimap" role="img" aria-label={say("minimap")} />
			<div class="clocks" aria-hidden="true">
				<span>{say("deviceClock")}</span>
				<span>{say("wallClock")}</span>
			</div>
			<canvas ref={ruler} class="ruler" role="img" aria-label={say("ruler")} />
			<div
				class="scroller"
				ref={scroller}
				onScroll={(e) => {
					stage.scrollTop.value = e.currentTarget.scrollTop;
					stage.redraw();
				}}
			>
				<div class="tall" ref={setTall} />
			</div>
			<RowNames stage={stage} height={height} />
			<div class="plot" ref={plot}>
				<canvas
					ref={rows}
					class="rows"
					tabIndex={0}
					role="application"
					aria-label={say("canvas")}
					data-pending="1"
				/>
				<Tip stage={stage} />
			</div>
		</div>
	);
}
