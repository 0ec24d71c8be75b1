// SPDX-License-Identifier: MIT
// summary: the boot in one line: how long it took, what it is, and what is missing in it.
import { reasonOf } from "../../../chart/reason.js";
import type { BootDiff, BootReport } from "../../api/boots";
import { addressOf } from "../../app/address";
import { formatCount, formatLength } from "../../parts/format";
import { Name } from "../../parts/name";
import { plain } from "../../parts/text";
import { language } from "../../words/dictionary";
import { formatDifference } from "./diff";
import { formatBoot, stretchOf } from "./moment";
import { say } from "./words";

function Goal({ report, diff }: { report: BootReport; diff: BootDiff | null }) {
	const length = formatBoot(report.to_ns);
	return (
		<span class="goal">
			{report.to && (
				<>
					<Name text={report.to} />:{" "}
				</>
			)}
			<b>{report.reached ? say("reached", { length }) : say("notReached", { length })}</b>
			{report.user_space_ns !== null && (
				<span class="share"> {say("userSpace", { length: formatBoot(report.user_space_ns) })}</span>
			)}
			{diff && (
				<span class={diff.target_change_ns > 0 ? "change more" : "change less"}>
					{" "}
					{formatDifference(diff.target_change_ns) || say("sameTime")}
				</span>
			)}
		</span>
	);
}

function Facts({ report }: { report: BootReport }) {
	const { boot } = report;
	const facts = [
		boot.device,
		boot.kernel,
		boot.machine,
		say("cpus", { n: boot.cpus }),
		say("processes", { n: formatCount(report.processes), kernel: formatCount(report.kernel_threads) }),
		boot.exact
			? say("exact")
			: boot.interval_ns !== null
				? say("seen", { length: formatLength(boot.interval_ns) })
				: null,
	];
	return <span class="share">{facts.flatMap((f) => (f ? [plain(f)] : [])).join(" · ")}</span>;
}

export function Summary({ report, diff }: { report: BootReport; diff: BootDiff | null }) {
	const { boot, sched } = report;
	return (
		<div class="bar summary">
			<Goal report={report} diff={diff} />
			{diff && (
				<span class="share">{say("asNew", { n: formatCount(diff.new), gone: formatCount(diff.gone) })}</span>
			)}
			<Facts report={report} />
			{sched && (
				<a
					href={addressOf("timeline", {
						run: sched.run,
						...stretchOf(boot.from_ns, boot.to_ns, sched.offset_ns),
					})}
				>
					{say("inTimeline")}
				</a>
			)}
			{boot.cut && <span class="warning">⚠ {say("cut")}</span>}
			{boot.gaps.map((g) => (
				<span key={g.from_ns} class="warning">
					⚠{" "}
					{say("gap", {
						from: formatBoot(g.from_ns),
						to: formatBoot(g.to_ns),
						why: plain(reasonOf({ language: language.value }, g.why ?? "?")),
					})}
				</span>
			))}
		</div>
	);
}
