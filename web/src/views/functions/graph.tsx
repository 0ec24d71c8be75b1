// SPDX-License-Identifier: MIT
// graph: the flame graph with its keys and its picture.
import { useMemo, useRef } from "preact/hooks";

import { address } from "../../app/address";
import { useKeys, type Key } from "../../app/keys";
import { pictureOf, usePicture } from "../../app/picture";
import { dark } from "../../app/theme";
import { formatPercent } from "../../parts/format";
import { colorOfName } from "../../parts/palette";
import { BoxFigures, describeBox, formatChange, formatValue, type Shown } from "./figures";
import { colorsOf, Flame } from "./flame";
import { idOf, type Box } from "./forest";
import { layOut, stepFrom, type Direction, type Layout } from "./layout";
import { paint } from "./paint";
import type { Picked } from "./picked";
import { FONT, LEVEL_PX, shapesOf } from "./shapes";
import { change, readState, type State } from "./state";
import { titleOf } from "./title";
import { say } from "./words";

export interface GraphProps {
	readonly state: State;
	readonly picked: Picked;
	readonly select: (box: Box, remember: boolean) => void;
}

function shownOf(picked: Picked, box: Box, shares: boolean): Shown {
	return {
		box,
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

/** The next box that fits, from the left to the right and from the root outward. */
export function nextFound(layout: Layout, found: ReadonlySet<Box>, from: Box | null, by: 1 | -1): Box | null {
	const list = layout.levels.flatMap((l) => (l ?? []).map((p) => p.box)).filter((b) => found.has(b));
	if (!list.length) return null;
	const at = from ? list.indexOf(from) : -1;
	return list[(at + by + list.length) % list.length] ?? null;
}

interface Now {
	readonly props: GraphProps;
	readonly layout: Layout | null;
}

/** The list is made once; what it works on is what is shown when a key is pressed. */
function keysOf(now: { readonly current: Now }): readonly Key[] {
	const at = (): Box => {
		const { picked } = now.current.props;
		return picked.focus ?? picked.zoom ?? picked.forest.root;
	};
	const step = (to: Direction) => (): void => {
		const { layout, props } = now.current;
		if (layout) props.select(stepFrom(layout, at(), to), false);
	};
	const found = (by: 1 | -1) => (): void => {
		const { layout, props } = now.current;
		const next =
			layout && props.picked.found && nextFound(layout, props.picked.found.boxes, props.picked.focus, by);
		if (next) props.select(next, false);
	};
	const isUpward = (): boolean => readState(address.value.params).upward;
	return [
		{ keys: ["arrowup"], what: () => say("keyMove"), run: () => step(isUpward() ? "child" : "parent")() },
		{ keys: ["arrowdown"], what: () => say("keyMove"), run: () => step(isUpward() ? "parent" : "child")() },
		{ keys: ["arrowleft"], what: () => say("keyMove"), run: step("left") },
		{ keys: ["arrowright"], what: () => say("keyMove"), run: step("right") },
		{ keys: ["z", "+"], what: () => say("keyZoom"), run: () => zoomTo(at().parent ? at() : null) },
		{
			keys: ["backspace", "-"],
			what: () => say("keyOut"),
			run: () => {
				const up = now.current.props.picked.zoom?.parent ?? null;
				zoomTo(up?.parent ? up : null);
			},
		},
		{ keys: ["0", "escape"], what: () => say("keyAll"), run: () => zoomTo(null) },
		{ keys: ["i"], what: () => say("keyGrow"), run: () => change({ upward: !isUpward() }) },
		{ keys: ["n"], what: () => say("keyNext"), run: found(1) },
		{ keys: ["p"], what: () => say("keyPrevious"), run: found(-1) },
	];
}

const PICTURE_PX = 1600;
const PICTURE_LEVELS = 200;

function drawingOf(props: GraphProps, element: Element) {
	const { picked, state } = props;
	const layout = layOut(picked.forest, picked.values, picked.zoom, 0.25 / PICTURE_PX);
	const levels = Math.min(layout.levels.length, PICTURE_LEVELS);
	const colors = colorsOf(element);
	return {
		width: PICTURE_PX,
		height: levels * LEVEL_PX,
		ground: colors.ground,
		draw: (pen: Parameters<typeof paint>[0]): void => {
			pen.font = FONT;
			const shapes = shapesOf({
				layout,
				from: 0,
				rows: levels,
				width: PICTURE_PX,
				levels,
				upward: state.upward,
				title: titleOf,
				figure: figureOf(picked, state.shares),
				dark: dark.value,
				color: colorOfName,
				measureText: (text) => pen.measureText(text).width,
				found: picked.found?.boxes ?? null,
				change: picked.change,
			});
			paint(pen, shapes, null, colors);
		},
	};
}

export function Graph(props: GraphProps) {
	const { state, picked } = props;
	const now = useRef<Now>({ props, layout: null });
	now.current = { props, layout: now.current.layout };
	useKeys(useMemo(() => keysOf(now), []));
	usePicture(
		useMemo(
			() =>
				pictureOf(
					() => drawingOf(now.current.props, document.documentElement),
					() => "functions",
				),
			[],
		),
	);
	return (
		<Flame
			forest={picked.forest}
			values={picked.values}
			zoom={picked.zoom}
			focus={picked.focus}
			found={picked.found?.boxes ?? null}
			upward={state.upward}
			change={picked.change}
			figure={figureOf(picked, state.shares)}
			describe={(box) => <BoxFigures {...shownOf(picked, box, state.shares)} />}
			spoken={(box) => describeBox(shownOf(picked, box, state.shares))}
			onZoom={zoomTo}
			onLayout={(layout) => (now.current = { ...now.current, layout })}
		/>
	);
}
