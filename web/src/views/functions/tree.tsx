// SPDX-License-Identifier: MIT
// tree: the call tree as a table whose rows open and close; only those in sight are in the page.
//
// The keys are those of a tree grid: up and down, right opens or goes to the first call, left closes or goes to
// the caller, Home and End. The row that they are at has the focus, so a reader says its cells.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { formatCount, formatLength, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import { useSize } from "../../parts/size";
import { ROW_PX } from "../../parts/table";
import type { Change } from "../../flame/change";
import { formatChange, formatValue } from "./figures";
import type { Box as AnyBox } from "../../flame/forest";
import type { Box, Forest, Measure } from "./forest";
import { openByItself, parseTurned, rowsOf, type Row } from "./rows";
import { isSplit, SplitBar } from "./split";
import { titleOf } from "../../flame/title";
import { say } from "./words";

export interface TreeProps {
	readonly forest: Forest;
	readonly values: Float64Array;
	readonly by: Measure;
	readonly turned: string;
	readonly focus: AnyBox | null;
	readonly found: ReadonlySet<AnyBox> | null;
	readonly change: ((box: Box) => Change) | null;
	readonly shares: boolean;
	readonly onTurn: (box: Box) => void;
	readonly onFocus: (box: Box) => void;
}

const BEYOND = 8;
const INDENT_MAX = 40; /* deeper rows are not moved further: the name would leave the screen */

function Cells({ row, props }: { row: Row; props: TreeProps }) {
	const { box } = row;
	const f = box.figures;
	const value = props.values[box.index] ?? 0;
	const share = value / (props.values[0] || 1);
	const change = props.change?.(box);
	if (change)
		return (
			<>
				<span role="gridcell" class="n">
					{formatValue(change.before, props.by, props.shares)}
				</span>
				<span role="gridcell" class="n">
					{formatValue(change.after, props.by, props.shares)}
				</span>
				<span role="gridcell" class={`n change ${change.kind}`}>
					{formatChange(change, props.by, props.shares)}
				</span>
				<span role="gridcell" class="n">
					{formatCount(box.before?.calls ?? 0)} → {formatCount(f.calls)}
				</span>
			</>
		);
	return (
		<>
			<span role="gridcell" class="n measured">
				<i class="length" ref={(e) => e?.style.setProperty("width", `${(100 * share).toFixed(2)}%`)} />
				<span>{formatValue(value, props.by)}</span>
			</span>
			<span role="gridcell" class="n">
				{formatPercent(share)}
			</span>
			<span role="gridcell" class="n">
				{formatLength(f.local_ns)}
			</span>
			<span role="gridcell" class="n">
				{formatCount(f.calls)}
			</span>
			<span role="gridcell">{isSplit(f) && <SplitBar split={f} />}</span>
		</>
	);
}

function Head({ props }: { props: TreeProps }) {
	const heads = props.change
		? [say("before"), say("after"), say("change"), say("calls")]
		: [say(props.by), say("share"), say("local"), say("calls"), say("split")];
	return (
		<div role="row" class="tree-head">
			<span role="columnheader">{say("function")}</span>
			{heads.map((h, i) => (
				<span key={h} role="columnheader" class={i === 4 ? "" : "n"}>
					{h}
				</span>
			))}
		</div>
	);
}

function TreeRow({ row, at, props }: { row: Row; at: number; props: TreeProps }) {
	const { box } = row;
	const element = useRef<HTMLDivElement>(null);
	const focused = props.focus === box;
	const leaf = !box.children.length;
	return (
		<div
			role="row"
			ref={(e) => {
				element.current = e;
				e?.style.setProperty("top", `${at * ROW_PX}px`);
				e?.style.setProperty("--level", String(Math.min(row.level - 1, INDENT_MAX)));
			}}
			class={`tree-row${props.found?.has(box) ? " found" : ""}`}
			aria-level={row.level}
			aria-expanded={leaf ? undefined : row.open}
			aria-selected={focused}
			data-key={box.key}
			tabIndex={focused ? 0 : -1}
			onClick={() => props.onFocus(box)}
			onDblClick={() => !leaf && props.onTurn(box)}
		>
			<span role="gridcell" class="tree-name">
				<button
					type="button"
					class="twist"
					tabIndex={-1}
					disabled={leaf}
					aria-label={row.open ? say("fold") : say("unfold")}
					onClick={(e) => {
						e.stopPropagation();
						props.onTurn(box);
					}}
				>
					{leaf ? "·" : row.open ? "▾" : "▸"}
				</button>
				<bdi class="name">{titleOf(box)}</bdi>
				{box.object && (
					<small class="object">
						<Name text={box.object} />
					</small>
				)}
			</span>
			<Cells row={row} props={props} />
		</div>
	);
}

/** Where a key leads, or the node that it turns. */
function followKey(rows: readonly Row[], at: number, key: string): { to?: Box; turn?: Box } {
	const row = rows[at];
	const to = (i: number): { to?: Box } => {
		const box = rows[Math.max(0, Math.min(i, rows.length - 1))]?.box;
		return box ? { to: box } : {};
	};
	switch (key) {
		case "ArrowDown":
			return to(at + 1);
		case "ArrowUp":
			return to(at - 1);
		case "PageDown":
			return to(at + 15);
		case "PageUp":
			return to(at - 15);
		case "Home":
			return to(0);
		case "End":
			return to(rows.length - 1);
		case "ArrowRight":
			if (!row?.box.children.length) return {};
			return row.open ? to(at + 1) : { turn: row.box };
		case "ArrowLeft":
			if (row?.open) return { turn: row.box };
			return row?.box.parent?.parent ? { to: row.box.parent } : {};
		case "Enter":
		case " ":
			return row?.box.children.length ? { turn: row.box } : {};
		default:
			return {};
	}
}

export function Tree(props: TreeProps) {
	const { forest, values } = props;
	const outer = useRef<HTMLDivElement>(null);
	const size = useSize(outer);
	const [top, setTop] = useState(0);
	const usual = useMemo(() => openByItself(forest, values), [forest, values]);
	const rows = useMemo(
		() => rowsOf(forest, values, { usual, turned: parseTurned(props.turned), found: props.found }),
		[forest, values, usual, props.turned, props.found],
	);
	const at = rows.findIndex((r) => r.box === props.focus);
	const from = Math.max(0, Math.floor(top / ROW_PX) - BEYOND);
	const to = Math.min(rows.length, Math.ceil((top + size.height) / ROW_PX) + BEYOND);
	useLayoutEffect(() => {
		const e = outer.current;
		if (!e || at < 0) return;
		const y = at * ROW_PX;
		if (y < e.scrollTop) e.scrollTop = y;
		else if (y + 2 * ROW_PX > e.scrollTop + size.height) e.scrollTop = y + 2 * ROW_PX - size.height;
		if (e.contains(document.activeElement)) e.querySelector<HTMLElement>("[tabindex='0'][role=row]")?.focus();
	}, [at, size.height]);
	return (
		<div
			class={`tree${props.change ? " compared" : ""}`}
			role="treegrid"
			aria-label={say("tree")}
			aria-rowcount={rows.length}
			ref={outer}
			tabIndex={at < 0 ? 0 : -1}
			onScroll={(e) => setTop(e.currentTarget.scrollTop)}
			onKeyDown={(e) => {
				const step = followKey(rows, at, e.key);
				if (step.turn) props.onTurn(step.turn);
				else if (step.to) props.onFocus(step.to);
				else return;
				e.preventDefault();
			}}
		>
			<Head props={props} />
			<div class="tree-body" ref={(e) => e?.style.setProperty("height", `${rows.length * ROW_PX}px`)}>
				{rows.slice(from, to).map((row, i) => (
					<TreeRow key={row.box.key} row={row} at={from + i} props={props} />
				))}
			</div>
			{!rows.length && <p class="quiet">{say("nothing")}</p>}
		</div>
	);
}
