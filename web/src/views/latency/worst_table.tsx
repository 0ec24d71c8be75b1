// SPDX-License-Identifier: MIT
// worst_table: the longest waits, with who had the CPU meanwhile; a click shows the moment in the timeline.
import { useMemo } from "preact/hooks";

import type { Extent } from "../../api/extent";
import type { WorstCase } from "../../api/latency";
import { openView } from "../../app/address";
import { momentChanges } from "../../app/moment";
import { formatLength, formatOffset } from "../../parts/format";
import { Name } from "../../parts/name";
import { colorOfName } from "../../parts/palette";
import { Table, type Column } from "../../parts/table";
import { nameOf } from "../../parts/text";
import { language } from "../../words/dictionary";
import { sharesOf, windowOf, type Share } from "./worst";
import { say } from "./words";

export function openCase(c: WorstCase, run: number): void {
	const { from, to } = windowOf(c);
	openView("timeline", momentChanges({ run, pid: c.pid, ns: c.from_ns }, from, to));
}

function nameOfShare(s: Share): string {
	if (s.kind === "task") return nameOf(s.comm, s.pid);
	return s.kind === "idle" ? say("idle") : s.kind === "others" ? say("others") : say("unknown");
}

/** A bar of who ran, and those with the most time by name. */
function Instead({ of }: { of: WorstCase }) {
	const shares = sharesOf(of);
	const text = shares.map((s) => `${nameOfShare(s)} ${formatLength(s.ns)}`).join("\n");
	return (
		<span class="instead" title={text}>
			<span class="shares" aria-hidden="true">
				{shares.map((s, i) => (
					<span
						key={i}
						class={s.kind}
						ref={(e) => {
							e?.style.setProperty("flex-grow", String(s.ns));
							if (s.kind === "task") e?.style.setProperty("background-color", colorOfName(s.comm));
						}}
					/>
				))}
			</span>
			<bdi>
				{shares
					.slice(0, 3)
					.map((s) => `${nameOfShare(s)} ${formatLength(s.ns)}`)
					.join(", ")}
			</bdi>
		</span>
	);
}

function columnsOf(extent: Extent): readonly Column<WorstCase>[] {
	return [
		{
			...{ id: "wait", head: say("wait"), numeric: true },
			cell: (c) => <strong>{formatLength(c.wait_ns)}</strong>,
			order: (c) => c.wait_ns,
		},
		{
			...{ id: "task", head: say("task") },
			cell: (c) => (
				<>
					<Name text={c.comm} /> <span class="fine">{c.pid}</span>
				</>
			),
			order: (c) => c.comm,
		},
		{
			...{ id: "when", head: say("when"), numeric: true },
			cell: (c) => formatOffset(c.from_ns - extent.fromNs, 1000),
			order: (c) => c.from_ns,
		},
		{
			...{ id: "cpu", head: say("ranOn"), hint: say("ranOnHint"), numeric: true },
			cell: (c) => (c.target_cpu === null || c.target_cpu === c.cpu ? c.cpu : `${c.cpu} (${c.target_cpu})`),
			order: (c) => c.cpu,
		},
		{
			...{ id: "waker", head: say("waker") },
			cell: (c) => (c.waker.pid === 0 ? say("idle") : <Name text={nameOf(c.waker.comm, c.waker.pid)} />),
			order: (c) => c.waker.comm,
		},
		{ id: "instead", head: say("instead"), cell: (c) => <Instead of={c} /> },
	];
}

export function WorstTable({
	cases,
	extent,
	run,
	label,
}: {
	cases: readonly WorstCase[];
	extent: Extent;
	run: number;
	label: string;
}) {
	const columns = useMemo(() => columnsOf(extent), [extent, language.value]);
	return (
		<Table
			label={label}
			columns={columns}
			rows={cases}
			id={(c) => `${c.pid} ${c.from_ns}`}
			select={(c) => openCase(c, run)}
			sort="wait"
			empty={say("worstNone")}
		/>
	);
}
