// SPDX-License-Identifier: MIT
// summary: what the selection is, and what is missing in it: figures without their gaps would lie.
import { useState } from "preact/hooks";

import { endingOf, exportUrl, formatsOf, listFormats, wholeOf, type Format } from "../../api/formats";
import type { ProfileTotals } from "../../api/profile";
import type { Run } from "../../api/schema";
import { addressOf } from "../../app/address";
import { formatCount, formatLength } from "../../parts/format";
import { useLoaded } from "../../parts/loaded";
import { formatValue } from "./figures";
import { say } from "./words";

/** The recording in the forms of other tools; the collector says which it can make. */
function Downloads({ run }: { run: Run }) {
	const [chosen, setChosen] = useState("");
	const formats = useLoaded(() => listFormats(), []);
	const list: readonly Format[] = formatsOf(run, formats.value ?? []);
	if (!list.length) return null;
	const format = list.find((f) => f.name === chosen) ?? list[0];
	if (!format) return null;
	return (
		<span class="downloads">
			<select
				aria-label={say("format")}
				value={format.name}
				onChange={(e) => setChosen(e.currentTarget.value)}
			>
				{list.map((f) => (
					<option key={f.name} value={f.name} title={f.summary}>
						{f.name} ({endingOf(f)})
					</option>
				))}
			</select>{" "}
			<a href={exportUrl(wholeOf(run), format.name)} download="" data-format={format.name}>
				{say("download")}
			</a>
		</span>
	);
}

export function Summary({ run, totals, waiting }: { run: Run; totals: ProfileTotals; waiting: boolean }) {
	return (
		<div class="bar summary" aria-busy={waiting}>
			<span>
				{say("summary", {
					samples: formatCount(totals.total.samples),
					weight: formatValue(totals.total.weight, totals.unit),
					length: formatLength(Math.max(0, totals.to_ns - totals.from_ns)),
					cpus: totals.cpus === 1 ? say("oneCpu") : say("manyCpus", { n: totals.cpus }),
					period: formatValue(totals.period, totals.unit),
				})}
			</span>
			{totals.idle.samples > 0 && (
				<span class="quiet-note">
					{say("idleText", { weight: formatValue(totals.idle.weight, totals.unit) })}
				</span>
			)}
			{run.profile?.has_guests && <a href={addressOf("vm")}>{say("machines")}</a>}
			<Downloads run={run} />
			{totals.losses > 0 && (
				<span class="warning">
					⚠ {say("lost", { lost: formatCount(totals.lost), losses: formatCount(totals.losses) })}
				</span>
			)}
		</div>
	);
}
