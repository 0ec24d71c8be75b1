// SPDX-License-Identifier: MIT
// latency: how long tasks waited for a CPU, in a recording or a part of it.
//
// In the address: `of` (wakeup or preempted), `task` (a pid), `find` what tasks are listed, `sort`, `y=linear`. The report is
// made from all events of the range, a few million a second; so of a recording with more than that the last part
// is shown at first, and the page says so.
import { useEffect, useMemo, useRef } from "preact/hooks";

import { parseRange, useExtent, type Extent } from "../../api/extent";
import { getLatency, type LatencyReport, type WaitKind } from "../../api/latency";
import { useRuns } from "../../api/runs";
import type { Run } from "../../api/schema";
import { address, setParams } from "../../app/address";
import { useKeys, type Key } from "../../app/keys";
import { say as sayFrame } from "../../app/words";
import { formatCount, formatLength } from "../../parts/format";
import { useLoaded, type Loaded } from "../../parts/loaded";
import { Problem } from "../../parts/problem";
import { describeRange, RangeBar } from "../../parts/range_bar";
import { nameOf, plain } from "../../parts/text";
import { Histogram } from "./chart";
import "./latency.css";
import { TaskTable, unclearHint, unclearOf } from "./task_table";
import { say } from "./words";
import { WorstTable } from "./worst_table";

const TASKS_MAX = 400;
const WORST = 50;
const EVENTS_AT_ONCE = 4_000_000;
const CHART_PX = 250;

function get(key: string): string {
	return address.value.params.get(key) ?? "";
}

function parsePid(text: string): number | null {
	return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Of a very long recording, its last part; the address then says which. */
function useFirstRange(run: Run, extent: Extent | undefined): void {
	useEffect(() => {
		const range = parseRange(address.value.params);
		if (!extent || range.from !== null || range.to !== null || get("all") || run.events <= EVENTS_AT_ONCE)
			return;
		const share = EVENTS_AT_ONCE / run.events;
		setParams({
			from: Math.round(extent.toNs - share * (extent.toNs - extent.fromNs)),
			to: extent.toNs,
			last: 1,
		});
	}, [run.run, extent === undefined]);
}

function Controls({
	kind,
	filter,
}: {
	kind: WaitKind;
	filter: { readonly current: HTMLInputElement | null };
}) {
	return (
		<>
			<select
				aria-label={say("kind")}
				value={kind}
				onChange={(e) => setParams({ of: e.currentTarget.value === "preempted" ? "preempted" : null }, true)}
			>
				<option value="wakeup">{say("wakeup")}</option>
				<option value="preempted">{say("preempted")}</option>
			</select>
			<select
				aria-label={say("scale")}
				value={get("y") || "log"}
				onChange={(e) => setParams({ y: e.currentTarget.value === "linear" ? "linear" : null })}
			>
				<option value="log">{say("log")}</option>
				<option value="linear">{say("linear")}</option>
			</select>
			<input
				ref={filter}
				type="search"
				aria-label={say("filter")}
				placeholder={`${say("filter")}: ${say("filterHint")}`}
				value={get("find")}
				onInput={(e) => setParams({ find: e.currentTarget.value || null })}
				onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
			/>
		</>
	);
}

interface BodyProps {
	readonly run: Run;
	readonly extent: Extent;
	readonly report: LatencyReport;
	readonly own: Loaded<LatencyReport>;
	readonly kind: WaitKind;
	readonly pid: number | null;
}

function Body({ run, extent, report, own, kind, pid }: BodyProps) {
	const mine = pid === null ? undefined : own.value?.tasks.find((t) => t.pid === pid);
	const task = mine ?? report.tasks.find((t) => t.pid === pid);
	const name = task ? nameOf(task.comm, task.pid) : pid === null ? "" : `pid ${pid}`;
	const all = report[kind];
	const chosen = task?.[kind] ?? null;
	const title = say("chartTitle", {
		device: plain(run.device),
		run: run.run,
		range: describeRange(parseRange(address.value.params), extent),
		kind: say(kind),
	});
	if (!all.waits && !unclearOf(all)) return <p class="quiet">{say("noWaits")}</p>;
	return (
		<>
			<section class="latency-chart">
				<Histogram
					title={task ? `${title} ${say("chartTask", { task: name })}` : title}
					all={all}
					chosen={chosen}
					logarithmic={get("y") !== "linear"}
					height={CHART_PX}
				/>
				<p class="fine facts-line">
					{unclearOf(chosen ?? all) > 0 && unclearHint(chosen ?? all)}
					{chosen && !chosen.histogram && ` ${say("noHistogram")}`}
					{pid !== null && (
						<button type="button" onClick={() => setParams({ task: null }, true)}>
							{say("all")}
						</button>
					)}
				</p>
			</section>
			<div class="latency-tables">
				<section aria-label={say("tasks")}>
					<h2>{say("tasks")}</h2>
					<TaskTable tasks={report.tasks} kind={kind} filter={get("find")} chosen={pid} sort={get("sort")} />
					{report.tasks.length === TASKS_MAX && (
						<p class="fine">{say("moreTasks", { count: formatCount(TASKS_MAX) })}</p>
					)}
				</section>
				<section aria-label={say("worst")}>
					<h2 title={say("openHint")}>{pid === null ? say("worst") : say("worstOf", { task: name })}</h2>
					{own.error ? <Problem error={own.error} retry={own.again} /> : null}
					<WorstTable
						cases={(pid === null ? report.worst : own.value?.worst) ?? []}
						extent={extent}
						run={run.run}
						label={say("worst")}
					/>
				</section>
			</div>
		</>
	);
}

function Waiting({ run, extent, waiting }: { run: Run; extent: Extent | undefined; waiting: boolean }) {
	if (!waiting) return null;
	const range = parseRange(address.value.params);
	const whole = extent ? extent.toNs - extent.fromNs : 1;
	const part = extent ? (range.to ?? extent.toNs) - (range.from ?? extent.fromNs) : 1;
	const count = Math.round(run.events * Math.min(1, Math.max(0, part / Math.max(whole, 1))));
	return (
		<span class="fine" role="status">
			{say("reading", { count: formatCount(count) })}
		</span>
	);
}

function OfRun({ run }: { run: Run }) {
	const extent = useExtent(run.run);
	const range = parseRange(address.value.params);
	const kind: WaitKind = get("of") === "preempted" ? "preempted" : "wakeup";
	const pid = parsePid(get("task"));
	const filter = useRef<HTMLInputElement>(null);
	useFirstRange(run, extent.value);
	const ready = extent.value;
	const question = { run: run.run, range, limit: TASKS_MAX, worst: WORST };
	const report = useLoaded(ready ? (a) => getLatency({ ...question, extent: ready }, a) : null, [
		...[run.run, range.from, range.to, ready],
	]);
	const own = useLoaded(
		ready && pid !== null ? (a) => getLatency({ ...question, extent: ready, pid }, a) : null,
		[...[run.run, range.from, range.to, pid, ready]],
	);
	useKeys(useMemo(() => keysOf(() => filter.current?.focus()), []));
	const failed = extent.error ?? report.error;
	return (
		<div class="latency">
			<RangeBar extent={ready}>
				<Controls kind={kind} filter={filter} />
				{!run.ended && !report.waiting && (
					<button type="button" title={say("refreshHint")} onClick={extent.again}>
						{say("refresh")}
					</button>
				)}
				<Waiting run={run} extent={ready} waiting={report.waiting && !failed} />
			</RangeBar>
			{get("last") && range.from !== null && ready && (
				<p class="quiet">
					{say("limited", {
						length: formatLength((range.to ?? ready.toNs) - (range.from ?? ready.fromNs)),
						count: formatCount(run.events),
					})}{" "}
					<button
						type="button"
						onClick={() =>
							setParams({ from: null, to: null, mark: null, sel: null, last: null, all: 1 }, true)
						}
					>
						{sayFrame("showWhole")}
					</button>
				</p>
			)}
			{failed ? <Problem error={failed} retry={extent.error ? extent.again : report.again} /> : null}
			{ready && report.value && (
				<Body run={run} extent={ready} report={report.value} own={own} kind={kind} pid={pid} />
			)}
		</div>
	);
}

function keysOf(focusFilter: () => void): readonly Key[] {
	return [
		{ keys: ["w"], what: () => say("keyWakeup"), run: () => setParams({ of: null }, true) },
		{ keys: ["p"], what: () => say("keyPreempted"), run: () => setParams({ of: "preempted" }, true) },
		{ keys: ["l"], what: () => say("keyScale"), run: () => setParams({ y: get("y") ? null : "linear" }) },
		{ keys: ["/"], what: () => say("keyFilter"), run: focusFilter },
		{ keys: ["escape"], what: () => say("keyAll"), run: () => setParams({ task: null }, true) },
	];
}

export default function Latency() {
	const { runs, waiting, error } = useRuns("sched");
	const run = runs[0];
	if (error) return <Problem error={error} />;
	if (run) return <OfRun key={run.run} run={run} />;
	return <p class="quiet">{waiting ? sayFrame("loading") : sayFrame("noRuns")}</p>;
}
