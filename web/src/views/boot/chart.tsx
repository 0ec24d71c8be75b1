// SPDX-License-Identifier: MIT
// chart: the boot chart (src/chart/page) in the page. It is the same script that a page of its own has; here it
// gets its element, and what is in sight and selected goes into the address.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { mount, type Handle } from "../../../chart/mount.js";
import "../../../chart/style.css";
import type { ChartData } from "../../api/boots";
import { setParams } from "../../app/address";
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

export function Chart({ data, state }: { data: ChartData; state: State }) {
	const element = useRef<HTMLDivElement>(null);
	const chart = useRef<Handle | null>(null);
	const all = useRef<Span>({ from: 0, to: 0 });
	const baseNs = data.boots[0]?.base_ns ?? 0;
	useLayoutEffect(() => {
		if (!element.current) return undefined;
		// The chart says that it has shown what the address names, too; that must not go back into it.
		let settled = false;
		const made = mount(element.current, data, {
			header: false,
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
