// SPDX-License-Identifier: MIT
// strip: the whole recording, a row for each CPU, by where it was; a part of it is chosen by dragging over it.
import { useLayoutEffect, useRef } from "preact/hooks";

import { MODES, type ProfileTimeline } from "../../api/profile";
import { dark } from "../../app/theme";
import { Brush, type Extent } from "../../parts/brush";
import { useSize } from "../../parts/size";
import { fullOf, partsOf } from "./buckets";
import { colorOfMode } from "./looks";
import { change, type State } from "./state";
import { say } from "./words";

const HEIGHT_MIN_PX = 48;
const HEIGHT_MAX_PX = 96;
const ROW_PX = 26;
const GAP_PX = 2;
const NAME_PX = 18;

/** Numbers of CPUs, where rows are high enough to read them. */
function drawNames(
	pen: CanvasRenderingContext2D,
	canvas: HTMLCanvasElement,
	t: ProfileTimeline,
	rowPx: number,
): void {
	if (rowPx < NAME_PX) return;
	const style = getComputedStyle(canvas);
	pen.font = '11px system-ui, "Noto Sans JP", sans-serif';
	pen.textBaseline = "middle";
	t.rows.forEach((row, r) => {
		const name = say("cpuName", { n: row.name });
		pen.globalAlpha = 0.8;
		pen.fillStyle = style.getPropertyValue("--ground").trim();
		pen.fillRect(6, (r + 0.5) * rowPx - 8, pen.measureText(name).width + 8, 14);
		pen.globalAlpha = 1;
		pen.fillStyle = style.getPropertyValue("--text").trim();
		pen.fillText(name, 10, (r + 0.5) * rowPx - 1);
	});
}

function draw(canvas: HTMLCanvasElement, t: ProfileTimeline, width: number, height: number): void {
	const pen = canvas.getContext("2d");
	if (!pen || !width) return;
	const scale = globalThis.devicePixelRatio || 1;
	canvas.width = Math.round(width * scale);
	canvas.height = Math.round(height * scale);
	pen.scale(scale, scale);
	const full = fullOf(t);
	const rowPx = height / Math.max(1, t.rows.length);
	const step = width / Math.max(1, t.width);
	t.rows.forEach((row, r) => {
		const bottom = (r + 1) * rowPx - GAP_PX;
		const room = rowPx - GAP_PX;
		for (let i = 0; i < t.width; i++)
			for (const part of partsOf(row, i, full)) {
				pen.fillStyle = colorOfMode(part.mode);
				pen.fillRect(i * step, bottom - (part.from + part.share) * room, step + 0.3, part.share * room);
			}
	});
	drawNames(pen, canvas, t, rowPx);
	canvas.dataset["rows"] = String(t.rows.length);
}

function Picture({ timeline }: { timeline: ProfileTimeline }) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const size = useSize(canvas);
	const isDark = dark.value;
	const height = Math.min(HEIGHT_MAX_PX, Math.max(HEIGHT_MIN_PX, timeline.rows.length * ROW_PX));
	useLayoutEffect(() => {
		if (canvas.current) draw(canvas.current, timeline, size.width, height);
	}, [timeline, size.width, height, isDark]);
	return (
		<canvas
			class="strip"
			role="img"
			aria-label={say("stripLabel", { n: timeline.rows.length })}
			ref={(e) => {
				canvas.current = e;
				e?.style.setProperty("height", `${height}px`);
			}}
		/>
	);
}

export function Strip(props: {
	readonly timeline: ProfileTimeline;
	readonly extent: Extent;
	readonly state: State;
}) {
	const { timeline, extent, state } = props;
	const part =
		state.from === null && state.to === null
			? null
			: { from: state.from ?? extent.from, to: state.to ?? extent.to };
	const seen = MODES.filter((m) => timeline.rows.some((r) => r.modes[m]));
	return (
		<div class="bar strips">
			<Brush
				label={state.base === null ? say("range") : say("after")}
				fromLabel={say("rangeFrom")}
				toLabel={say("rangeTo")}
				allLabel={say("wholeRun")}
				extent={extent}
				value={part}
				choose={(v) => change({ from: v?.from ?? null, to: v?.to ?? null })}
			>
				<Picture timeline={timeline} />
			</Brush>
			<ul class="split-legend" aria-label={say("modes")}>
				{seen.map((m) => (
					<li key={m}>
						<i
							class="part"
							aria-hidden="true"
							ref={(e) => e?.style.setProperty("background", colorOfMode(m))}
						/>
						{say(m)}
					</li>
				))}
			</ul>
		</div>
	);
}
