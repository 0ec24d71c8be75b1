// SPDX-License-Identifier: MIT
// place: the timeline's keys of the address, taken apart and put together. `from` and `to` are what is in sight;
// `mark` a range, `sel` a slice ("ROW@ns") or a call ("ROW/DEPTH@ns"), `pin` and `fold` rows, `filter` tasks, `arrows` and `follow` switches.
import { parseTime, type Changes } from "../../app/address";
import type { Arrows } from "./draw_arrows";
import { formatSpan, parseSpan, type Span } from "../../parts/scale";

export interface Chosen {
	readonly rowId: string;
	/** Of the axis. */
	readonly ns: number;
	/** How deep a function under the row is nested; null: the row itself. */
	readonly depth: number | null;
}

export interface Place {
	readonly span: Span | null;
	readonly mark: Span | null;
	readonly chosen: Chosen | null;
	readonly pinned: readonly string[];
	readonly folded: ReadonlySet<string>;
	readonly filter: string;
	readonly arrows: Arrows;
	readonly follow: boolean;
}

const ROW = /^\d{1,9}\.(d|[ctp]\d{1,10})$/;
const ROWS_MAX = 64;

function parseRows(text: string): readonly string[] {
	return [...new Set(text.split(",").filter((id) => ROW.test(id)))].slice(0, ROWS_MAX);
}

export function parseChosen(text: string): Chosen | null {
	const [place = "", at = ""] = text.split("@");
	const [rowId = "", depth] = place.split("/");
	const ns = parseTime(at);
	if (!ROW.test(rowId) || ns === null || (depth !== undefined && !/^\d{1,2}$/.test(depth))) return null;
	return { rowId, ns, depth: depth === undefined ? null : Number(depth) };
}

export function formatChosen(chosen: Chosen): string {
	const depth = chosen.depth === null ? "" : `/${chosen.depth}`;
	return `${chosen.rowId}${depth}@${Math.max(0, Math.floor(chosen.ns))}`;
}

export function parsePlace(params: ReadonlyMap<string, string>): Place {
	const get = (key: string): string => params.get(key) ?? "";
	const from = parseTime(get("from"));
	const to = parseTime(get("to"));
	const arrows = get("arrows");
	return {
		span: from !== null && to !== null && from < to ? { from, to } : null,
		mark: parseSpan(get("mark")),
		chosen: parseChosen(get("sel")),
		pinned: parseRows(get("pin")),
		folded: new Set(parseRows(get("fold"))),
		filter: get("filter"),
		arrows: arrows === "all" || arrows === "none" ? arrows : "near",
		follow: get("follow") === "1",
	};
}

export function spanChanges(span: Span): Changes {
	return { from: Math.max(0, Math.floor(span.from)), to: Math.max(1, Math.ceil(span.to)) };
}

export function markChanges(mark: Span | null): Changes {
	return { mark: mark ? formatSpan(mark) : null };
}

/** The list with the row in it, or without it if it was there. */
export function toggleRow(rows: Iterable<string>, id: string): string | null {
	const list = [...rows];
	const next = list.includes(id) ? list.filter((x) => x !== id) : [...list, id].slice(-ROWS_MAX);
	return next.length ? next.join(",") : null;
}
