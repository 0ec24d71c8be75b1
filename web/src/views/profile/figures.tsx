// SPDX-License-Identifier: MIT
// figures: numbers of a profile as people read them, and all that is known of one box.
import type { ProfileTotals, ProfileValues } from "../../api/profile";
import { SIGNS, type Change } from "../../flame/change";
import { titleOf } from "../../flame/title";
import { formatCount, formatLength, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import type { Box } from "./forest";
import { say } from "./words";

export type Unit = ProfileTotals["unit"] | "samples";

export function unitOf(totals: ProfileTotals, samples: boolean): Unit {
	return samples ? "samples" : totals.unit;
}

export function pick(values: ProfileValues, unit: Unit): number {
	return unit === "samples" ? values.samples : values.weight;
}

export function formatValue(value: number, unit: Unit): string {
	if (unit === "ns") return formatLength(value);
	return unit === "cycles" ? say("cycles", { n: formatCount(value) }) : formatCount(value);
}

/** A change of a share, in percent of all: "▲ +1.20 %". */
export function formatChange(change: Change): string {
	const by = change.after - change.before;
	const size = by === 0 ? "±0 %" : `${by > 0 ? "+" : "−"}${formatPercent(Math.abs(by))}`;
	return `${SIGNS[change.kind]} ${size}`;
}

export interface Shown {
	readonly box: Box;
	readonly unit: Unit;
	readonly whole: number;
	readonly change: Change | null;
}

/** One line, for those who hear it. */
export function describeBox(s: Shown): string {
	const name = titleOf(s.box);
	if (s.change)
		return `${name}: ${formatPercent(s.change.before)} → ${formatPercent(s.change.after)}, ${formatChange(s.change)}`;
	const value = pick(s.box.figures.total, s.unit);
	return `${name}: ${formatValue(value, s.unit)}, ${formatPercent(value / (s.whole || 1))}, ${say("level", { n: s.box.depth })}`;
}

function Figure({ label, values, s }: { label: string; values: ProfileValues; s: Shown }) {
	const value = pick(values, s.unit);
	return (
		<>
			<dt>{label}</dt>
			<dd>
				{formatValue(value, s.unit)} <span class="share">{formatPercent(value / (s.whole || 1))}</span>
			</dd>
		</>
	);
}

export function BoxFigures(s: Shown) {
	const { box, change } = s;
	return (
		<>
			<strong>
				<bdi class="name">{titleOf(box)}</bdi>
			</strong>
			{box.object && (
				<div class="object">
					<Name text={box.object} />
				</div>
			)}
			<dl class="figures">
				{change ? (
					<>
						<dt>{say("before")}</dt>
						<dd>{formatPercent(change.before)}</dd>
						<dt>{say("after")}</dt>
						<dd>{formatPercent(change.after)}</dd>
						<dt>{say("change")}</dt>
						<dd>{formatChange(change)}</dd>
					</>
				) : (
					<>
						<Figure label={say("total")} values={box.figures.total} s={s} />
						<Figure label={say("self")} values={box.figures.self} s={s} />
						<dt>{say("samples")}</dt>
						<dd>{formatCount(box.figures.total.samples)}</dd>
					</>
				)}
			</dl>
		</>
	);
}

export function ObjectNote({ text }: { text: string | null }) {
	return text ? (
		<small class="object">
			<Name text={text} />
		</small>
	) : null;
}
