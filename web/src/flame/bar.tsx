// SPDX-License-Identifier: MIT
// bar: what stands above a flame graph: its direction, what is looked for, where one is in it, what its colours say.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { useKeys, type Key } from "../app/keys";
import { formatCount, formatPercent } from "../parts/format";
import { SIGNS, type Kind } from "./change";
import { pathOf } from "./forest";
import type { Picked } from "./picked";
import { changeFlame, type FlameState } from "./state";
import { titleOf } from "./title";
import { say } from "./words";

const SEARCH_ID = "flame-search";

const KEYS: readonly Key[] = [
	{ keys: ["/"], what: () => say("keySearch"), run: () => document.getElementById(SEARCH_ID)?.focus() },
];

export function GrowChoice({ upward }: { upward: boolean }) {
	return (
		<div class="choice-row" role="group" aria-label={say("grow")}>
			{[false, true].map((up) => (
				<button
					key={String(up)}
					type="button"
					aria-pressed={upward === up}
					onClick={() => changeFlame({ upward: up })}
				>
					{up ? `▲ ${say("flame")}` : `▼ ${say("icicle")}`}
				</button>
			))}
		</div>
	);
}

/** How much fits, of what is in sight; without `format`, only how many functions. */
export function foundText(picked: Picked, format: ((value: number) => string) | null): string {
	const { found } = picked;
	if (!found) return "";
	const functions = formatCount(found.functions);
	if (!found.functions) return say("foundNone");
	if (!format || picked.change) return say("foundTable", { functions });
	const whole = picked.values[(picked.zoom ?? picked.forest.root).index] || 1;
	return say("foundSum", {
		functions,
		value: format(found.value),
		share: formatPercent(found.value / whole),
	});
}

/** `text` says what was found. */
export function FlameSearch({ state, text }: { state: FlameState; text: string }) {
	useKeys(KEYS);
	const input = useRef<HTMLInputElement>(null);
	const typed = useRef(state.find);
	// The address may change under it ("back"); what was typed here is there already.
	useEffect(() => {
		if (input.current && state.find !== typed.current) input.current.value = state.find;
		typed.current = state.find;
	}, [state.find]);
	return (
		<span class="search">
			<input
				id={SEARCH_ID}
				ref={input}
				type="search"
				aria-label={say("search")}
				placeholder={say("search")}
				title={say("searchHint")}
				defaultValue={state.find}
				onInput={(e) => {
					typed.current = e.currentTarget.value;
					changeFlame({ find: typed.current }, false);
				}}
				onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
			/>
			{text && (
				<span class="found-text" role="status">
					{text}
				</span>
			)}
		</span>
	);
}

export function ChangeLegend() {
	const kinds: readonly Kind[] = ["more", "new", "less", "gone", "same"];
	return (
		<ul class="split-legend" aria-label={say("change")}>
			{kinds.map((kind) => (
				<li key={kind}>
					<i class={`changed ${kind}`} aria-hidden="true">
						{SIGNS[kind]}
					</i>
					{say(kind)}
				</li>
			))}
		</ul>
	);
}

/** Where one is in the graph: each caller of what is zoomed into is a way back. */
export function Crumbs({ picked }: { picked: Picked }) {
	if (!picked.zoom) return null;
	return (
		<div class="bar crumbs">
			<button type="button" onClick={() => changeFlame({ zoom: "" })}>
				{say("zoomOut")}
			</button>
			<ol class="path">
				{pathOf(picked.zoom)
					.slice(1)
					.map((box) => (
						<li key={box.key}>
							<button type="button" class="plain" onClick={() => changeFlame({ zoom: box.key })}>
								<bdi>{titleOf(box)}</bdi>
							</button>
						</li>
					))}
			</ol>
		</div>
	);
}

/** The line above a flame graph; `children` is what its view adds. */
export function FlameBar(props: {
	readonly state: FlameState;
	readonly picked: Picked;
	readonly format: (value: number) => string;
	readonly children?: ComponentChildren;
}) {
	const { state, picked } = props;
	return (
		<>
			<div class="bar">
				{props.children}
				<GrowChoice upward={state.upward} />
				<FlameSearch state={state} text={foundText(picked, props.format)} />
				{picked.change && <ChangeLegend />}
			</div>
			<Crumbs picked={picked} />
		</>
	);
}
