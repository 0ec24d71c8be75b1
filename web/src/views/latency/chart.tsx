// SPDX-License-Identifier: MIT
// chart: the histogram on the screen, and as a picture for the share menu.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Bucket, Waits } from "../../api/latency";
import { pictureOf, usePicture } from "../../app/picture";
import { dark } from "../../app/theme";
import { formatCount, formatLength, formatPercent } from "../../parts/format";
import { chartAxis, drawChart, type Chart, type Colours } from "./draw";
import { bucketAt, shareUpTo } from "./histogram";
import { say } from "./words";

const LIGHT: Colours = {
	...{ ground: "#ffffff", text: "#1b1f24", quiet: "#57606a", line: "#d5dae0" },
	...{ bar: "#8fb8e0", chosen: "#0b5cad" },
};
const DARK: Colours = {
	...{ ground: "#16191d", text: "#e6e9ec", quiet: "#a4adb6", line: "#39414a" },
	...{ bar: "#3d6488", chosen: "#8cc4ff" },
};

export interface HistogramProps {
	readonly title: string;
	readonly all: Waits;
	readonly chosen: Waits | null;
	readonly logarithmic: boolean;
	readonly height: number;
}

function describe(waits: Waits): string {
	return say("summary", {
		count: formatCount(waits.waits),
		p50: formatLength(waits.p50_ns),
		p99: formatLength(waits.p99_ns),
		max: formatLength(waits.max_ns),
	});
}

function Reading({ hover, props }: { hover: Bucket | null; props: HistogramProps }) {
	const { all, chosen } = props;
	if (!hover) return <p class="reading">{describe(chosen ?? all)}</p>;
	const own = chosen?.histogram?.find((b) => b.from_ns === hover.from_ns)?.waits;
	const values = {
		from: formatLength(hover.from_ns),
		to: formatLength(hover.to_ns),
		count: formatCount(hover.waits),
		share: formatPercent(hover.waits / Math.max(1, all.waits)),
		up: formatPercent(shareUpTo(all.histogram ?? [], hover)),
	};
	return (
		<p class="reading">
			{say("bucket", values)}
			{chosen && ` ${say("bucketOwn", { count: formatCount(own ?? 0) })}`}
		</p>
	);
}

export function Histogram(props: HistogramProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const [width, setWidth] = useState(600);
	const [hover, setHover] = useState<Bucket | null>(null);
	const colours = dark.value ? DARK : LIGHT;
	const chart: Chart = { ...props, width, colours, hover };
	const latest = useRef(chart);
	latest.current = chart;
	useLayoutEffect(() => {
		const box = canvas.current?.parentElement;
		if (!box) return undefined;
		const watch = new ResizeObserver(() => setWidth(Math.max(200, box.clientWidth)));
		watch.observe(box);
		return () => watch.disconnect();
	}, []);
	useEffect(() => {
		const element = canvas.current;
		const pen = element?.getContext("2d");
		if (!element || !pen) return;
		const scale = window.devicePixelRatio || 1;
		element.width = width * scale;
		element.height = props.height * scale;
		element.style.setProperty("width", `${width}px`);
		element.style.setProperty("height", `${props.height}px`);
		pen.scale(scale, scale);
		drawChart(pen, chart);
	}, [props.all, props.chosen, props.logarithmic, props.title, props.height, width, hover, colours]);
	usePicture(
		useMemo(
			() =>
				pictureOf(() => {
					const c = { ...latest.current, hover: null };
					return {
						width: c.width,
						height: c.height,
						ground: c.colours.ground,
						draw: (pen) => drawChart(pen, c),
					};
				}),
			[],
		),
	);
	return (
		<div class="histogram">
			<canvas
				ref={canvas}
				role="img"
				aria-label={`${props.title}. ${describe(props.chosen ?? props.all)}`}
				onPointerMove={(e) =>
					setHover(bucketAt(chartAxis(chart), props.all.histogram ?? [], e.offsetX) ?? null)
				}
				onPointerLeave={() => setHover(null)}
			/>
			<Reading hover={hover} props={props} />
		</div>
	);
}
