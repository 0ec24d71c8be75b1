// SPDX-License-Identifier: MIT
// event_row: one event of the list; a loss stands in its place, over the whole row.
import type { TraceEvent } from "../../api/events";
import { formatCount, formatLength } from "../../parts/format";
import { nameOf, plain } from "../../parts/text";
import { say } from "./words";

export const COLUMNS = ["time", "delta", "cpu", "task", "pid", "event", "text"] as const;

const CAUSES = ["ring", "buffer", "spool", "damage", "store"] as const;

export function causeText(cause: unknown): string {
	const known = CAUSES.find((c) => c === cause);
	return known ? say(known) : plain(String(cause));
}

/** "+12.345678901": seconds with all digits, by whole numbers, so that none is rounded. */
export function formatExact(ns: number): string {
	const size = Math.abs(ns);
	return `${ns < 0 ? "−" : "+"}${Math.floor(size / 1e9)}.${String(size % 1e9).padStart(9, "0")}`;
}

function lostText(e: TraceEvent): string {
	const { count, cause } = e.fields;
	const values = { cause: causeText(cause) };
	return typeof count === "number"
		? say("lostRow", { ...values, count: formatCount(count) })
		: say("lostSome", values);
}

export interface EventRowProps {
	readonly event: TraceEvent;
	readonly before: TraceEvent | undefined;
	readonly startNs: number;
	readonly selected: boolean;
	readonly index: number;
	readonly select: (index: number) => void;
}

export function EventRow({ event: e, before, startNs, selected, index, select }: EventRowProps) {
	const lost = e.event === "lost";
	return (
		<tr
			class={`choice${lost ? " lost" : ""}`}
			data-event={e.event}
			data-ns={e.ns}
			aria-selected={selected}
			onClick={() => select(index)}
		>
			<td class="n">{formatExact(e.ns - startNs)}</td>
			<td class="n fine">{before ? formatLength(e.ns - before.ns) : ""}</td>
			<td class="n">{e.cpu}</td>
			{lost ? (
				<td colSpan={4}>
					<span class="losses">{lostText(e)}</span>
				</td>
			) : (
				<>
					<td>
						<bdi>{e.pid === 0 ? "swapper" : nameOf(e.comm ?? "", e.pid ?? 0)}</bdi>
					</td>
					<td class="n">{e.pid}</td>
					<td>{plain(e.event)}</td>
					<td class="text">
						<bdi>{plain(e.text)}</bdi>
					</td>
				</>
			)}
		</tr>
	);
}
