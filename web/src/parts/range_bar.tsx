// SPDX-License-Identifier: MIT
// range_bar: which recording and which part of it a view is about, and the way back to all of it.
import type { ComponentChildren } from "preact";

import { parseRange, type Extent, type Range } from "../api/extent";
import { address, setParams } from "../app/address";
import { say } from "../app/words";
import { formatLength, formatOffset } from "./format";
import { RunPicker } from "./run_picker";

/** A part as lengths after the recording's beginning, with digits that tell its ends apart. */
export function describeRange(range: Range, extent: Extent): string {
	if (range.from === null && range.to === null) return say("wholeRange");
	const from = Math.max(range.from ?? extent.fromNs, extent.fromNs);
	const to = range.to ?? extent.toNs;
	const step = Math.max(1, (to - from) / 1000);
	return say("rangeText", {
		from: formatOffset(from - extent.fromNs, step),
		to: formatOffset(to - extent.fromNs, step),
		length: formatLength(Math.max(0, to - from)),
	});
}

export function RangeBar({ extent, children }: { extent: Extent | undefined; children?: ComponentChildren }) {
	const range = parseRange(address.value.params);
	const part = range.from !== null || range.to !== null;
	return (
		<div class="bar">
			<RunPicker />
			{extent && (
				<span class="range" aria-label={say("range")}>
					{describeRange(range, extent)}
				</span>
			)}
			{part && (
				<button
					type="button"
					onClick={() => setParams({ from: null, to: null, mark: null, sel: null }, true)}
				>
					{say("showWhole")}
				</button>
			)}
			{children}
		</div>
	);
}
