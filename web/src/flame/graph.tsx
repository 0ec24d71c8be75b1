// SPDX-License-Identifier: MIT
// graph: the flame graph with its keys and its picture.
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";

import { useKeys, type Key } from "../app/keys";
import { pictureOf, usePicture } from "../app/picture";
import { dark } from "../app/theme";
import { colorOfName } from "../parts/palette";
import { colorsOf, Flame } from "./flame";
import type { Box } from "./forest";
import { layOut, stepFrom, type Direction, type Layout } from "./layout";
import { paint } from "./paint";
import type { Picked } from "./picked";
import { FONT, LEVEL_PX, shapesOf } from "./shapes";
import { changeFlame, currentFlame } from "./state";
import { titleOf } from "./title";
import { say } from "./words";

export interface GraphProps {
	readonly picked: Picked;
	readonly upward: boolean;
	/** Of its picture's file. */
	readonly name: string;
	/** In few letters, for the box itself. */
	readonly figure: (box: Box) => string;
	/** All that is known of it, beside the pointer. */
	readonly describe: (box: Box) => ComponentChildren;
	/** One line, for those who hear it. */
	readonly spoken: (box: Box) => string;
	/** The usual one is of its name. */
	readonly color?: (box: Box) => string;
	readonly select: (box: Box, remember: boolean) => void;
	readonly zoomTo: (box: Box | null) => void;
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
	const zoomTo = (box: Box | null): void => now.current.props.zoomTo(box?.parent ? box : null);
	const isUpward = (): boolean => currentFlame().upward;
	return [
		{ keys: ["arrowup"], what: () => say("keyMove"), run: () => step(isUpward() ? "child" : "parent")() },
		{ keys: ["arrowdown"], what: () => say("keyMove"), run: () => step(isUpward() ? "parent" : "child")() },
		{ keys: ["arrowleft"], what: () => say("keyMove"), run: step("left") },
		{ keys: ["arrowright"], what: () => say("keyMove"), run: step("right") },
		{ keys: ["z", "+"], what: () => say("keyZoom"), run: () => zoomTo(at()) },
		{
			keys: ["backspace", "-"],
			what: () => say("keyOut"),
			run: () => zoomTo(now.current.props.picked.zoom?.parent ?? null),
		},
		{ keys: ["0", "escape"], what: () => say("keyAll"), run: () => zoomTo(null) },
		{ keys: ["i"], what: () => say("keyGrow"), run: () => changeFlame({ upward: !isUpward() }) },
		{ keys: ["n"], what: () => say("keyNext"), run: found(1) },
		{ keys: ["p"], what: () => say("keyPrevious"), run: found(-1) },
	];
}

const PICTURE_PX = 1600;
const PICTURE_LEVELS = 200;

export function colorOfBox(box: Box): string {
	return colorOfName(box.name);
}

function drawingOf(props: GraphProps, element: Element) {
	const { picked } = props;
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
				upward: props.upward,
				title: titleOf,
				figure: props.figure,
				dark: dark.value,
				color: props.color ?? colorOfBox,
				measureText: (text) => pen.measureText(text).width,
				found: picked.found?.boxes ?? null,
				change: picked.change,
			});
			paint(pen, shapes, null, colors);
		},
	};
}

export function Graph(props: GraphProps) {
	const { picked } = props;
	const now = useRef<Now>({ props, layout: null });
	now.current = { props, layout: now.current.layout };
	useKeys(useMemo(() => keysOf(now), []));
	usePicture(
		useMemo(
			() =>
				pictureOf(
					() => drawingOf(now.current.props, document.documentElement),
					() => now.current.props.name,
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
			upward={props.upward}
			change={picked.change}
			color={props.color ?? colorOfBox}
			figure={props.figure}
			describe={props.describe}
			spoken={props.spoken}
			onZoom={props.zoomTo}
			onLayout={(layout) => (now.current = { ...now.current, layout })}
		/>
	);
}
