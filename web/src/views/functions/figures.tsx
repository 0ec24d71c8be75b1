// SPDX-License-Identifier: MIT
// figures: all that is known about one box, for what is pointed at and for the panel.
import type { Figures } from "../../api/calls";
import { formatCount, formatLength, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import { SIGNS, type Change } from "../../flame/change";
import type { Box, Measure } from "./forest";
import { SplitBar, SplitLegend, isSplit } from "./split";
import { titleOf } from "../../flame/title";
import { say } from "./words";

export function formatValue(value: number, by: Measure, shares = false): string {
	if (shares) return formatPercent(value);
	return by === "calls" ? formatCount(Math.round(value)) : formatLength(value);
}

function signed(value: number, text: (v: number) => string): string {
	return value === 0 ? "±0" : `${value > 0 ? "+" : "−"}${text(Math.abs(value))}`;
}

/** "▲ +3.2 ms (+12 %)": reads without colour. */
export function formatChange(change: Change, by: Measure, shares: boolean): string {
	const by100 =
		change.before > 0 && change.after > 0
			? ` (${signed(change.after / change.before - 1, formatPercent)})`
			: "";
	const size = signed(change.after - change.before, (v) => formatValue(v, by, shares));
	const word = change.kind === "new" || change.kind === "gone" ? ` ${say(change.kind)}` : "";
	return `${SIGNS[change.kind]} ${size}${by100}${word}`;
}

/** Calls whose return was not seen, and why. */
function Ends({ figures }: { figures: Figures }) {
	const ends = (["unwound", "cut", "open"] as const).filter((end) => figures[end] > 0);
	if (!ends.length) return null;
	return (
		<>
			<dt>{say("ends")}</dt>
			<dd>{ends.map((end) => `${say(end)} ${formatCount(figures[end])}`).join(", ")}</dd>
		</>
	);
}

export function FigureList({ figures, whole }: { figures: Figures; whole: number }) {
	const average = figures.calls ? figures.total_ns / figures.calls : 0;
	return (
		<>
			<dl class="figures">
				<dt>{say("total")}</dt>
				<dd>
					{formatLength(figures.total_ns)}
					{whole > 0 && <span class="share"> {formatPercent(figures.total_ns / whole)}</span>}
				</dd>
				<dt>{say("local")}</dt>
				<dd>
					{formatLength(figures.local_ns)}
					{whole > 0 && <span class="share"> {formatPercent(figures.local_ns / whole)}</span>}
				</dd>
				<dt>{say("calls")}</dt>
				<dd>{formatCount(figures.calls)}</dd>
				{figures.calls > 0 && (
					<>
						<dt>{say("perCall")}</dt>
						<dd>{formatLength(Math.round(average))}</dd>
					</>
				)}
				<Ends figures={figures} />
			</dl>
			{isSplit(figures) && figures.local_ns > 0 && (
				<>
					<SplitBar split={figures} />
					<SplitLegend split={figures} />
				</>
			)}
		</>
	);
}

export interface Shown {
	readonly box: Box;
	readonly by: Measure;
	/** Of the box and of everything, by the measure. */
	readonly value: number;
	readonly whole: number;
	readonly change: Change | null;
	readonly shares: boolean;
}

/** One line, for those who hear it. */
export function describeBox(s: Shown): string {
	const { box } = s;
	const name = titleOf(box);
	if (s.change)
		return `${name}: ${formatValue(s.change.before, s.by, s.shares)} → ${formatValue(s.change.after, s.by, s.shares)}, ${formatChange(s.change, s.by, s.shares)}`;
	return `${name}: ${say(s.by)} ${formatValue(s.value, s.by)}, ${formatPercent(s.value / (s.whole || 1))}, ${say("level", { n: box.depth })}`;
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
			{change ? (
				<dl class="figures">
					<dt>{say("before")}</dt>
					<dd>{formatValue(change.before, s.by, s.shares)}</dd>
					<dt>{say("after")}</dt>
					<dd>{formatValue(change.after, s.by, s.shares)}</dd>
					<dt>{say("change")}</dt>
					<dd>{formatChange(change, s.by, s.shares)}</dd>
					<dt>{say("calls")}</dt>
					<dd>
						{formatCount(box.before?.calls ?? 0)} → {formatCount(box.figures.calls)}
					</dd>
				</dl>
			) : (
				<>
					{s.by !== "total" && (
						<p class="measure">
							{say(s.by)} {say("withBelow")}: <b>{formatValue(s.value, s.by)}</b>{" "}
							<span class="share">{formatPercent(s.value / (s.whole || 1))}</span>
						</p>
					)}
					<FigureList figures={box.figures} whole={s.by === "total" ? s.whole : 0} />
				</>
			)}
		</>
	);
}
