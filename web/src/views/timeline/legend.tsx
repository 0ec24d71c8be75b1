// SPDX-License-Identifier: MIT
// legend: what colours and patterns mean, painted with the same tables as the rows.
import { useEffect, useRef } from "preact/hooks";

import { dark } from "../../app/theme";
import { STATES, type State } from "../../parts/palette";
import { SIDE } from "../../parts/pattern";
import { makeInks } from "./patterns";
import { say } from "./words";

const WIDTH = 40;
const HEIGHT = 16;
const ORDER: readonly State[] = [
	"running",
	"runnable",
	"preempted",
	"blocked",
	"sleeping",
	"stopped",
	"idle",
	"unknown",
	"dead",
];

function Swatch({ state }: { state: State }) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const isDark = dark.value;
	useEffect(() => {
		const context = canvas.current?.getContext("2d");
		if (!context) return;
		const ground = getComputedStyle(document.documentElement).getPropertyValue("--ground").trim();
		const inks = makeInks(ground);
		const image = context.createImageData(WIDTH, HEIGHT);
		const pixels = new Uint32Array(image.data.buffer).fill(inks.ground);
		const at = STATES.indexOf(state);
		const top = HEIGHT - Math.round((inks.height[at] ?? 0) * HEIGHT);
		for (let y = top; y < HEIGHT; y++)
			for (let x = 0; x < WIDTH; x++)
				pixels[y * WIDTH + x] = inks.pixels[(at * SIDE + (y % SIDE)) * SIDE + (x % SIDE)] ?? 0;
		context.putImageData(image, 0, 0);
	}, [state, isDark]);
	return <canvas ref={canvas} width={WIDTH} height={HEIGHT} class="swatch" aria-hidden="true" />;
}

export function Legend() {
	return (
		<div class="legend">
			<h3>{say("legendStates")}</h3>
			<ul>
				{ORDER.map((state) => (
					<li key={state} data-state={state}>
						<Swatch state={state} /> {say(`st_${state}`)}
					</li>
				))}
				<li data-state="loss">
					<span class="swatch flag" aria-hidden="true">
						◤
					</span>{" "}
					{say("legendLoss")}
				</li>
				<li data-state="arrow">
					<span class="swatch" aria-hidden="true">
						⤷➤
					</span>{" "}
					{say("legendArrow")}
				</li>
			</ul>
			<p>
				{say("legendCpu")} {say("legendBar")} {say("legendOverview")}
			</p>
			<p>{say("hintTouch")}</p>
		</div>
	);
}
