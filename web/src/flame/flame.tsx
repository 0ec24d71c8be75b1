// SPDX-License-Identifier: MIT
// flame: the flame graph or icicle on a canvas.
//
// The canvas is as large as what can be seen and stays there while its box scrolls, so a stack of ten thousand calls
// costs what one of fifty costs. A click, a tap or Enter zooms into a box; arrows go from box to box, and what they
// are at is said aloud. What is pointed at has all its figures beside the pointer.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { dark } from "../app/theme";
import { useSize, type Size } from "../parts/size";
import { Tip } from "../parts/tip";
import "../style/figures.css";
import type { Change } from "./change";
import "./flame.css";
import type { Box, Forest } from "./forest";
import { findAt, layOut, type Layout, type Placed } from "./layout";
import { paint } from "./paint";
import { FONT, LEVEL_PX, rowOf, shapesOf } from "./shapes";
import { titleOf } from "./title";

import { say } from "./words";

export interface FlameProps {
	readonly forest: Forest;
	readonly values: Float64Array;
	readonly zoom: Box | null;
	readonly focus: Box | null;
	readonly found: ReadonlySet<Box> | null;
	readonly upward: boolean;
	readonly change: ((box: Box) => Change) | null;
	readonly color: (box: Box) => string;
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

/** Where the levels are on the screen now. */
interface Stage {
	readonly layout: Layout;
	readonly levels: number;
	readonly size: Size;
	/** How far it is scrolled. */
	readonly top: number;
	/** A low flame stands on the ground, not under the ceiling. */
	readonly lift: number;
}

function drawOn(canvas: HTMLCanvasElement, props: FlameProps, stage: Stage, isDark: boolean): void {
	const { layout, levels, size, top, lift } = stage;
	const pen = canvas.getContext("2d");
	if (!pen || !size.width) return;
	const scale = globalThis.devicePixelRatio || 1;
	canvas.width = Math.round(size.width * scale);
	canvas.height = Math.round(size.height * scale);
	pen.setTransform(scale, 0, 0, scale, 0, (lift - (top % LEVEL_PX)) * scale);
	const shapes = shapesOf({
		layout,
		from: Math.floor(top / LEVEL_PX),
		rows: Math.ceil(size.height / LEVEL_PX) + 1,
		width: size.width,
		levels,
		upward: props.upward,
		title: titleOf,
		figure: props.figure,
		dark: isDark,
		color: props.color,
		measureText: measurer(pen),
		found: props.found,
		change: props.change,
	});
	paint(pen, shapes, props.focus, colorsOf(canvas));
	canvas.dataset["drawn"] = String(shapes.length);
}

/** Scrolls to the root when the direction changes or a flame gets another height, and to the box that the keyboard is at. */
function useScroll(outer: RefObject<HTMLDivElement>, props: FlameProps, stage: Stage): void {
	const { layout, levels, size, lift } = stage;
	const { focus, upward } = props;
	useLayoutEffect(() => {
		if (outer.current) outer.current.scrollTop = upward ? outer.current.scrollHeight : 0;
	}, [upward, size.width > 0, upward ? levels : 0]);
	useLayoutEffect(() => {
		const at = focus && layout.places.get(focus);
		const e = outer.current;
		if (!at || !e) return;
		const y = rowOf(at.level, levels, upward) * LEVEL_PX + lift;
		if (y < e.scrollTop) e.scrollTop = y;
		else if (y + LEVEL_PX > e.scrollTop + size.height) e.scrollTop = y + LEVEL_PX - size.height;
	}, [focus, layout, upward]);
}

function useStage(props: FlameProps, size: Size, top: number): Stage {
	const { forest, values, zoom, upward } = props;
	const layout = useMemo(
		() => layOut(forest, values, zoom, LEAST_PX / Math.max(size.width, 1)),
		[forest, values, zoom, size.width],
	);
	useEffect(() => props.onLayout(layout), [layout]);
	const levels = layout.levels.length;
	const lift = upward ? Math.max(0, size.height - levels * LEVEL_PX) : 0;
	return { layout, levels, size, top, lift };
}

function placedAt(e: MouseEvent, outer: HTMLElement | null, stage: Stage, upward: boolean): Placed | null {
	const place = outer?.getBoundingClientRect();
	if (!place || !stage.size.width) return null;
	const row = Math.floor((e.clientY - place.top + stage.top - stage.lift) / LEVEL_PX);
	const level = upward ? stage.levels - 1 - row : row;
	return findAt(stage.layout, level, (e.clientX - place.left) / stage.size.width);
}

export function Flame(props: FlameProps) {
	const outer = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const size = useSize(outer);
	const [top, setTop] = useState(0);
	const [pointed, setPointed] = useState<Pointed | null>(null);
	const isDark = dark.value;
	const stage = useStage(props, size, top);
	const room = stage.levels * LEVEL_PX + stage.lift;
	useLayoutEffect(() => {
		if (canvas.current) drawOn(canvas.current, props, stage, isDark);
	});
	useScroll(outer, props, stage);
	const at = (e: MouseEvent): Placed | null => placedAt(e, outer.current, stage, props.upward);
	const zoomTo = (box: Box): void => props.onZoom(box.parent ? box : null);
	const point = (e: PointerEvent): void => {
		const placed = e.pointerType === "touch" ? null : at(e);
		setPointed(placed && { placed, x: e.clientX, y: e.clientY });
	};
	const press = (e: KeyboardEvent): void => {
		if (e.key !== "Enter" || !props.focus) return;
		e.preventDefault();
		zoomTo(props.focus);
	};
	const click = (e: MouseEvent): void => {
		const placed = at(e);
		if (placed) zoomTo(placed.box);
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
				onClick={click}
				onKeyDown={press}
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
