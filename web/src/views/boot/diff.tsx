// SPDX-License-Identifier: MIT
// diff: two boots, process by process: what came later, took longer, is new or gone. Signs as well as colours.
import type { BootDiff } from "../../api/boots";
import { formatLength } from "../../parts/format";
import { address, setParams } from "../../app/address";
import { formatOrder, parseOrder, Table, type Column } from "../../parts/table";
import { formatBoot } from "./moment";
import { Who } from "./who";
import { say } from "./words";

type Pair = BootDiff["processes"][number];
type Kind = "start" | "length" | "cpu" | "disk";

/** "▲ +12.3 ms"; nothing where not both are known or nothing changed. */
export function formatDifference(ns: number): string {
	if (ns === 0) return "";
	return ns > 0 ? `▲ +${formatLength(ns)}` : `▼ −${formatLength(-ns)}`;
}

const startOf = (p: Pair["before"], from: number): string =>
	!p ? "" : p.from_ns === null ? say("startedBefore") : formatBoot(p.from_ns - from);

export function Differences({ diff }: { diff: BootDiff }) {
	const change = (kind: Kind, head: string): Column<Pair> => ({
		id: kind,
		head,
		numeric: true,
		cell: (p) => {
			const ns = p[`${kind}_change_ns`];
			return <span class={ns > 0 ? "change more" : "change less"}>{formatDifference(ns)}</span>;
		},
		order: (p) => p[`${kind}_change_ns`],
	});
	const columns: readonly Column<Pair>[] = [
		{
			id: "process",
			head: say("process"),
			cell: (p) => {
				const who = p.after ?? p.before;
				const only = !p.before ? `✚ ${say("new")} ` : !p.after ? `✖ ${say("gone")} ` : "";
				return (
					<>
						{only}
						{who && <Who of={who} compared={p.after !== null} />}
					</>
				);
			},
			order: (p) => (p.after ?? p.before)?.comm ?? "",
		},
		{ id: "before", head: say("before"), numeric: true, cell: (p) => startOf(p.before, diff.before.from_ns) },
		{ id: "after", head: say("after"), numeric: true, cell: (p) => startOf(p.after, diff.after.from_ns) },
		change("start", say("startChange")),
		change("length", say("lengthChange")),
		change("cpu", say("cpuChange")),
		change("disk", say("diskChange")),
	];
	return (
		<Table
			label={say("diff")}
			columns={columns}
			rows={diff.processes}
			id={(p) => `${p.before?.pid} ${p.before?.from_ns} ${p.after?.pid} ${p.after?.from_ns}`}
			sort="start"
			order={parseOrder(address.value.params.get("sort") ?? "")}
			setOrder={(order) => setParams({ sort: formatOrder(order) }, true)}
			empty={say("noDiff")}
		/>
	);
}
