// SPDX-License-Identifier: MIT
// range: what happened between two moments: CPU time and waits of each task, and for the longest waits who ran
// instead. The collector counts, so a range may be as long as the run.
import { getSched, getWaits, type SchedTask, type WorstWait } from "../../api/timeline";
import { setParams } from "../../app/address";
import { formatCount, formatLength, formatOffset, formatPercent } from "../../parts/format";
import { useLoaded } from "../../parts/loaded";
import { Problem } from "../../parts/problem";
import { Table, type Column } from "../../parts/table";
import { nameOf, plain } from "../../parts/text";
import { formatChosen, markChanges } from "./place";
import { aroundSpan, lengthOf, type Span } from "../../parts/scale";
import type { Source } from "./source";
import type { Stage } from "./stage";
import { say } from "./words";

const TASKS_MAX = 500;
const WORST_MAX = 20;

function taskColumns(length: number): readonly Column<SchedTask>[] {
	const time = (id: string, head: string, get: (t: SchedTask) => number): Column<SchedTask> => ({
		id,
		head,
		cell: (t) => formatLength(get(t)),
		order: get,
		numeric: true,
	});
	const count = (id: string, head: string, get: (t: SchedTask) => number): Column<SchedTask> => ({
		id,
		head,
		cell: (t) => formatCount(get(t)),
		order: get,
		numeric: true,
	});
	return [
		{ id: "task", head: say("task"), cell: (t) => <bdi>{namesOf(t)}</bdi>, order: (t) => t.comm },
		{ id: "pid", head: say("pid"), cell: (t) => t.pid, order: (t) => t.pid, numeric: true },
		time("cpu", say("cpuTime"), (t) => t.cpu_ns),
		{
			id: "share",
			head: say("share"),
			cell: (t) => formatPercent(t.cpu_ns / length),
			order: (t) => t.cpu_ns,
			numeric: true,
		},
		count("waits", say("waits"), (t) => t.waits),
		time("avg", say("waitAvg"), (t) => (t.waits ? Math.round(t.wait_ns / t.waits) : 0)),
		time("max", say("waitMax"), (t) => t.wait_max_ns),
		time("preempted", say("preemptedMax"), (t) => t.preempted_max_ns),
		count("switches", say("switches"), (t) => t.switches),
	];
}

/** "sh → gzip". */
function namesOf(t: SchedTask): string {
	const last = nameOf(t.comm, t.pid);
	return t.first_comm === "" || t.first_comm === t.comm ? last : `${nameOf(t.first_comm, t.pid)} → ${last}`;
}

function instead(w: WorstWait): string {
	const parts = w.ran_instead.map((r) => `${nameOf(r.comm, r.pid)} ${formatLength(r.ns)}`);
	if (w.others_ns) parts.push(`${say("others")} ${formatLength(w.others_ns)}`);
	if (w.idle_ns) parts.push(`${say("idleShort")} ${formatLength(w.idle_ns)}`);
	if (w.unknown_ns) parts.push(`${say("notKnown")} ${formatLength(w.unknown_ns)}`);
	return parts.join(", ");
}

function waitColumns(zero: number): readonly Column<WorstWait>[] {
	return [
		{ id: "task", head: say("task"), cell: (w) => <bdi>{nameOf(w.comm, w.pid)}</bdi>, order: (w) => w.comm },
		{ id: "pid", head: say("pid"), cell: (w) => w.pid, numeric: true },
		{
			id: "wait",
			head: say("wait"),
			cell: (w) => formatLength(w.wait_ns),
			order: (w) => w.wait_ns,
			numeric: true,
		},
		{
			id: "at",
			head: say("at"),
			cell: (w) => formatOffset(w.from_ns - zero, 1e3),
			order: (w) => w.from_ns,
			numeric: true,
		},
		{ id: "cpu", head: say("cpuShort"), cell: (w) => w.cpu, numeric: true },
		{ id: "instead", head: say("ranInstead"), cell: (w) => <bdi>{instead(w)}</bdi> },
	];
}

function SourceRange({ stage, source, mark }: { stage: Stage; source: Source; mark: Span }) {
	const run = source.run.run;
	const local = source.local(mark);
	const inputs = [run, local.from, local.to];
	const sched = useLoaded((abort) => getSched(run, local, TASKS_MAX, abort), inputs);
	const waits = useLoaded((abort) => getWaits(run, local, WORST_MAX, abort), inputs);
	const device = plain(source.run.device);
	const show = (w: WorstWait): void => {
		const span = aroundSpan({ from: w.from_ns + source.shift, to: w.to_ns + source.shift }, 1, stage.bounds);
		stage.setSpan(span);
		setParams(
			{ sel: formatChosen({ rowId: `${run}.t${w.pid}`, ns: w.from_ns + source.shift, depth: null }) },
			true,
		);
	};
	return (
		<>
			{sched.error ? <Problem error={sched.error} retry={sched.again} /> : null}
			<div class="range-tables" aria-busy={sched.waiting || waits.waiting}>
				<section>
					<h3>{say("tasksOf", { name: device })}</h3>
					<Table
						label={say("tasksOf", { name: device })}
						columns={taskColumns(lengthOf(mark))}
						rows={sched.value?.tasks ?? []}
						id={(t) => `${t.pid}@${t.born_ns}`}
						sort="cpu"
						empty={sched.waiting ? "" : say("noTasks")}
						select={(t) =>
							setParams(
								{
									sel: formatChosen({
										rowId: `${run}.t${t.pid}`,
										ns: Math.max(mark.from, t.born_ns + source.shift),
										depth: null,
									}),
								},
								true,
							)
						}
					/>
				</section>
				<section>
					<h3>{say("worst")}</h3>
					<Table
						label={say("worst")}
						columns={waitColumns(source.start)}
						rows={waits.value?.worst ?? []}
						id={(w) => `${w.pid}@${w.from_ns}`}
						sort="wait"
						empty={waits.waiting ? "" : say("noWaits")}
						select={show}
					/>
				</section>
			</div>
		</>
	);
}

export function RangePanel({ stage }: { stage: Stage }) {
	const { mark } = stage.place;
	if (!mark) return <p class="quiet">{say("noRange")}</p>;
	return (
		<div class="range">
			<div class="bar">
				<strong data-fact="range">{say("rangeLength", { length: formatLength(lengthOf(mark)) })}</strong>
				<button type="button" onClick={() => stage.setSpan(aroundSpan(mark, 0.05, stage.bounds))}>
					{say("zoomRange")}
				</button>
				<button type="button" onClick={() => setParams(markChanges(null), true)}>
					{say("clear")}
				</button>
			</div>
			{stage.sources.map((source) => (
				<SourceRange key={source.run.run} stage={stage} source={source} mark={mark} />
			))}
		</div>
	);
}
