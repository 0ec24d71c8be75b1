// SPDX-License-Identifier: MIT
// report: why a boot took as long as it did: the lists of `kiseki boot report`, each process a way to the chart and
// each time, where the scheduler was traced too, a way to the timeline.
import type { ComponentChildren } from "preact";

import type { BootReport } from "../../api/boots";
import { formatBytes, formatLength, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import { Moment } from "./moment";
import { Who } from "./who";
import { say } from "./words";

export interface ReportProps {
	readonly report: BootReport;
	readonly compared: boolean;
}

type Cost = BootReport["cpu"][number];
type Idle = BootReport["idle"][number];

function Section({ title, n, children }: { title: string; n: number; children: ComponentChildren }) {
	return (
		<section aria-label={title}>
			<h2>{title}</h2>
			{n ? children : <p class="quiet">{say("none")}</p>}
		</section>
	);
}

function Costs({ title, list, props }: { title: string; list: readonly Cost[]; props: ReportProps }) {
	const most = list[0]?.cost_ns ?? 1;
	return (
		<Section title={title} n={list.length}>
			<table class="list">
				<thead>
					<tr>
						<th scope="col">{say("process")}</th>
						<th scope="col" class="n">
							{say("cost")}
						</th>
						<th scope="col" class="n">
							{say("part")}
						</th>
						<th scope="col" class="n">
							{say("start")}
						</th>
					</tr>
				</thead>
				<tbody>
					{list.map((c) => (
						<tr key={`${c.pid} ${c.from_ns}`}>
							<td>
								<Who of={c} compared={props.compared} />
							</td>
							<td class="n measured">
								<i
									class="length"
									ref={(e) => e?.style.setProperty("width", `${(100 * c.cost_ns) / (most || 1)}%`)}
								/>
								{formatLength(c.cost_ns)}
							</td>
							<td class="n">{formatPercent(c.cost_ns / (c.life_ns || 1))}</td>
							<td class="n">
								{c.from_ns === null ? (
									say("startedBefore")
								) : (
									<Moment report={props.report} from={c.from_ns} to={c.from_ns + c.life_ns} />
								)}
							</td>
						</tr>
					))}
				</tbody>
			</table>
		</Section>
	);
}

/** "sleeping, in futex_wait, woken by init". */
function describeWait(w: Idle["waiters"][number]): string {
	const words = [w.state];
	if (w.where) words.push(say("waitedIn", { where: w.where }));
	if (w.woken_by) words.push(say("wokenBy", { who: w.woken_by.comm }));
	else if (w.by_interrupt) words.push(say("wokenBy", { who: say("interrupt") }));
	return words.join(", ");
}

function Idles({ props }: { props: ReportProps }) {
	const { report, compared } = props;
	return (
		<Section title={say("idle")} n={report.idle.length}>
			<ol class="stretches">
				{report.idle.map((i) => (
					<li key={i.from_ns}>
						<p>
							<Moment report={report} from={i.from_ns} to={i.to_ns} />{" "}
							<b>{formatLength(i.to_ns - i.from_ns)}</b>{" "}
							<span class="share">
								{say("busy")} {formatPercent(i.busy_permille / 1000)}
								{i.disk && ` · ${say("diskBusy")}`} · {say("endedBy")}:{" "}
							</span>
							{i.ended_by ? <Who of={i.ended_by} compared={compared} /> : say("nobody")}
						</p>
						<ul>
							{i.waiters.map((w) => (
								<li key={w.pid}>
									<Who of={w} compared={compared} /> {formatLength(w.waited_ns)}{" "}
									<span class="share">
										<Name text={describeWait(w)} />
									</span>
								</li>
							))}
						</ul>
					</li>
				))}
			</ol>
		</Section>
	);
}

function Chains({ props }: { props: ReportProps }) {
	const { report, compared } = props;
	return (
		<Section title={say("chains")} n={report.chains.length}>
			<ol class="stretches">
				{report.chains.map((c) => (
					<li key={`${c.parent?.pid} ${c.from_ns}`}>
						<p>
							<Moment report={report} from={c.from_ns} to={c.to_ns} />{" "}
							{c.parent ? <Who of={c.parent} compared={compared} /> : say("nobody")} {say("sum")}{" "}
							<b>{formatLength(c.sum_ns)}</b>, {say("longest")} {formatLength(c.longest_ns)}{" "}
							<span class="share">
								{say("busy")} {formatPercent(c.busy_permille / 1000)}
							</span>
						</p>
						<p class="members">
							{c.members.map((m) => m && <Who key={`${m.pid} ${m.from_ns}`} of={m} compared={compared} />)}
						</p>
					</li>
				))}
			</ol>
		</Section>
	);
}

const MACHINE = ["user", "system", "irq", "iowait", "steal", "idle"] as const;

function Machine({ report }: { report: BootReport }) {
	const { machine } = report;
	const all = MACHINE.reduce((ns, k) => ns + machine[`${k}_ns`], 0);
	if (!all) return null;
	const word = (k: (typeof MACHINE)[number]): string => (k === "idle" ? say("idleTime") : say(k));
	const shown = MACHINE.filter((k) => machine[`${k}_ns`] > 0);
	return (
		<section aria-label={say("machineTime")}>
			<h2>{say("machineTime")}</h2>
			<div class="split" aria-hidden="true">
				{shown.map((k) => (
					<i
						key={k}
						class={`cpu-part ${k}`}
						ref={(e) => e?.style.setProperty("flex-grow", String(machine[`${k}_ns`] / all))}
					/>
				))}
			</div>
			<ul class="split-legend">
				{shown.map((k) => (
					<li key={k}>
						<i class={`part cpu-part ${k}`} aria-hidden="true" />
						{word(k)} <b>{formatPercent(machine[`${k}_ns`] / all)}</b>{" "}
						<span class="share">{formatLength(machine[`${k}_ns`])}</span>
					</li>
				))}
			</ul>
			<p class="share">
				{say("bytes", { read: formatBytes(machine.read_bytes), written: formatBytes(machine.written_bytes) })}
			</p>
		</section>
	);
}

export function Report(props: ReportProps) {
	const { report } = props;
	return (
		<div class="boot-report" tabIndex={0}>
			<div>
				<Machine report={report} />
				<Idles props={props} />
				<Chains props={props} />
			</div>
			<div>
				<Costs title={say("cpu")} list={report.cpu} props={props} />
				<Costs title={say("disk")} list={report.disk} props={props} />
				<Costs title={say("waiting")} list={report.waiting} props={props} />
			</div>
		</div>
	);
}
