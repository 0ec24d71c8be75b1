// SPDX-License-Identifier: MIT
// timeline: the view. It puts the parts together: a stage for the runs of the address, the canvases it draws on, names
// of rows beside them, and the panel below that says in words what is selected.
import { effect, untracked } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { deviceOf } from "../../api/devices";
import { useGoingOn } from "../../api/going_on";
import { getRun, known, listRuns, parseRuns, runParam, useRuns } from "../../api/runs";
import type { Run } from "../../api/schema";
import { callsOf } from "../../api/timeline";
import { address, setParams } from "../../app/address";
import { useKeys } from "../../app/keys";
import { say as sayFrame } from "../../app/words";
import { NoRun } from "../../parts/no_run";
import { Problem } from "../../parts/problem";
import { Actions } from "./actions";
import { Board } from "./board";
import { Details } from "./details";
import { askEarly, startWorker } from "./early";
import { Legend } from "./legend";
import { parsePlace, spanChanges } from "./place";
import { RangePanel } from "./range";
import { CallSource, makeSources, type Source } from "./source";
import { Stage } from "./stage";
import "./timeline.css";
import { Toolbar } from "./toolbar";
import { say } from "./words";

const CALL_RUNS_MAX = 8;

type Tab = "slice" | "range" | "legend";

/** Calls of programs that were recorded beside a run: the collector knows which belong together. */
async function findCalls(source: Source, abort: AbortSignal): Promise<void> {
	const near = (await listRuns("func", abort)).filter(
		(r) => r.device_id === source.run.device_id && r.boot === source.run.boot,
	);
	const runs = await Promise.all(near.slice(0, CALL_RUNS_MAX).map((r) => getRun(r.run, abort)));
	source.calls = runs.flatMap((run) => {
		const place = callsOf(run);
		if (place?.sched?.run !== source.run.run) return [];
		const { offset_ns } = place.sched;
		const span = { from: place.from_ns + offset_ns, to: run.ended ? place.to_ns + offset_ns + 1 : Infinity };
		return [new CallSource(run.run, offset_ns, span)];
	});
}

/** A stage for these runs, and what keeps it up to date: the address, and what devices say. */
function useStage(runs: readonly Run[]): Stage | null {
	const [stage, setStage] = useState<Stage | null>(null);
	const key = runs.map((r) => r.run).join();
	useEffect(() => {
		if (!runs.length) return undefined;
		const next = new Stage(makeSources(runs), (span) => setParams(spanChanges(span)));
		const events = new Map<number, number>();
		const stopAddress = effect(() => {
			const { view, params } = address.value;
			if (view === "timeline") untracked(() => next.apply(parsePlace(params)));
		});
		const stopDevices = effect(() => {
			let grew = false;
			for (const source of next.sources) {
				const device = deviceOf(source.run.device_id);
				source.live = device?.run === source.run.run && !source.run.ended;
				const count = device?.received.events ?? 0;
				grew ||= source.live && events.get(source.run.run) !== count;
				events.set(source.run.run, count);
			}
			next.isLive.value = next.sources.some((s) => s.live);
			if (grew) untracked(() => next.grew());
		});
		const abort = new AbortController();
		/* Without calls the timeline is complete; a collector that cannot say is no reason to show less. */
		Promise.all(next.sources.map((s) => findCalls(s, abort.signal))).then(
			() => next.grew(),
			() => undefined,
		);
		setStage(next);
		return () => {
			abort.abort();
			stopAddress();
			stopDevices();
			next.close();
		};
	}, [key]);
	return stage && stage.sources.map((s) => s.run.run).join() === key ? stage : null;
}

function Panel({ stage }: { stage: Stage }) {
	const { chosen, mark } = stage.place;
	const [tab, setTab] = useState<Tab>("slice");
	useEffect(() => {
		if (chosen) setTab("slice");
	}, [chosen?.rowId, chosen?.ns]);
	useEffect(() => {
		if (mark) setTab("range");
	}, [mark?.from, mark?.to]);
	const names: Record<Tab, string> = {
		slice: say("tabSlice"),
		range: say("tabRange"),
		legend: say("tabLegend"),
	};
	return (
		<section class="timeline-panel">
			<div class="tabs" role="tablist">
				{(["slice", "range", "legend"] as const).map((id) => (
					<button
						key={id}
						type="button"
						role="tab"
						id={`timeline-tab-${id}`}
						aria-selected={tab === id}
						aria-controls="timeline-tab"
						onClick={() => setTab(id)}
					>
						{names[id]}
					</button>
				))}
			</div>
			<div class="tab-body" role="tabpanel" id="timeline-tab" aria-labelledby={`timeline-tab-${tab}`}>
				{tab === "slice" ? (
					<Details stage={stage} />
				) : tab === "range" ? (
					<RangePanel stage={stage} />
				) : (
					<Legend />
				)}
			</div>
		</section>
	);
}

function Shown({ stage }: { stage: Stage }) {
	const search = useRef<HTMLInputElement>(null);
	const actions = useMemo(() => new Actions(stage, search), [stage]);
	useKeys(actions.keys);
	return (
		<div class="timeline">
			<Toolbar
				stage={stage}
				search={search}
				showRow={(row) => actions.showRow(row)}
				showAll={() => actions.showAll()}
				fit={() => actions.fit()}
				toggleFollow={() => actions.toggleFollow()}
			/>
			{stage.error.value ? <Problem error={stage.error.value} /> : null}
			<Board stage={stage} actions={actions} />
			<Panel stage={stage} />
			<p class="spoken" role="status" aria-live="polite">
				{actions.spoken.value}
			</p>
		</div>
	);
}

export default function Timeline() {
	const text = runParam.value;
	useMemo(() => {
		startWorker();
		/* A run of another kind, from another view, has no such picture; it will be replaced. */
		const others = known.peek().filter((r) => !r.kinds.includes("sched"));
		for (const run of parseRuns(text)) if (!others.some((r) => r.run === run)) askEarly(run);
	}, [text]);
	const { runs, waiting, error } = useRuns("sched");
	useGoingOn(runs);
	const stage = useStage(runs);
	if (error) return <NoRun error={error} />;
	if (!waiting && !runs.length) return <p class="quiet">{sayFrame("noRuns")}</p>;
	if (!stage) return <p class="quiet">{sayFrame("loading")}</p>;
	return <Shown key={stage.sources.map((s) => s.run.run).join()} stage={stage} />;
}
