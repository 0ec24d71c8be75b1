// SPDX-License-Identifier: MIT
// columns: what the list says about each device in one line.
import { cpuShareOf, ratesOf } from "../../api/history";
import type { Device } from "../../api/schema";
import {
	CLOCK,
	formatBytes,
	formatCount,
	formatLength,
	formatMoment,
	formatPercent,
} from "../../parts/format";
import { Name } from "../../parts/name";
import { spark } from "../../parts/series";
import type { Column } from "../../parts/table";
import { bytesPerEvent, causesOf, lostOf } from "./device_lines";
import { language } from "../../words/dictionary";
import { say } from "./words";

const SPARK_W = 72;
const SPARK_H = 16;

export function Spark({
	id,
	width = SPARK_W,
	height = SPARK_H,
}: {
	id: string;
	width?: number;
	height?: number;
}) {
	const points = spark(ratesOf(id), width, height - 2);
	return (
		<svg class="spark" width={width} height={height} viewBox={`0 -1 ${width} ${height}`} aria-hidden="true">
			<polyline points={points} />
		</svg>
	);
}

export function StateText({ device }: { device: Device }) {
	return (
		<span class={`state ${device.state}`} title={device.status.text || undefined}>
			{say(device.state)}
		</span>
	);
}

export function lostHint(d: Device): string {
	return causesOf(d)
		.map(([cause, n]) => `${say(cause)}: ${formatCount(n)}`)
		.join("\n");
}

export function LostText({ device }: { device: Device }) {
	const lost = lostOf(device);
	if (!lost) return <span class="fine">0</span>;
	return (
		<span class="losses" title={lostHint(device)}>
			{formatCount(lost)}
		</span>
	);
}

export function formatShare(id: string): string {
	const share = cpuShareOf(id);
	return share === null ? "–" : formatPercent(share);
}

function timeOf(text: string | null): string {
	if (!text) return "–";
	const date = new Date(text);
	const today = new Date().toDateString() === date.toDateString();
	return today ? date.toLocaleTimeString(language.value, CLOCK) : formatMoment(text);
}

export function LinkText({ device }: { device: Device }) {
	if (!device.online) return <span class="fine">{say("lastSeen", { time: timeOf(device.seen) })}</span>;
	return (
		<span title={formatMoment(device.connected)}>
			{device.address} <span class="fine">{say("since", { time: timeOf(device.connected) })}</span>
		</span>
	);
}

export function clockHint(d: Device): string | undefined {
	return d.clock ? say("clockDetail", { trip: formatLength(d.clock.round_trip_ns) }) : undefined;
}

export function spoolShare(d: Device): number {
	return d.status.spool_size ? d.status.spool_used / d.status.spool_size : 0;
}

/** Without the name, which has its mark and button beside it. */
export function deviceColumns(): readonly Column<Device>[] {
	return [
		{ id: "state", head: say("state"), cell: (d) => <StateText device={d} />, order: (d) => d.state },
		{
			id: "rate",
			head: say("rate"),
			hint: say("rateHint"),
			numeric: true,
			cell: (d) => (
				<>
					<Spark id={d.id} />
					<span class="rate">{formatCount(d.received.events_per_s)}</span>
				</>
			),
			order: (d) => d.received.events_per_s,
		},
		{
			id: "size",
			head: say("size"),
			hint: say("sizeHint"),
			numeric: true,
			cell: (d) => bytesPerEvent(d)?.toFixed(2) ?? "–",
			order: (d) => bytesPerEvent(d) ?? -1,
		},
		{
			id: "lost",
			head: say("lost"),
			hint: say("lostHint"),
			numeric: true,
			cell: (d) => <LostText device={d} />,
			order: lostOf,
		},
		{
			id: "clock",
			head: say("clock"),
			hint: say("clockHint"),
			numeric: true,
			cell: (d) => <span title={clockHint(d)}>{d.clock ? formatLength(d.clock.error_ns) : "–"}</span>,
			order: (d) => d.clock?.error_ns ?? Number.MAX_VALUE,
		},
		{
			id: "cost",
			head: say("cost"),
			hint: say("costHint"),
			numeric: true,
			cell: (d) =>
				d.online ? (
					<>
						{formatShare(d.id)} <span class="fine">{formatBytes(1024 * d.status.rss_kib)}</span>
					</>
				) : (
					"–"
				),
			order: (d) => cpuShareOf(d.id) ?? -1,
		},
		{
			id: "spool",
			head: say("spoolHead"),
			hint: say("spoolHint"),
			numeric: true,
			cell: (d) => (
				<span title={`${formatBytes(d.status.spool_used)} / ${formatBytes(d.status.spool_size)}`}>
					{formatPercent(spoolShare(d))}
				</span>
			),
			order: spoolShare,
		},
		{
			id: "link",
			head: say("link"),
			hint: say("linkHint"),
			cell: (d) => <LinkText device={d} />,
			order: (d) => d.address,
		},
	];
}

export function nameColumn(): Column<Device> {
	return { id: "name", head: say("device"), cell: (d) => <Name text={d.name} />, order: (d) => d.name };
}
