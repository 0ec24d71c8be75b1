// SPDX-License-Identifier: MIT
// fleet: what any set of devices spent its time in, over any time: lists, a flame graph, what changed, one function over
// time; the labels that say which devices are meant; and whether the collector keeps up with all of them.
//
// All of it is answered from facts of minutes (docs/fleet.md). The address has everything (state.ts).
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";

import { connection, devices } from "../../api/devices";
import { getLabels, type FleetBasis, type LabelTable } from "../../api/fleet";
import { useKeys, type Key } from "../../app/keys";
import { say as sayFrame } from "../../app/words";
import { Command } from "../../parts/copy";
import { formatCount, formatLength, formatMinute } from "../../parts/format";
import { useLoaded, type Loaded } from "../../parts/loaded";
import { Problem } from "../../parts/problem";
import "../../style/figures.css";
import "../profile/profile.css";
import { Stacks } from "../profile/stacks";
import { Chosen } from "./chart";
import { useGraph, useList, useMinutes, type Bases, type GraphAnswer, type Question } from "./data";
import "./fleet.css";
import { Labels } from "./labels";
import { Lists } from "./lists";
import { Pipeline } from "./pipeline";
import { DEVICES_ID, Selection, startBase } from "./selection";
import { change, currentState, isCompared, TABS, unitOf, type Kind, type State, type Tab } from "./state";
import { whichDevices } from "./which";
import { say } from "./words";

const NO_LABELS: LabelTable = new Map();
const TAB_WORDS = { top: "top", graph: "graph", devices: "devicesTab", pipeline: "pipeline" } as const;

const KEYS: readonly Key[] = [
	{
		keys: ["t"],
		what: () => say("keyTab"),
		run: () => change({ tab: TABS[(TABS.indexOf(currentState().tab) + 1) % TABS.length] ?? "top" }),
	},
	{
		keys: ["c"],
		what: () => say("keyCompare"),
		run: () => startBase(currentState(), currentState().base ? "" : "before"),
	},
	{ keys: ["d"], what: () => say("keyDevices"), run: () => document.getElementById(DEVICES_ID)?.focus() },
	{ keys: ["q"], what: () => say("keyClose"), run: () => change({ name: "", object: "" }) },
];

function Tabs({ tab, children, waiting }: { tab: Tab; children?: ComponentChildren; waiting?: boolean }) {
	return (
		<div class="bar summary" aria-busy={waiting}>
			<div class="choice-row" role="group" aria-label={say("tabs")}>
				{TABS.map((t) => (
					<button key={t} type="button" aria-pressed={tab === t} onClick={() => change({ tab: t })}>
						{say(TAB_WORDS[t])}
					</button>
				))}
			</div>
			{children}
		</div>
	);
}

/** Of how much: devices, the sets of minutes and hours that were added up, and the time that their samples stand for. */
function describeBasis(b: FleetBasis, kind: Kind): string {
	const parts = [
		say("basisDevices", { n: formatCount(b.devices) }),
		...(b.hours ? [say("basisHours", { n: formatCount(b.hours) })] : []),
		...(b.minutes || !b.hours ? [say("basisMinutes", { n: formatCount(b.minutes) })] : []),
		kind === "cycles"
			? say("basisCycles", { n: formatCount(b.all.ns) })
			: say("basisTime", { time: formatLength(b.all.ns) }),
	];
	return parts.join(say("comma"));
}

function Basis({ basis, kind, name }: { basis: FleetBasis; kind: Kind; name?: string }) {
	const { lost, lost_places: places, damaged } = basis;
	return (
		<span class="basis">
			{name && <strong>{name}: </strong>}
			{formatMinute(basis.from)} – {formatMinute(basis.to)}{" "}
			<span class="quiet-note">{describeBasis(basis, kind)}</span>
			{!basis.sets && <span class="warning"> ⚠ {say("sideEmpty")}</span>}
			{(lost > 0 || places > 0) && (
				<span class="warning">
					{" "}
					⚠ {say("lost", { lost: formatCount(lost), places: formatCount(places) })}
				</span>
			)}
			{damaged > 0 && <span class="warning"> ⚠ {say("damaged", { n: formatCount(damaged) })}</span>}
		</span>
	);
}

/** Nothing is there: what to do about it. */
function Empty({ state }: { state: State }) {
	const what = state.kind === "vm" ? "vm record --collector" : "profile --all --collector";
	const program = state.kind === "vm" ? "kiseki" : "kiseki-agent";
	return (
		<div class="quiet empty">
			<p>
				<strong>{say("noFacts")}</strong>
			</p>
			<p class="buttons start">
				{(state.span || state.last !== "7d") && (
					<button type="button" onClick={() => change({ span: null, last: "7d", base: "", baseSpan: null })}>
						{say("tryLonger")}
					</button>
				)}
				{state.devices && (
					<button type="button" onClick={() => change({ devices: "" })}>
						{say("tryAll")}
					</button>
				)}
			</p>
			<p>{say(state.kind === "vm" ? "noFactsVm" : "noFactsHow")}</p>
			<Command text={`${program} ${what} ${location.hostname}:7077`} />
		</div>
	);
}

interface AnswerProps {
	readonly q: Question;
	readonly loaded: Loaded<{ readonly bases: Bases }>;
	readonly children: ComponentChildren;
}

/** What an answer was made of, what is chosen of it, and the answer itself. */
function Answer({ q, loaded, children }: AnswerProps) {
	const bases = loaded.value?.bases;
	const { tab } = q.state;
	if (!bases)
		return (
			<>
				<Tabs tab={tab} />
				{loaded.error ? (
					<Problem error={loaded.error} retry={loaded.again} />
				) : (
					<p class="quiet">{sayFrame("loading")}</p>
				)}
			</>
		);
	const { before, after } = bases;
	const others = q.state.base === "devices";
	return (
		<>
			<Tabs tab={tab} waiting={loaded.waiting}>
				{before && (
					<Basis basis={before} kind={q.state.kind} name={say(others ? "otherDevices" : "before")} />
				)}
				<Basis
					basis={after}
					kind={q.state.kind}
					{...(before ? { name: say(others ? "theseDevices" : "after") } : {})}
				/>
			</Tabs>
			{loaded.error ? <Problem error={loaded.error} retry={loaded.again} /> : null}
			{after.sets || before?.sets ? (
				<>
					{q.state.name && <Chosen q={q} bases={bases} />}
					{children}
				</>
			) : (
				<Empty state={q.state} />
			)}
		</>
	);
}

function OfLists({ q }: { q: Question }) {
	const loaded = useList(q);
	return (
		<Answer q={q} loaded={loaded}>
			{loaded.value && <Lists q={q} answer={loaded.value} waiting={loaded.waiting} />}
		</Answer>
	);
}

/** The chosen function, and nothing that only begins like it. */
export function findText(name: string): string {
	return name ? `/^${name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$/` : "";
}

function OfGraph({ q }: { q: Question }) {
	const loaded = useGraph(q);
	const forest = useMemo(() => loaded.value?.forest, [loaded.value]);
	const of = (l: Loaded<GraphAnswer>) => ({ ...l, value: forest });
	return (
		<Answer q={q} loaded={loaded}>
			<Stacks
				name="fleet"
				loaded={of(loaded)}
				state={q.state}
				unit={unitOf(q.state)}
				find={findText(q.state.name)}
			/>
		</Answer>
	);
}

/** What may be typed into the field of devices. */
function knownOf(labels: LabelTable): readonly string[] {
	const pairs = [...labels.values()].flatMap((l) => Object.entries(l).map(([k, v]) => `${k}=${v}`));
	const groups = devices.value.flatMap((d) => (d.group ? [`group=${d.group}`] : []));
	return [...new Set([...pairs, ...groups, ...devices.value.map((d) => d.name)])].slice(0, 200);
}

export default function Fleet() {
	useKeys(KEYS);
	const state = currentState();
	const [edits, setEdits] = useState(0);
	const labels = useLoaded(getLabels, [edits]);
	const round = useMinutes(!state.span);
	const table = labels.value ?? NO_LABELS;
	const which = whichDevices(state.devices, devices.value, table);
	const baseWhich = whichDevices(state.baseDevices, devices.value, table);
	const compared = isCompared(state);
	const q: Question = { state, which, baseWhich, compared, round };
	/* Which devices are meant may depend on what has not come yet. */
	const ready = (labels.value !== undefined || labels.error !== null) && connection.value !== "connecting";
	const wrong = which.problem || (compared && state.base === "devices" ? baseWhich.problem : "");
	const answered = ready && !wrong && (state.tab === "top" || state.tab === "graph");
	return (
		<div class="fleet profile">
			<Selection {...{ state, which, baseWhich }} all={devices.value.length} known={knownOf(table)} />
			{!answered && <Tabs tab={state.tab} />}
			{labels.error ? <Problem error={labels.error} retry={labels.again} /> : null}
			{answered && (state.tab === "top" ? <OfLists q={q} /> : <OfGraph q={q} />)}
			{ready && state.tab === "devices" && (
				<Labels devices={which.devices} labels={table} changed={() => setEdits(edits + 1)} />
			)}
			{ready && state.tab === "pipeline" && <Pipeline devices={which.devices} round={round} />}
		</div>
	);
}
