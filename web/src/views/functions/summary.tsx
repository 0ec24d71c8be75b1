// SPDX-License-Identifier: MIT
// summary: what the selection is, and what is missing in it: figures without their gaps would lie.
import type { CallReport } from "../../api/calls";
import { formatCount, formatLength } from "../../parts/format";
import { isSplit, SplitBar, SplitLegend } from "./split";
import { say } from "./words";

export function Summary({ report, waiting }: { report: CallReport; waiting: boolean }) {
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
