// SPDX-License-Identifier: MIT
// brush: a part of a stretch of time, chosen by dragging over it, by its two handles, or by the keyboard.
//
// Values are nanoseconds; null at both ends means all of it. A drag says what it would be while it lasts and tells
// its owner once, when it ends: every step would ask the collector.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

import "../style/brush.css";
import { formatLength, formatOffset } from "./format";

export interface Extent {
	readonly from: number;
	readonly to: number;
}

export interface BrushProps {
	readonly label: string;
	readonly fromLabel: string;
	readonly toLabel: string;
	readonly allLabel: string;
	readonly extent: Extent;
	readonly value: Extent | null;
	readonly choose: (value: Extent | null) => void;
	/** What the time is like, drawn below the brush; it makes the track as high as it is. */
	readonly children?: ComponentChildren;
}

/** Two ends in any order as a part of the extent; null if it is all of it, or too short to mean anything. */
export function spanOf(a: number, b: number, extent: Extent): Extent | null {
	const from = Math.max(extent.from, Math.min(a, b));
	const to = Math.min(extent.to, Math.max(a, b));
	if (to <= from || (from <= extent.from && to >= extent.to)) return null;
	return { from: Math.round(from), to: Math.round(to) };
}

const STEP = 0.01;
const LEAST_PX = 4;
const HANDLE_PX = 8;

/** Where a key moves a handle; null if it is no such key. */
export function stepOf(key: string, at: number, extent: Extent): number | null {
	const length = extent.to - extent.from;
	const by: Readonly<Record<string, number>> = {
		ArrowLeft: -STEP,
		ArrowDown: -STEP,
		ArrowRight: STEP,
		ArrowUp: STEP,
		PageDown: -10 * STEP,
		PageUp: 10 * STEP,
		Home: -1,
		End: 1,
	};
	const step = by[key];
	if (step === undefined) return null;
	return Math.round(Math.max(extent.from, Math.min(extent.to, at + step * length)));
}

interface Drag {
	readonly fixed: number;
	readonly at: number;
	readonly startX: number;
}

function Handle(props: { label: string; at: number; extent: Extent; move: (to: number) => void }) {
	const { at, extent } = props;
	const length = extent.to - extent.from || 1;
	return (
		<span
			class="brush-handle"
			role="slider"
			tabIndex={0}
			aria-label={props.label}
			aria-valuemin={0}
			aria-valuemax={length}
			aria-valuenow={at - extent.from}
			aria-valuetext={formatOffset(at - extent.from, length / 1000)}
			ref={(e) => e?.style.setProperty("left", `${(100 * (at - extent.from)) / length}%`)}
			onKeyDown={(e) => {
				const to = stepOf(e.key, at, extent);
				if (to === null) return;
				e.preventDefault();
				e.stopPropagation();
				props.move(to);
			}}
		/>
	);
}

export function Brush(props: BrushProps) {
	const { extent, value, choose } = props;
	const track = useRef<HTMLDivElement>(null);
	const [drag, setDrag] = useState<Drag | null>(null);
	const length = extent.to - extent.from || 1;
	const timeAt = (x: number): number => {
		const place = track.current?.getBoundingClientRect();
		const share = place?.width ? (x - place.left) / place.width : 0;
		return extent.from + Math.max(0, Math.min(1, share)) * length;
	};
	const shown = (drag ? spanOf(drag.fixed, drag.at, extent) : value) ?? extent;
	const start = (e: PointerEvent): void => {
		const at = timeAt(e.clientX);
		const near = (HANDLE_PX * length) / (track.current?.clientWidth || 1);
		let fixed = at;
		if (value && Math.abs(at - value.from) < near) fixed = value.to;
		else if (value && Math.abs(at - value.to) < near) fixed = value.from;
		track.current?.setPointerCapture(e.pointerId);
		setDrag({ fixed, at, startX: e.clientX });
	};
	const end = (e: PointerEvent): void => {
		if (!drag) return;
		setDrag(null);
		if (Math.abs(e.clientX - drag.startX) >= LEAST_PX) choose(spanOf(drag.fixed, drag.at, extent));
	};
	const step = length / 1000;
	return (
		<div class="brush" role="group" aria-label={props.label}>
			<span aria-hidden="true">{props.label}</span>
			<div
				class={props.children ? "brush-track over" : "brush-track"}
				ref={track}
				onPointerDown={start}
				onPointerMove={(e) => drag && setDrag({ ...drag, at: timeAt(e.clientX) })}
				onPointerUp={end}
				onPointerCancel={() => setDrag(null)}
			>
				{props.children}
				<span
					class="brush-span"
					ref={(e) => {
						e?.style.setProperty("left", `${(100 * (shown.from - extent.from)) / length}%`);
						e?.style.setProperty("width", `${(100 * (shown.to - shown.from)) / length}%`);
					}}
				/>
				<Handle
					label={props.fromLabel}
					at={shown.from}
					extent={extent}
					move={(to) => choose(spanOf(to, shown.to, extent))}
				/>
				<Handle
					label={props.toLabel}
					at={shown.to}
					extent={extent}
					move={(to) => choose(spanOf(shown.from, to, extent))}
				/>
			</div>
			<span class="brush-text">
				{formatOffset(shown.from - extent.from, step)} – {formatOffset(shown.to - extent.from, step)} (
				{formatLength(shown.to - shown.from)})
			</span>
			{value && (
				<button type="button" onClick={() => choose(null)}>
					{props.allLabel}
				</button>
			)}
		</div>
	);
}
