// SPDX-License-Identifier: MIT
// toolbar: how the paths are shown, what their width is, and what is looked for.
import { useEffect, useRef } from "preact/hooks";

import { useKeys, type Key } from "../../app/keys";
import { formatCount, formatPercent } from "../../parts/format";
import { SIGNS, type Kind } from "./change";
import { formatValue } from "./figures";
import { pathOf, type Measure } from "./forest";
import type { Picked } from "./picked";
import { change, currentState, TABS, type State } from "./state";
import { titleOf } from "./title";
import { say } from "./words";

const SEARCH_ID = "functions-search";

const KEYS: readonly Key[] = [
	{ keys: ["/"], what: () => say("keySearch"), run: () => document.getElementById(SEARCH_ID)?.focus() },
	{
		keys: ["t"],
		what: () => say("keyTab"),
		run: () => {
			const at = TABS.indexOf(currentState().tab);
			change({ tab: TABS[(at + 1) % TABS.length] ?? "graph" });
		},
	},
];

interface Props {
	readonly state: State;
	readonly picked: Picked;
	readonly waiting: boolean;
}

function Tabs({ state }: { state: State }) {
	return (
		<div class="choice-row" role="group" aria-label={say("kindOfView")}>
			{TABS.map((tab) => (
				<button key={tab} type="button" aria-pressed={state.tab === tab} onClick={() => change({ tab })}>
					{say(tab)}
				</button>
			))}
		</div>
	);
}

function FoundText({ state, picked }: Omit<Props, "waiting">) {
	const { found } = picked;
	if (!found) return null;
	const functions = formatCount(found.functions);
	const whole = picked.values[(picked.zoom ?? picked.forest.root).index] || 1;
	const text = !found.functions
		? say("foundNone")
		: picked.change || state.tab === "table"
			? say("foundTable", { functions })
			: say("foundSum", {
					functions,
					value: formatValue(found.value, picked.by),
					share: formatPercent(found.value / whole),
				});
	return (
		<span class="found-text" role="status">
			{text}
		</span>
	);
}

function Search({ state, picked }: Omit<Props, "waiting">) {
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
					change({ find: typed.current }, false);
				}}
				onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
			/>
			<FoundText state={state} picked={picked} />
		</span>
	);
}

function ChangeLegend() {
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
function Crumbs({ picked }: { picked: Picked }) {
	if (!picked.zoom) return null;
	return (
		<div class="bar crumbs">
			<button type="button" onClick={() => change({ zoom: "" })}>
				{say("zoomOut")}
			</button>
			<ol class="path">
				{pathOf(picked.zoom)
					.slice(1)
					.map((box) => (
						<li key={box.key}>
							<button type="button" class="plain" onClick={() => change({ zoom: box.key })}>
								<bdi>{titleOf(box)}</bdi>
							</button>
						</li>
					))}
			</ol>
		</div>
	);
}

export function Toolbar({ state, picked, waiting }: Props) {
	useKeys(KEYS);
	return (
		<>
			<div class="bar" aria-busy={waiting}>
				<Tabs state={state} />
				{state.tab !== "table" && (
					<label>
						{say("width")}{" "}
						<select value={picked.by} onChange={(e) => change({ by: e.currentTarget.value as Measure })}>
							{picked.measures.map((m) => (
								<option key={m} value={m}>
									{say(m)}
								</option>
							))}
						</select>
					</label>
				)}
				{state.tab === "graph" && (
					<div class="choice-row" role="group" aria-label={say("grow")}>
						{[false, true].map((upward) => (
							<button
								key={String(upward)}
								type="button"
								aria-pressed={state.upward === upward}
								onClick={() => change({ upward })}
							>
								{upward ? `▲ ${say("flame")}` : `▼ ${say("icicle")}`}
							</button>
						))}
					</div>
				)}
				<Search state={state} picked={picked} />
				{picked.change && <ChangeLegend />}
				{waiting && <span class="quiet-note">{say("loadingMore")}</span>}
			</div>
			{state.tab === "graph" && <Crumbs picked={picked} />}
		</>
	);
}
