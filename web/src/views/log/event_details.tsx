// SPDX-License-Identifier: MIT
// event_details: all fields of one event, and the way to its moment in the timeline.
import type { TraceEvent } from "../../api/events";
import { addressOf } from "../../app/address";
import { momentChanges } from "../../app/moment";
import { CopyButton } from "../../parts/copy";
import { formatCount } from "../../parts/format";
import { plain } from "../../parts/text";
import { causeText, formatExact } from "./event_row";
import { say } from "./words";

const AROUND_NS = 5_000_000;

/** Whose moment it is: who was switched in, woken, or else who ran. */
export function taskOf(e: TraceEvent): number | null {
	const { next_pid, child_pid, pid } = e.fields;
	for (const candidate of [next_pid, child_pid, pid, e.pid])
		if (typeof candidate === "number" && candidate > 0) return candidate;
	return null;
}

export function timelineOf(e: TraceEvent, run: number): string {
	const to = typeof e.fields["to_ns"] === "number" ? e.fields["to_ns"] : e.ns;
	const around = Math.max(AROUND_NS, to - e.ns);
	return addressOf("timeline", momentChanges({ run, pid: taskOf(e), ns: e.ns }, e.ns - around, to + around));
}

function valueOf(name: string, value: unknown): string {
	if (name === "cause") return `${String(value)}: ${causeText(value)}`;
	return typeof value === "string" ? plain(value) : JSON.stringify(value);
}

export function EventDetails({
	event: e,
	run,
	startNs,
	close,
}: {
	event: TraceEvent;
	run: number;
	startNs: number;
	close: () => void;
}) {
	const facts: readonly (readonly [string, string])[] = [
		["time", `${formatExact(e.ns - startNs)} s`],
		["ns", formatCount(e.ns)],
		["cpu", String(e.cpu)],
		...(e.pid === null ? [] : ([["common_pid", String(e.pid)]] as const)),
		...(e.comm === null ? [] : ([["common_comm", plain(e.comm)]] as const)),
		...Object.entries(e.fields).map(([name, value]) => [name, valueOf(name, value)] as const),
	];
	return (
		<aside class="details event-details" aria-label={say("details")}>
			<div class="details-head">
				<h2>{plain(e.event)}</h2>
				<button type="button" aria-label={say("close")} title={say("close")} onClick={close}>
					×
				</button>
			</div>
			<p>
				<bdi>{plain(e.text)}</bdi>
			</p>
			<dl class="facts">
				{facts.map(([name, value]) => (
					<>
						<dt key={`n ${name}`}>{plain(name)}</dt>
						<dd key={`v ${name}`} data-field={name}>
							<bdi>{value}</bdi>
						</dd>
					</>
				))}
			</dl>
			<div class="buttons start">
				<a class="button" href={timelineOf(e, run)}>
					{say("showThere")}
				</a>
				<CopyButton text={JSON.stringify(e)} label={say("copyJson")} />
			</div>
		</aside>
	);
}
