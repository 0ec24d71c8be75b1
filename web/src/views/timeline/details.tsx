// SPDX-License-Identifier: MIT
// details: all about the selected slice, as text: who, where, in which state, how long, who woke it, and the chain of
// wakeups that led there. It is also what is read aloud when the selection moves.
import { useEffect } from "preact/hooks";

import { clockOf, getChain } from "../../api/timeline";
import { setParams } from "../../app/address";
import { formatLength, formatOffset, formatWall } from "../../parts/format";
import { useLoaded } from "../../parts/loaded";
import { STATES } from "../../parts/palette";
import { Problem } from "../../parts/problem";
import { nameOf, plain } from "../../parts/text";
import { endOf, linesOf, type Line } from "./chain";
import { wakingBefore, type Slice } from "./hit";
import { formatChosen, markChanges } from "./place";
import { lengthOf } from "../../parts/scale";
import type { Source } from "./source";
import type { Stage } from "./stage";
import { levelOf } from "./tiles";
import { say } from "./words";

export function stateWord(slice: Slice): string {
	if (slice.fn !== null) return say("inCall");
	if (slice.kind === "idle") return say("idleSlice");
	if (slice.kind === "unknown") return say("unknownSlice");
	return say(`st_${STATES[slice.state] ?? "unknown"}`);
}

export function lengthWord(slice: Slice): string {
	const length = formatLength(slice.to - slice.from);
	return slice.isOpenBefore || slice.isOpenAfter ? say("atLeast", { length }) : length;
}

function Fact({ name, id, children }: { name: string; id: string; children: preact.ComponentChildren }) {
	return (
		<>
			<dt>{name}</dt>
			<dd data-fact={id}>{children}</dd>
		</>
	);
}

function Who({ source, pid, comm, ns }: { source: Source; pid: number; comm: string; ns: number }) {
	const rowId = `${source.run.run}.t${pid}`;
	return (
		<button type="button" class="who" onClick={() => choose(rowId, ns)}>
			<bdi>{nameOf(comm, pid)}</bdi> {pid}
		</button>
	);
}

function choose(rowId: string, ns: number): void {
	setParams({ sel: formatChosen({ rowId, ns, depth: null }) }, true);
}

function Waking({ stage, source, slice }: { stage: Stage; source: Source; slice: Slice }) {
	const waking = wakingBefore(source, slice.pid, slice.from, levelOf(lengthOf(stage.now)));
	if (!waking) return null;
	const isHere = waking.ran === slice.from || waking.at === slice.from;
	return (
		<>
			<Fact name={say("wokenBy")} id="waker">
				{waking.wakerPid > 0 ? (
					<Who source={source} pid={waking.wakerPid} comm={waking.wakerComm} ns={waking.at} />
				) : (
					say("byInterrupt")
				)}{" "}
				(CPU {waking.cpu})
			</Fact>
			{isHere && waking.ran !== null && (
				<Fact name={say("waited")} id="waited">
					{formatLength(waking.ran - waking.at)}
				</Fact>
			)}
		</>
	);
}

function Facts({ stage, source, slice }: { stage: Stage; source: Source; slice: Slice }) {
	const zero = (stage.sources[0]?.start ?? 0) + (stage.sources[0]?.shift ?? 0);
	const clock = clockOf(source.run);
	return (
		<dl class="facts">
			{slice.pid > 0 && (
				<>
					<Fact name={say("task")} id="task">
						<bdi>{nameOf(slice.comm, slice.pid)}</bdi>
					</Fact>
					<Fact name={say("pid")} id="pid">
						{slice.pid}
						{slice.tgid > 0 && slice.tgid !== slice.pid && ` (${say("process")} ${slice.tgid})`}
					</Fact>
				</>
			)}
			{slice.fn !== null && (
				<Fact name={say("fn")} id="function">
					<bdi>{plain(slice.fn)}</bdi>
				</Fact>
			)}
			<Fact name={say("state")} id="state">
				{stateWord(slice)}
				{slice.isInferred && ` (${say("inferred")})`}
			</Fact>
			{slice.cpu >= 0 && (
				<Fact name={say("onCpu")} id="cpu">
					{slice.cpu}
				</Fact>
			)}
			<Fact name={say("length")} id="length">
				{lengthWord(slice)}
			</Fact>
			<Fact name={say("start")} id="start">
				{formatOffset(slice.from - zero, 1)}
			</Fact>
			{clock && (
				<Fact name={say("wall")} id="wall">
					{formatWall(slice.from - source.shift + clock.real_offset_ns, 1e3)} ±{formatLength(clock.error_ns)}
				</Fact>
			)}
			{slice.pid > 0 && slice.fn === null && <Waking stage={stage} source={source} slice={slice} />}
		</dl>
	);
}

/** The collector names states in English. */
function beforeWord(state: string | number | null): string {
	const known = STATES.find((s) => s === state);
	return known ? say(`was_${known}`) : String(state ?? "");
}

function Step({ source, line }: { source: Source; line: Line }) {
	const { step } = line;
	const at = step.woken_ns + source.shift;
	return (
		<li>
			{line.byInterrupt ? (
				say("byInterrupt")
			) : (
				<Who source={source} pid={step.waker_pid ?? 0} comm={step.waker_comm ?? ""} ns={at} />
			)}{" "}
			→{" "}
			<Who
				source={source}
				pid={step.pid}
				comm={step.comm}
				ns={(step.ran_ns ?? step.woken_ns) + source.shift}
			/>
			<span class="row-note">
				{line.sleptNs !== null &&
					say("chainSlept", { length: formatLength(line.sleptNs), state: beforeWord(step.state_before) })}
				{line.sleptNs !== null && line.delayNs !== null && "; "}
				{line.delayNs !== null &&
					`${say("chainRan", { length: formatLength(line.delayNs), cpu: step.cpu ?? "?" })}`}
			</span>
		</li>
	);
}

function ChainOf({ stage, source, pid, ns }: { stage: Stage; source: Source; pid: number; ns: number }) {
	const run = source.run.run;
	const at = Math.floor(ns - source.shift);
	const loaded = useLoaded((abort) => getChain(run, pid, at, abort), [run, pid, at]);
	const chain = loaded.value;
	useEffect(() => {
		stage.chain = chain && !loaded.waiting ? { source, steps: chain.steps } : null;
		stage.redraw();
		return () => {
			stage.chain = null;
			stage.redraw();
		};
	}, [chain, loaded.waiting]);
	return (
		<section class="chain" aria-busy={loaded.waiting}>
			<h3>{say("chain")}</h3>
			{loaded.error ? <Problem error={loaded.error} retry={loaded.again} /> : null}
			{chain && (
				<>
					{chain.steps.length ? (
						<ol>
							{linesOf(chain).map((line, i) => (
								<Step key={i} source={source} line={line} />
							))}
						</ol>
					) : (
						<p>{say("chainNone")}</p>
					)}
					<p class="row-note">{say(`ends_${endOf(chain)}`)}</p>
				</>
			)}
		</section>
	);
}

export function Details({ stage }: { stage: Stage }) {
	const { chosen } = stage.place;
	const slice = stage.slice.value;
	if (!chosen) return <p class="quiet">{say("nothing")}</p>;
	const row = stage.layout.value.byId.get(chosen.rowId);
	const source = row && stage.sources[row.source];
	if (!slice || !source) return <p class="quiet">{say(stage.isPending.value ? "coming" : "tooDense")}</p>;
	return (
		<div class="details">
			<div>
				<Facts stage={stage} source={source} slice={slice} />
				<div class="buttons left">
					<button type="button" onClick={() => setParams(markChanges(slice), true)}>
						{say("markSlice")}
					</button>
					<button type="button" onClick={() => setParams({ sel: null }, true)}>
						{say("clear")}
					</button>
				</div>
			</div>
			{slice.pid > 0 && <ChainOf stage={stage} source={source} pid={slice.pid} ns={chosen.ns} />}
		</div>
	);
}
