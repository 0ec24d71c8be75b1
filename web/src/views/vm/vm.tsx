// SPDX-License-Identifier: MIT
// vm: virtual machines as their host sees them: what each virtual CPU did at any moment, who had the physical CPUs, and
// for the selection what was taken from whom, by whom and why.
import { useEffect, useMemo, useState } from "preact/hooks";

import { useGrowing } from "../../api/growing";
import { profileOf } from "../../api/profile";
import { getRun, known, useRuns } from "../../api/runs";
import type { Run } from "../../api/schema";
import { addressOf, setParams } from "../../app/address";
import { say as sayFrame } from "../../app/words";
import { NoRun, Nothing } from "../../parts/no_run";
import { Problem } from "../../parts/problem";
import { RunPicker } from "../../parts/run_picker";
import type { Span } from "../../parts/scale";
import "../../flame/flame.css";
import "../../style/figures.css";
import { Board } from "./board";
import { ChosenPanel } from "./chosen";
import { learnMachine } from "./names";
import { Panel } from "./panel";
import { Stage } from "./stage";
import { change, currentState, partOf, spanOf } from "./state";
import "./vm.css";
import { say } from "./words";

const SEARCHED_MAX = 30;

function useStage(run: number, bounds: Span): Stage {
	const stage = useMemo(
		() =>
			new Stage(run, bounds, currentState(), (span) =>
				setParams({ from: span?.from ?? null, to: span?.to ?? null }),
			),
		[run],
	);
	useEffect(() => () => stage.close(), [stage]);
	return stage;
}

function Toolbar({ stage, isLive }: { stage: Stage; isLive: boolean }) {
	const state = currentState();
	return (
		<div class="bar">
			<RunPicker />
			<button
				type="button"
				onClick={() => {
					if (state.follow) change({ follow: false }, false);
					stage.showAll();
				}}
			>
				{say("showAll")}
			</button>
			{(isLive || state.follow) && (
				<button
					type="button"
					aria-pressed={state.follow}
					title={say("followHint")}
					onClick={() => change({ follow: !state.follow })}
				>
					{say("follow")}
				</button>
			)}
			<a href={addressOf("profile")}>{say("asProfile")}</a>
			<span class="quiet-note">{say("hint")}</span>
		</div>
	);
}

function Machines({ run, bounds, isLive }: { run: Run; bounds: Span; isLive: boolean }) {
	const state = currentState();
	const stage = useStage(run.run, bounds);
	useEffect(() => stage.apply(state), [JSON.stringify(state)]);
	useEffect(() => stage.grow(bounds), [bounds.to]);
	/* There is nothing to follow any more; what was followed is where it stays. */
	useEffect(() => {
		if (run.ended && state.follow) change({ follow: false }, false);
	}, [run.ended, state.follow]);
	for (const row of stage.layout.value.rows) if (row.vm !== null) learnMachine(row.vm, row.name);
	const span = spanOf(state, stage.sight.value);
	/* Numbers of what is in sight change when it does, of all and of a mark at the end when there is more. */
	const round = state.follow && span && !state.mark ? 0 : bounds.to;
	return (
		<div class="vm">
			<Toolbar stage={stage} isLive={isLive} />
			{stage.error.value ? <Problem error={stage.error.value} /> : null}
			<div class="vm-top">
				<Board stage={stage} />
				<ChosenPanel stage={stage} at={state.chosen} />
			</div>
			<Panel state={state} part={partOf(span, run.run)} span={span} bounds={stage.bounds} round={round} />
		</div>
	);
}

/** A collector may say in its list which recordings have machines. */
function isSaid(run: Run): boolean {
	return (run.kinds as readonly string[]).includes("vm");
}

/** A profile without machines leads to one that has some, if there is any. */
function Elsewhere({ run }: { run: Run }) {
	const [isSearching, setSearching] = useState(true);
	useEffect(() => {
		const abort = new AbortController();
		const search = async (): Promise<void> => {
			const list = known.peek().toSorted((a, b) => Number(isSaid(b)) - Number(isSaid(a)));
			for (const other of list.slice(0, SEARCHED_MAX)) {
				if (other.run === run.run) continue;
				const found = await getRun(other.run, abort.signal);
				if (!found.profile?.has_guests) continue;
				setParams({ run: found.run, from: null, to: null, mark: null, sel: null });
				return;
			}
			setSearching(false);
		};
		search().catch(() => setSearching(false));
		return () => abort.abort();
	}, [run.run, known.value.length]);
	return (
		<>
			<div class="bar">
				<RunPicker />
			</div>
			{isSearching ? <p class="quiet">{sayFrame("loading")}</p> : <Nothing text={say("noMachines")} />}
		</>
	);
}

function OfRun({ run: first }: { run: Run }) {
	const { run, isLive } = useGrowing(first);
	const place = profileOf(run);
	if (!place?.has_guests) return <Elsewhere run={run} />;
	return <Machines run={run} bounds={{ from: place.from_ns, to: place.to_ns }} isLive={isLive} />;
}

export default function Vm() {
	const { runs, waiting, error } = useRuns("profile");
	const run = runs[0];
	if (error) return <NoRun error={error} />;
	if (run) return <OfRun key={run.run} run={run} />;
	return waiting ? <p class="quiet">{sayFrame("loading")}</p> : <Nothing text={say("noRuns")} />;
}
