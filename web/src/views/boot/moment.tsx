// SPDX-License-Identifier: MIT
// moment: a time of the boot; where the scheduler was traced too, the way to it in the timeline.
import type { BootReport } from "../../api/boots";
import { addressOf } from "../../app/address";
import { secondDigits } from "../../parts/format";
import { say } from "./words";

/** Seconds since the kernel started, to the millisecond. */
export function formatBoot(ns: number): string {
	return `${(ns / 1e9).toFixed(Math.min(3, secondDigits(1e6)))} s`;
}

/** The same stretch on the clock of the scheduler's run, with a little of what was before and behind it. */
export function stretchOf(from: number, to: number, offset: number): { from: number; to: number } {
	const margin = Math.max(1e6, Math.round((to - from) / 20));
	return { from: Math.max(0, from + offset - margin), to: to + offset + margin };
}

export function Moment({ report, from, to }: { report: BootReport; from: number; to: number }) {
	const { sched } = report;
	if (!sched) return <span class="moment">{formatBoot(from)}</span>;
	const span = stretchOf(from, to, sched.offset_ns);
	return (
		<a class="moment" title={say("inTimeline")} href={addressOf("timeline", { run: sched.run, ...span })}>
			{formatBoot(from)}
		</a>
	);
}
