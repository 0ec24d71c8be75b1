// SPDX-License-Identifier: MIT
// summary: what the selection is, and what is missing in it: figures without their gaps would lie.
import type { CallReport } from "../../api/calls";
import type { Run } from "../../api/schema";
import { addressOf } from "../../app/address";
import { formatCount, formatLength } from "../../parts/format";
import { formatChosen } from "../timeline/place";
import { useLongest } from "./data";
import { isSplit, SplitBar, SplitLegend } from "./split";
import { say } from "./words";

/** The scheduler's run of the same time, where there is one: its timeline shows what else went on. The longest call is
 * chosen there, so that the row with the functions is in sight. */
function TimelineLink({ run, report }: { run: Run; report: CallReport }) {
	const sched = run.calls?.sched;
	const { from_ns: from, to_ns: to } = report.all;
	const longest = useLongest(sched ? run.run : null, { from, to });
	if (!sched) return null;
	const span = { from: from + sched.offset_ns, to: to + sched.offset_ns };
	const call = longest.value?.call;
	const chosen =
		longest.value && call
			? { rowId: `${sched.run}.t${longest.value.tid}`, depth: 0, ns: (call.from + call.to) / 2 }
			: null;
	const changes = { run: sched.run, ...span, mark: null, sel: chosen && formatChosen(chosen) };
	return (
		<a href={addressOf("timeline", changes)} data-ready={longest.waiting ? undefined : "1"}>
			{say("inTimeline")}
		</a>
	);
}

export function Summary({ run, report, waiting }: { run: Run; report: CallReport; waiting: boolean }) {
	const { all, all_functions: parts } = report;
	return (
		<div class="bar summary" aria-busy={waiting}>
			<span>
				{say("summary", {
					calls: formatCount(all.calls),
					functions: formatCount(report.functions.length),
					threads: formatCount(all.threads),
					length: formatLength(Math.max(0, all.to_ns - all.from_ns)),
				})}
			</span>
			<TimelineLink run={run} report={report} />
			{isSplit(parts) && parts.local_ns > 0 && (
				<>
					<SplitBar split={parts} />
					<SplitLegend split={parts} />
				</>
			)}
			{!isSplit(parts) && all.calls > 0 && <span class="quiet-note">{say("noSplit")}</span>}
			{all.losses > 0 && (
				<span class="warning">
					⚠ {say("lost", { lost: formatCount(all.lost), losses: formatCount(all.losses) })}
				</span>
			)}
			{all.os_losses > 0 && <span class="warning">⚠ {say("osLost", { n: formatCount(all.os_losses) })}</span>}
		</div>
	);
}
