// SPDX-License-Identifier: MIT
// pipeline: whether those who work minutes out keep up, with how many hosts they would, and what of the devices' time nobody
// recorded.
import type { ComponentChildren } from "preact";

import { getWork, type Work } from "../../api/fleet";
import type { Device } from "../../api/schema";
import { addressOf } from "../../app/address";
import { formatCount, formatLength, formatPercent } from "../../parts/format";
import { useLoaded } from "../../parts/loaded";
import { Name } from "../../parts/name";
import { Problem } from "../../parts/problem";
import { Table, type Column } from "../../parts/table";
import { say } from "./words";

/** Devices of which it is asked what is uncovered: all that the collector tells at once. */
const UNCOVERED_DEVICES = 100;

/** What part of a round storing and working out take, for all hosts; null: not measured. */
export function loadOf(pace: Work["pace"]): number | null {
	const round = pace.t0_s + pace.t1_s;
	return pace.t1_s > 0 && pace.t2_s > 0 ? ((pace.t0_s + pace.t2_s) * pace.hosts) / round : null;
}

const seconds = (s: number): string => formatLength(Math.round(s * 1e9));

function Fact({ name, hint, children }: { name: string; hint?: string; children: ComponentChildren }) {
	return (
		<>
			<dt>{name}</dt>
			<dd>
				{children} {hint && <span class="fine">{hint}</span>}
			</dd>
		</>
	);
}

function Pace({ pace }: { pace: Work["pace"] }) {
	const load = loadOf(pace);
	if (load === null) return <p class="quiet">{say("notMeasured")}</p>;
	const factor = pace.hosts ? pace.hosts_max / pace.hosts : 0;
	const n = formatCount(pace.hosts_max);
	const sums = {
		left: `t0 + t1 = ${seconds(pace.t0_s + pace.t1_s)}`,
		right: `(t0 + t2) · n = ${seconds((pace.t0_s + pace.t2_s) * pace.hosts)}`,
	};
	return (
		<>
			<p class={`verdict ${pace.holds ? "holds" : "fails"}`}>
				<strong>{pace.holds ? `✓ ${say("keeps")}` : `✕ ${say("keepsNot")}`}</strong>{" "}
				<meter min={0} max={1} high={0.8} value={Math.min(1, load)} aria-label={say("load")} />{" "}
				{formatPercent(load)} {say("load")}
			</p>
			<dl class="facts">
				<Fact name={say("headroom")}>
					{factor > 0
						? say("headroomText", { n, factor: factor.toFixed(factor >= 10 ? 0 : 1) })
						: say("headroomMost", { n })}
				</Fact>
			</dl>
			<details>
				<summary>{say("paceDetails")}</summary>
				<p class="fine">{say(pace.holds ? "conditionText" : "conditionNotText", sums)}</p>
				<dl class="facts">
					<Fact name={say("n")} hint={say("nHint")}>
						{formatCount(pace.hosts)}
					</Fact>
					<Fact name={say("t0")} hint={say("t0Hint")}>
						{pace.hosts ? seconds(pace.t0_s) : "–"}
					</Fact>
					<Fact name={say("t1")} hint={say("t1Hint")}>
						{seconds(pace.t1_s)}
					</Fact>
					<Fact name={say("t2")} hint={say("t2Hint")}>
						{seconds(pace.t2_s)}
					</Fact>
				</dl>
			</details>
		</>
	);
}

function Counts({ work }: { work: Work }) {
	return (
		<dl class="facts">
			<Fact
				name={say("waiting")}
				{...(work.behind_s ? { hint: say("behind", { time: seconds(work.behind_s) }) } : {})}
			>
				{formatCount(work.waiting)}
			</Fact>
			<Fact name={say("done")} hint={`${formatCount(work.again)} ${say("again")}`}>
				{formatCount(work.minutes)}
			</Fact>
			<Fact name={say("late")} hint={say("lateHint")}>
				<span class={work.late ? "losses" : ""}>{formatCount(work.late)}</span>
			</Fact>
			<Fact name={say("threads")}>{formatCount(work.threads)}</Fact>
			<Fact name={say("errors")}>
				<span class={work.errors ? "losses" : ""}>{formatCount(work.errors)}</span>{" "}
				{work.last_error && <Name text={work.last_error} />}
			</Fact>
		</dl>
	);
}

type Uncovered = NonNullable<Work["uncovered"]>["devices"][number];

function uncoveredColumns(): readonly Column<Uncovered>[] {
	const time = (id: "lost_ns" | "gaps_ns" | "total_ns", head: string): Column<Uncovered> => ({
		id,
		head,
		numeric: true,
		cell: (u) => formatLength(u[id]),
		order: (u) => u[id],
	});
	return [
		{
			id: "name",
			head: say("deviceHead"),
			cell: (u) => (
				<a href={addressOf("log", { run: u.run, tab: "ledger" })}>
					<Name text={u.device} />
				</a>
			),
			order: (u) => u.device,
		},
		{
			id: "ratio",
			head: say("uncovered"),
			hint: say("uncoveredHint"),
			numeric: true,
			cell: (u) => <span class={u.ratio > 0 ? "losses" : ""}>{formatPercent(u.ratio)}</span>,
			order: (u) => u.ratio,
		},
		time("lost_ns", say("lostTime")),
		time("gaps_ns", say("gapTime")),
		time("total_ns", say("overTime")),
	];
}

export function Pipeline({ devices, round }: { devices: readonly Device[]; round: number }) {
	const work = useLoaded((abort) => getWork(UNCOVERED_DEVICES, abort), [round]);
	const ids = new Set(devices.map((d) => d.id));
	const uncovered = work.value?.uncovered?.devices.filter((u) => ids.has(u.device_id));
	return (
		<div class="pipeline">
			<section aria-label={say("condition")}>
				<h3>{say("condition")}</h3>
				{work.error ? <Problem error={work.error} retry={work.again} /> : null}
				{work.value && <Pace pace={work.value.pace} />}
				{work.value && <Counts work={work.value} />}
			</section>
			<section aria-label={say("uncovered")}>
				<h3>{say("uncovered")}</h3>
				<p class="fine">{say("uncoveredHint")}</p>
				{uncovered && (
					<Table
						label={say("ofDevices")}
						columns={uncoveredColumns()}
						rows={uncovered}
						id={(u) => u.device_id}
						sort="ratio"
						empty="–"
					/>
				)}
			</section>
		</div>
	);
}
