// SPDX-License-Identifier: MIT
// details: all that is known of one device, and its recordings with ways into each.
import type { ComponentChildren } from "preact";

import type { Verb } from "../../api/instruct";
import { may } from "../../api/me";
import { getJson } from "../../api/request";
import type { Device, Run, Runs } from "../../api/schema";
import { addressOf } from "../../app/address";
import { formatBytes, formatCount, formatLength, formatMoment, formatPercent } from "../../parts/format";
import { useLoaded } from "../../parts/loaded";
import { Name } from "../../parts/name";
import { Problem } from "../../parts/problem";
import { plain } from "../../parts/text";
import { formatShare, LinkText, LostText, Spark, StateText, lostHint, spoolShare } from "./columns";
import { groupOf } from "./device_lines";
import { formatValue } from "./instruction";
import { say } from "./words";

const RUNS_MAX = 50;

export interface DetailsProps {
	readonly device: Device;
	readonly close: () => void;
	readonly ask: (verb: Verb | "group", devices: readonly Device[]) => void;
}

const VERBS = ["start", "stop", "configure"] as const;

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
	return (
		<>
			<dt>{name}</dt>
			<dd>{children}</dd>
		</>
	);
}

function Facts({ device: d, ask }: { device: Device; ask: DetailsProps["ask"] }) {
	const told = Object.entries(d.config);
	const { rss_kib, fixed_kib } = d.status;
	const sizes = { rss: formatBytes(1024 * rss_kib), fixed: formatBytes(1024 * fixed_kib) };
	return (
		<dl class="facts">
			<Fact name={say("group")}>
				<bdi>{plain(groupOf(d)) || say("noGroup")}</bdi>{" "}
				{may("control") && (
					<button type="button" onClick={() => ask("group", [d])}>
						{say("setGroup")}
					</button>
				)}
			</Fact>
			<Fact name={say("link")}>
				<LinkText device={d} />
			</Fact>
			<Fact name={say("kernel")}>
				<Name text={d.kernel} />
			</Fact>
			<Fact name={say("machine")}>
				<Name text={d.machine} />, {say("cpus", { count: d.cpus })}
			</Fact>
			<Fact name={say("agent")}>
				<Name text={d.agent} />
			</Fact>
			<Fact name={say("sources")}>{d.sources.join(", ") || "–"}</Fact>
			<Fact name={say("source")}>{d.status.source ? <Name text={d.status.source} /> : "–"}</Fact>
			{d.desired && <Fact name={say("desired")}>{say(d.desired === "tracing" ? "toTrace" : "toIdle")}</Fact>}
			<Fact name={say("config")}>
				{told.length ? (
					<ul>
						{told.map(([field, value]) => (
							<li key={field}>
								{field}: <Name text={formatValue(value) || say("all")} />
							</li>
						))}
					</ul>
				) : (
					say("configNone")
				)}
			</Fact>
			<Fact name={say("received")}>
				{say("receivedText", {
					events: formatCount(d.received.events),
					bytes: formatBytes(d.received.bytes),
					duplicates: formatCount(d.received.duplicates),
				})}
			</Fact>
			<Fact name={say("lost")}>
				<LostText device={d} /> <span class="fine">{lostHint(d)}</span>
			</Fact>
			{d.status.passed_over > 0 && <Fact name={say("passed")}>{formatCount(d.status.passed_over)}</Fact>}
			<Fact name={say("clock")}>
				{d.clock
					? `${formatLength(d.clock.error_ns)} (${say("clockDetail", { trip: formatLength(d.clock.round_trip_ns) })})`
					: "–"}
			</Fact>
			<Fact name={say("cost")}>
				{formatShare(d.id)}; {say("memory", sizes)}
			</Fact>
			<Fact name={say("spoolHead")}>
				{formatBytes(d.status.spool_used)} / {formatBytes(d.status.spool_size)} (
				{formatPercent(spoolShare(d))})
			</Fact>
			<Fact name={say("id")}>
				<code>{d.id}</code>
			</Fact>
		</dl>
	);
}

/** Views that can show a run of these kinds. */
function waysInto(run: Run): readonly (readonly [string, string])[] {
	const has = (kind: Run["kinds"][number]): boolean => run.kinds.includes(kind);
	return [
		...(has("sched")
			? ([
					["timeline", say("timeline")],
					["latency", say("latency")],
				] as const)
			: []),
		...(has("func") ? ([["functions", say("functions")]] as const) : []),
		...(has("boot") ? ([["boot", say("boot")]] as const) : []),
		["log", say("log")],
	];
}

function RunItem({ run, now }: { run: Run; now: boolean }) {
	const lost = Object.values(run.lost).reduce((a, b) => a + b, 0);
	return (
		<li data-run={run.run}>
			<div>
				<strong>#{run.run}</strong> {formatMoment(run.first)}
				{now && (
					<>
						{" "}
						<span class="state tracing">{say("runNow")}</span>
					</>
				)}
			</div>
			<div class="fine">
				{run.kinds.join(", ")} ·{" "}
				{say("runEvents", { events: formatCount(run.events), bytes: formatBytes(run.bytes) })}
				{lost > 0 && (
					<>
						{" "}
						<span class="losses">{say("runLost", { count: formatCount(lost) })}</span>
					</>
				)}
			</div>
			<div class="ways">
				{waysInto(run).map(([view, title]) => (
					<a key={view} href={addressOf(view, { run: run.run, from: null, to: null, mark: null, sel: null })}>
						{title}
					</a>
				))}
			</div>
		</li>
	);
}

function RunList({ device }: { device: Device }) {
	const runs = useLoaded(
		(abort) => getJson<Runs>(`devices/${device.id}/runs`, { limit: RUNS_MAX }, abort),
		[device.id, device.run, device.func_run, device.state],
	);
	return (
		<section aria-label={say("runs")}>
			<h3>{say("runs")}</h3>
			{runs.error ? <Problem error={runs.error} retry={runs.again} /> : null}
			{runs.value && !runs.value.runs.length && <p class="quiet">{say("runsNone")}</p>}
			<ul class="runs">
				{runs.value?.runs.map((run) => (
					<RunItem key={run.run} run={run} now={run.run === device.run || run.run === device.func_run} />
				))}
			</ul>
			{!!runs.value?.more && <p class="quiet">{say("runsMore", { count: formatCount(runs.value.more) })}</p>}
		</section>
	);
}

export function Details({ device, close, ask }: DetailsProps) {
	return (
		<aside class="details" aria-label={say("details", { name: plain(device.name) })}>
			<div class="details-head">
				<h2>
					<Name text={device.name} />
				</h2>
				<button type="button" aria-label={say("close")} title={say("close")} onClick={close}>
					×
				</button>
			</div>
			<p class="now">
				<StateText device={device} /> <Spark id={device.id} width={160} height={24} />{" "}
				{formatCount(device.received.events_per_s)} {say("rate")}
			</p>
			{device.status.text && (
				<p class="problem">
					<bdi>{plain(device.status.text)}</bdi>
				</p>
			)}
			<div class="buttons start">
				{(may("control") ? VERBS : []).map((verb) => (
					<button key={verb} type="button" onClick={() => ask(verb, [device])}>
						{say(verb)}
					</button>
				))}
				<a href={addressOf("log", { tab: "instructions", device: device.id })}>{say("instructions")}</a>
			</div>
			<Facts device={device} ask={ask} />
			<RunList device={device} />
		</aside>
	);
}
