// SPDX-License-Identifier: MIT
// split: where local time went, as a bar with patterns and as figures.
//
// Colours and patterns are those of the same states elsewhere (parts/palette.ts); the parts always stand in the same
// order, and the figures are in the title and beside it, so nothing depends on colour.
import type { Split as Parts } from "../../api/calls";
import { formatLength, formatPercent } from "../../parts/format";
import { say } from "./words";

export const PARTS = ["user", "kernel", "running", "preempted", "blocked", "unknown"] as const;
export type Part = (typeof PARTS)[number];

export interface PartOf {
	readonly part: Part;
	readonly ns: number;
}

/** Those that are known; `running` only where user and kernel are not told apart. */
export function partsOf(s: Parts): readonly PartOf[] {
	const apart = s.user_ns !== null && s.kernel_ns !== null;
	return PARTS.filter((p) => (p === "running" ? !apart : apart || (p !== "user" && p !== "kernel"))).flatMap(
		(part) => {
			const ns = s[`${part}_ns`];
			return ns === null ? [] : [{ part, ns }];
		},
	);
}

/** Whether anything is told about where time went. */
export function isSplit(s: Parts): boolean {
	return s.running_ns !== null;
}

export function describeSplit(s: Parts): string {
	return partsOf(s)
		.filter((p) => p.ns > 0)
		.map((p) => `${say(p.part)} ${formatLength(p.ns)} (${formatPercent(p.ns / (s.local_ns || 1))})`)
		.join(", ");
}

function setShare(element: HTMLElement | null, share: number): void {
	element?.style.setProperty("flex-grow", String(Math.max(share, 0)));
}

/** `scale` makes bars of several rows comparable: the part of the whole width that this one has. */
export function SplitBar({ split, scale = 1 }: { split: Parts; scale?: number }) {
	if (split.local_ns <= 0) return null;
	const text = describeSplit(split);
	return (
		<span class="split" role="img" aria-label={text} title={text}>
			{partsOf(split)
				.filter((p) => p.ns > 0)
				.map((p) => (
					<i
						key={p.part}
						class={`part ${p.part}`}
						ref={(e) => setShare(e, (p.ns / split.local_ns) * scale)}
					/>
				))}
			{scale < 1 && <i class="rest" ref={(e) => setShare(e, 1 - scale)} />}
		</span>
	);
}

export function SplitLegend({ split }: { split: Parts }) {
	return (
		<ul class="split-legend" aria-label={say("legend")}>
			{partsOf(split)
				.filter((p) => p.ns > 0)
				.map((p) => (
					<li key={p.part}>
						<i class={`part ${p.part}`} aria-hidden="true" />
						{say(p.part)} <b>{formatLength(p.ns)}</b>{" "}
						<span class="share">{formatPercent(p.ns / (split.local_ns || 1))}</span>
					</li>
				))}
		</ul>
	);
}
