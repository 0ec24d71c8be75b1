// SPDX-License-Identifier: MIT
// path: the critical path: what had to happen, one step after the other, up to the target.
import type { BootReport } from "../../api/boots";
import { formatLength } from "../../parts/format";
import { Table, type Column } from "../../parts/table";
import { Moment } from "./moment";
import { Who, type Named } from "./who";
import { say } from "./words";

const STATES = ["running", "runnable", "disk", "sleeping", "stopped", "zombie", "unknown"] as const;
export type PathState = (typeof STATES)[number];
type Step = NonNullable<BootReport["path"]>[number];

export function wordOf(state: string): string {
	const known = STATES.find((s) => s === state);
	if (!known) return state;
	return known === "disk" ? say("diskState") : say(known);
}

const whoOf = (s: Step): Named | null =>
	s.pid === undefined ? null : { pid: s.pid, comm: s.comm ?? "", args: s.args ?? null };

function StateBar({ step }: { step: Step }) {
	const parts = STATES.filter((s) => step[`${s}_ns`] > 0);
	const text = parts.map((s) => `${wordOf(s)} ${formatLength(step[`${s}_ns`])}`).join(", ");
	return (
		<span class="split" role="img" aria-label={text} title={text}>
			{parts.map((s) => (
				<i
					key={s}
					class={`boot-state ${s}`}
					ref={(e) =>
						e?.style.setProperty("flex-grow", String(step[`${s}_ns`] / (step.to_ns - step.from_ns || 1)))
					}
				/>
			))}
		</span>
	);
}

export function CriticalPath({ report, compared }: { report: BootReport; compared: boolean }) {
	const columns: readonly Column<Step>[] = [
		{
			id: "from",
			head: say("step"),
			numeric: true,
			cell: (s) => <Moment report={report} from={s.from_ns} to={s.to_ns} />,
		},
		{ id: "length", head: say("length"), numeric: true, cell: (s) => formatLength(s.to_ns - s.from_ns) },
		{
			id: "process",
			head: say("process"),
			cell: (s) => {
				const who = whoOf(s);
				return (
					<>
						{s.inferred && <span title={say("inferredHint")}>{say("inferred")} </span>}
						{who ? <Who of={who} compared={compared} /> : say("nobody")}
					</>
				);
			},
		},
		{ id: "state", head: say("state"), cell: (s) => wordOf(s.state) },
		{ id: "bar", head: "", cell: (s) => <StateBar step={s} /> },
	];
	return (
		<Table
			label={say("path")}
			columns={columns}
			rows={report.path ?? []}
			id={(s) => `${s.from_ns} ${s.pid}`}
			empty={say("noPath")}
		/>
	);
}
