// SPDX-License-Identifier: MIT
// flame: the flame graph or icicle on a canvas.
//
// The canvas is as large as what can be seen and stays there while its box scrolls, so a stack of ten thousand calls
// costs what one of fifty costs. A click, a tap or Enter zooms into a box; arrows go from box to box, and what they
// are at is said aloud. What is pointed at has all its figures beside the pointer.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { dark } from "../../app/theme";
import { colorOfName } from "../../parts/palette";
import { useSize } from "../../parts/size";
import type { Change } from "./change";
import type { Box, Forest } from "./forest";
import { findAt, layOut, type Layout, type Placed } from "./layout";
import { paint } from "./paint";
import { FONT, LEVEL_PX, rowOf, shapesOf, type Shape } from "./shapes";
import { titleOf } from "./title";
import { Tip } from "./tip";
import { say } from "./words";

export interface FlameProps {
	readonly forest: Forest;
	readonly values: Float64Array;
	readonly zoom: Box | null;
	readonly focus: Box | null;
	readonly found: ReadonlySet<Box> | null;
	readonly upward: boolean;
	readonly change: ((box: Box) => Change) | null;
	/** In few letters, for the box itself. */
	readonly figure: (box: Box) => string;
	readonly describe: (box: Box) => ComponentChildren;
	readonly spoken: (box: Box) => string;
	readonly onZoom: (box: Box | null) => void;
	/** What is drawn, for keys and pictures. */
	readonly onLayout: (layout: Layout) => void;
}

/** Half a pixel of a screen with two device pixels to one. */
const LEAST_PX = 0.25;

export function colorsOf(element: Element): { text: string; accent: string; ground: string } {
	const style = getComputedStyle(element);
	const of = (name: string): string => style.getPropertyValue(name).trim();
	return { text: of("--text"), accent: of("--accent"), ground: of("--ground") };
}

function measurer(pen: CanvasRenderingContext2D): (text: string) => number {
	pen.font = FONT;
	return (text) => pen.measureText(text).width;
}

interface Pointed {
	readonly placed: Placed;
	readonly x: number;
	readonly y: number;
}

export function Flame(props: FlameProps) {
	const { forest, values, zoom, upward } = props;
	const outer = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const size = useSize(outer);
	const [top, setTop] = useState(0);
	const [pointed, setPointed] = useState<Pointed | null>(null);
	const isDark = dark.value;
	const layout = useMemo(
		() => layOut(forest, values, zoom, LEAST_PX / Math.max(size.width, 1)),
		[forest, values, zoom, size.width],
	);
	const levels = layout.levels.length;
	const room = Math.max(levels * LEVEL_PX, upward ? size.height : 0);
	const lift = room - levels * LEVEL_PX; /* a low flame stands on the ground, not under the ceiling */
	useEffect(() => props.onLayout(layout), [layout]);
	useLayoutEffect(() => {
		const pen = canvas.current?.getContext("2d");
		if (!pen || !canvas.current || !size.width) return;
		const scale = globalThis.devicePixelRatio || 1;
		canvas.current.width = Math.round(size.width * scale);
		canvas.current.height = Math.round(size.height * scale);
		pen.setTransform(scale, 0, 0, scale, 0, (lift - (top % LEVEL_PX)) * scale);
		const shapes: readonly Shape[] = shapesOf({
			layout,
			from: Math.floor(top / LEVEL_PX),
			rows: Math.ceil(size.height / LEVEL_PX) + 1,
			width: size.width,
			levels,
			upward,
			title: titleOf,
			figure: props.figure,
			dark: isDark,
			color: colorOfName,
			measureText: measurer(pen),
			found: props.found,
			change: props.change,
		});
		paint(pen, shapes, props.focus ?? null, colorsOf(canvas.current));
		canvas.current.dataset["drawn"] = String(shapes.length);
	});
	// A flame is read from its root, which is at the bottom.
	useLayoutEffect(() => {
		if (outer.current) outer.current.scrollTop = upward ? outer.current.scrollHeight : 0;
	}, [upward, levels > 0]);
	useLayoutEffect(() => {
		const at = props.focus && layout.places.get(props.focus);
		if (!at || !outer.current) return;
		const y = rowOf(at.level, levels, upward) * LEVEL_PX + lift;
		if (y < outer.current.scrollTop) outer.current.scrollTop = y;
		else if (y + LEVEL_PX > outer.current.scrollTop + size.height)
			outer.current.scrollTop = y + LEVEL_PX - size.height;
	}, [props.focus, layout, upward]);
	const placedAt = (e: MouseEvent): Placed | null => {
		const place = outer.current?.getBoundingClientRect();
		if (!place || !size.width) return null;
		const row = Math.floor((e.clientY - place.top + top - lift) / LEVEL_PX);
		return findAt(layout, upward ? levels - 1 - row : row, (e.clientX - place.left) / size.width);
	};
	const point = (e: PointerEvent): void => {
		const placed = e.pointerType === "touch" ? null : placedAt(e);
		setPointed(placed && { placed, x: e.clientX, y: e.clientY });
	};
	return (
		<div class="flame-place">
			<div
				class="flame"
				ref={outer}
				tabIndex={0}
				role="application"
				aria-roledescription={say("graph")}
				aria-label={say("graphLabel")}
				onScroll={(e) => setTop(e.currentTarget.scrollTop)}
				onPointerMove={point}
				onPointerLeave={() => setPointed(null)}
				onClick={(e) => {
					const placed = placedAt(e);
					if (placed) props.onZoom(placed.box.parent ? placed.box : null);
				}}
				onKeyDown={(e) => {
					if (e.key !== "Enter" || !props.focus) return;
					e.preventDefault();
					props.onZoom(props.focus.parent ? props.focus : null);
				}}
			>
				<div class="flame-size" ref={(e) => e?.style.setProperty("height", `${room}px`)}>
					<canvas
						ref={(e) => {
							canvas.current = e;
							e?.style.setProperty("height", `${size.height}px`);
						}}
					/>
				</div>
			</div>
			<p class="spoken" role="status">
				{props.focus ? props.spoken(props.focus) : ""}
			</p>
			{pointed && (
				<Tip x={pointed.x} y={pointed.y}>
					{props.describe(pointed.placed.box)}
				</Tip>
			)}
		</div>
	);
}
