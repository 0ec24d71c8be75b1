// SPDX-License-Identifier: MIT
// chart: the boot chart (src/chart/page) in the page. It is the same script that a page of its own has; here it
// gets its element and the language, and what is in sight and selected goes into the address.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { mount, type Handle } from "../../../chart/mount.js";
import "../../../chart/style.css";
import type { ChartData } from "../../api/boots";
import { setParams } from "../../app/address";
import { usePicture } from "../../app/picture";
import { language } from "../../words/dictionary";
import type { State } from "./state";

/** Below this width its panel would leave no room for the chart. */
const PANEL_PX = 900;
/** Times of the axis are told apart by less than this only on purpose. */
const SAME_NS = 1000;

interface Span {
	readonly from: number;
	readonly to: number;
}

/** The chart's axis counts from the boot's own start, the address by its clock. */
export function spanOf(state: Pick<State, "from" | "to">, baseNs: number, all: Span): Span {
	const from = state.from === null ? all.from : state.from - baseNs;
	const to = state.to === null ? all.to : state.to - baseNs;
	return from < to && from < all.to && to > all.from ? { from, to } : all;
}

export function isSame(a: Span, b: Span): boolean {
	return Math.abs(a.from - b.from) < SAME_NS && Math.abs(a.to - b.to) < SAME_NS;
}

function keepView(chart: Handle, all: Span, baseNs: number): void {
	const view = chart.view();
	const whole = isSame(view, all);
	setParams({
		from: whole ? null : Math.max(0, Math.round(view.from + baseNs)),
		to: whole ? null : Math.round(view.to + baseNs),
	});
}

function select(chart: Handle, state: State): void {
	if (state.pid === null || chart.selected() === state.pid) return;
	try {
		chart.show(state.pid, state.of);
	} catch {
		// The address names a process that this boot does not have; the chart is as good without it.
	}
}

/** What is on the chart's canvases, as it is seen. */
function copyOf(element: HTMLElement): Promise<Blob> {
	const place = element.getBoundingClientRect();
	const scale = globalThis.devicePixelRatio || 1;
	const copy = document.createElement("canvas");
	copy.width = Math.round(place.width * scale);
	copy.height = Math.round(place.height * scale);
	const pen = copy.getContext("2d");
	if (!pen) return Promise.reject(new Error("cannot draw the picture: the browser has no canvas"));
	pen.fillStyle = getComputedStyle(element).backgroundColor;
	pen.fillRect(0, 0, copy.width, copy.height);
	for (const c of element.querySelectorAll("canvas")) {
		const at = c.getBoundingClientRect();
		if (at.width && at.height)
			pen.drawImage(
				c,
				(at.left - place.left) * scale,
				(at.top - place.top) * scale,
				at.width * scale,
				at.height * scale,
			);
	}
	return new Promise((resolve, reject) =>
		copy.toBlob(
			(blob) => (blob ? resolve(blob) : reject(new Error("cannot draw the picture: it is too large"))),
			"image/png",
		),
	);
}

/** The SVG is the collector's own, of the whole boot; the PNG is what is in sight. */
function usePictureOf(element: RefObject<HTMLDivElement>, svg: () => Promise<string>): void {
	const now = useRef(svg);
	now.current = svg;
	usePicture(
		useMemo(
			() => ({
				name: () => "boot",
				png: () =>
					element.current
						? copyOf(element.current)
						: Promise.reject(new Error("cannot draw the picture: there is none")),
				svg: () => now.current(),
			}),
			[],
		),
	);
}

export interface ChartProps {
	readonly data: ChartData;
	readonly state: State;
	/** The same chart as a picture of the collector's. */
	readonly svg: () => Promise<string>;
}

export function Chart({ data, state, svg }: ChartProps) {
	const element = useRef<HTMLDivElement>(null);
	const chart = useRef<Handle | null>(null);
	const all = useRef<Span>({ from: 0, to: 0 });
	usePictureOf(element, svg);
	const baseNs = data.boots[0]?.base_ns ?? 0;
	useLayoutEffect(() => {
		if (!element.current) return undefined;
		// The chart says that it has shown what the address names, too; that must not go back into it.
		let settled = false;
		const made = mount(element.current, data, {
			header: false,
			language: language.peek(),
			panel: element.current.clientWidth >= PANEL_PX,
			onSelect: (p) => settled && setParams({ pid: p?.pid ?? null, of: p?.boot === 1 ? 1 : null }),
		});
		chart.current = made;
		all.current = made.view();
		const span = spanOf(state, baseNs, all.current);
		if (!isSame(span, made.view())) made.setView(span.from, span.to);
		select(made, state);
		settled = true;
		element.current.dataset["ready"] = "true";
		return () => {
			chart.current = null;
			made.destroy();
		};
	}, [data]);
	const words = language.value;
	useLayoutEffect(() => {
		chart.current?.setLanguage(words);
	}, [words]);
	// "Back" changes the address under the chart.
	useEffect(() => {
		if (!chart.current) return;
		const span = spanOf(state, baseNs, all.current);
		if (!isSame(span, chart.current.view())) chart.current.setView(span.from, span.to);
		select(chart.current, state);
	}, [state.from, state.to, state.pid, state.of, data]);
	const keep = (): void => {
		// After the chart's own listeners, which change what is in sight.
		requestAnimationFrame(() => chart.current && keepView(chart.current, all.current, baseNs));
	};
	return <div class="boot-chart" ref={element} onPointerUp={keep} onKeyUp={keep} onWheel={keep} />;
}
