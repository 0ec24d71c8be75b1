// SPDX-License-Identifier: MIT
// row_names: the column with what the rows are: as text of the page, so that it can be read aloud, searched and
// reached by keys; only rows in sight are in it. Each can be pinned, and heads can be folded.
import { setParams } from "../../app/address";
import { formatLength } from "../../parts/format";
import { nameOf, plain } from "../../parts/text";
import { rowAt, type Layout, type Row } from "./layout";
import { toggleRow } from "./place";
import type { Stage } from "./stage";
import { say } from "./words";

const BEYOND = 4;

export function titleOf(stage: Stage, row: Row): string {
	if (row.kind === "cpu") return say("cpu", { n: row.number });
	if (row.kind === "device") return plain(stage.sources[row.source]?.run.device ?? "");
	return nameOf(row.comm, row.number);
}

/** What is behind a name, quieter. */
export function noteOf(stage: Stage, row: Row): string {
	const source = stage.sources[row.source];
	if (row.kind === "thread") return String(row.number);
	if (row.kind === "process") return `${row.number} · ${say("threads", { n: row.members.length })}`;
	if (row.kind !== "device" || !source || row.source === 0) return "";
	if (Number.isNaN(source.errorNs)) return say("clockUnknown");
	return say("clockError", { error: formatLength(source.errorNs + (stage.sources[0]?.errorNs || 0)) });
}

function RowName({ stage, row, y }: { stage: Stage; row: Row; y: number }) {
	const name = titleOf(stage, row);
	const { place } = stage;
	const putAt = (element: HTMLElement | null): void => {
		element?.style.setProperty("transform", `translateY(${y}px)`);
		element?.style.setProperty("height", `${row.height}px`);
	};
	const isChosen = place.chosen?.rowId === row.id;
	return (
		<div
			ref={putAt}
			class={`row-name ${row.kind}${row.inner ? " inner" : ""}${isChosen ? " chosen" : ""}`}
			data-row={row.id}
			role="listitem"
		>
			{row.folds && (
				<button
					type="button"
					class="fold"
					aria-expanded={!row.folded}
					aria-label={say(row.folded ? "unfold" : "fold", { name })}
					onClick={() => setParams({ fold: toggleRow(place.folded, row.id) })}
				>
					{row.folded ? "▸" : "▾"}
				</button>
			)}
			<bdi class="row-title" title={`${name} ${noteOf(stage, row)}`}>
				{name}
			</bdi>
			<span class="row-note">{noteOf(stage, row)}</span>
			{row.kind !== "device" && (
				<button
					type="button"
					class="pin"
					aria-pressed={row.pinned}
					aria-label={say(row.pinned ? "unpin" : "pin", { name: `${name} ${row.number}` })}
					title={say(row.pinned ? "unpin" : "pin", { name })}
					onClick={() => setParams({ pin: toggleRow(place.pinned, row.id) })}
				>
					{row.pinned ? "★" : "☆"}
				</button>
			)}
		</div>
	);
}

function inSight(layout: Layout, scrollTop: number, height: number): readonly Row[] {
	const first = Math.max(0, rowAt(layout.rows, scrollTop) - BEYOND);
	const last = Math.min(layout.rows.length, rowAt(layout.rows, scrollTop + height) + BEYOND);
	return layout.rows.slice(first, last);
}

export function RowNames({ stage, height }: { stage: Stage; height: number }) {
	const layout = stage.layout.value;
	const top = stage.scrollTop.value;
	const pinnedBox = (element: HTMLElement | null): void =>
		element?.style.setProperty("height", `${layout.pinnedHeight}px`);
	return (
		<div class="row-names" role="list" aria-label={say("rowsLabel")}>
			<div class="row-rest">
				{inSight(layout, top, height).map((row) => (
					<RowName key={row.id} stage={stage} row={row} y={layout.pinnedHeight + row.top - top} />
				))}
			</div>
			<div class="row-pinned" ref={pinnedBox}>
				{layout.pinned.map((row) => (
					<RowName key={row.id} stage={stage} row={row} y={row.top} />
				))}
			</div>
		</div>
	);
}
