// SPDX-License-Identifier: MIT
// data: what the view asks for, and when it asks again: when the question changes, and each minute while it is about now.
import { useEffect, useState } from "preact/hooks";

import {
	getFleetDiff,
	getFleetDiffTree,
	getFleetTop,
	getFleetTree,
	getFleetTrend,
	type FleetBasis,
	type FleetTrend,
} from "../../api/fleet";
import type { ProfileValues } from "../../api/profile";
import { isAbort, type Query } from "../../api/request";
import { useLoaded, type Loaded } from "../../parts/loaded";
import type { Compared, Figured } from "../profile/columns";
import { growForest, type Forest } from "../profile/forest";
import {
	belowProcess,
	comparedOfDiff,
	comparedOfNodes,
	rowsOfNodes,
	rowsOfTop,
	sidesOf,
	sumOf,
	toProfile,
	type Sides,
} from "./rows";
import { diffQuery, rangeQuery, type State } from "./state";
import type { Which } from "./which";

export const PATHS = 20_000;
export const ROWS = 500;
const MINUTE_MS = 60_000;
/** Lines in the table, one question each: so many rows, and only where an answer is made of not too many sets. */
export const SPARKS = 12;
export const SPARK_SETS_MAX = 20_000;

/** What is asked about: the state, and its devices as the collector takes them. */
export interface Question {
	readonly state: State;
	readonly which: Which;
	readonly baseWhich: Which;
	readonly compared: boolean;
	readonly round: number;
}

/** Of what an answer was made. */
export interface Bases {
	readonly after: FleetBasis;
	readonly before: FleetBasis | null;
}

export interface ListAnswer {
	readonly bases: Bases;
	readonly rows: readonly Figured[];
	readonly compared: readonly Compared[] | null;
	/** What shares are of. */
	readonly whole: ProfileValues;
}

export interface GraphAnswer {
	readonly bases: Bases;
	readonly forest: Forest;
}

/** Counts minutes, while somebody looks. */
export function useMinutes(on: boolean): number {
	const [round, setRound] = useState(0);
	useEffect(() => {
		if (!on) return undefined;
		const timer = setInterval(() => {
			if (document.visibilityState === "visible") setRound((n) => n + 1);
		}, MINUTE_MS);
		return () => clearInterval(timer);
	}, [on]);
	return round;
}

function queryOf(q: Question, more: Query): Query {
	const { state, which, baseWhich } = q;
	const what = q.compared
		? diffQuery(state, which.query, baseWhich.query)
		: { ...rangeQuery(state), devices: which.query };
	return { ...what, kind: state.kind, ...(state.samples ? { value: "samples" } : {}), ...more };
}

async function askSides(q: Question, abort: AbortSignal): Promise<{ bases: Bases; sides: Sides }> {
	const answer = await getFleetDiffTree(queryOf(q, { limit: PATHS }), abort);
	const sides = sidesOf(answer.nodes);
	const { process } = q.state;
	return {
		bases: { after: answer.after, before: answer.before },
		sides: { before: belowProcess(sides.before, process), after: belowProcess(sides.after, process) },
	};
}

async function askList(q: Question, abort: AbortSignal): Promise<ListAnswer> {
	const { by, process, samples } = q.state;
	if (q.compared && process) {
		const { bases, sides } = await askSides(q, abort);
		return { bases, rows: [], compared: comparedOfNodes(sides, by, samples), whole: sumOf(sides.after) };
	}
	if (q.compared) {
		const diff = await getFleetDiff(queryOf(q, { by, limit: ROWS }), abort);
		const bases = { after: diff.after, before: diff.before };
		return { bases, rows: [], compared: comparedOfDiff(diff, samples), whole: toProfile(diff.after.all) };
	}
	if (process) {
		const tree = await getFleetTree(queryOf(q, { limit: PATHS }), abort);
		const nodes = belowProcess(tree.nodes, process);
		const bases = { after: tree.basis, before: null };
		return { bases, rows: rowsOfNodes(nodes, by), compared: null, whole: sumOf(nodes) };
	}
	const top = await getFleetTop(queryOf(q, { by, limit: ROWS }), abort);
	const bases = { after: top.basis, before: null };
	return { bases, rows: rowsOfTop(top), compared: null, whole: toProfile(top.basis.all) };
}

async function askGraph(q: Question, abort: AbortSignal): Promise<GraphAnswer> {
	if (q.compared) {
		const { bases, sides } = await askSides(q, abort);
		return { bases, forest: growForest(sides.after, sides.before) };
	}
	const tree = await getFleetTree(queryOf(q, { limit: PATHS }), abort);
	return {
		bases: { after: tree.basis, before: null },
		forest: growForest(belowProcess(tree.nodes, q.state.process)),
	};
}

const keyOf = (q: Question): string =>
	JSON.stringify([queryOf(q, {}), q.state.by, q.state.process, q.compared, q.round]);

export function useList(q: Question): Loaded<ListAnswer> {
	return useLoaded((abort) => askList(q, abort), [keyOf(q)]);
}

export function useGraph(q: Question): Loaded<GraphAnswer> {
	return useLoaded((abort) => askGraph(q, abort), [keyOf(q)]);
}

/** All of the time that an answer is about; of two times both and what is between them. */
function timeOf(q: Question, bases: Bases): Query {
	if (!bases.before || q.state.base === "devices") return rangeQuery(q.state);
	const [from] = [bases.before.from, bases.after.from].sort();
	const [to] = [bases.before.to, bases.after.to].sort().reverse();
	return { from, to };
}

function trendQuery(q: Question, bases: Bases, row: { name: string; object: string | null }): Query {
	const { kind, by } = q.state;
	return { ...timeOf(q, bases), kind, by, name: row.name, object: row.object, devices: q.which.query };
}

export interface Trends {
	readonly after: FleetTrend;
	/** Of other devices at the same time. */
	readonly before: FleetTrend | null;
}

export function useTrends(q: Question, bases: Bases): Loaded<Trends> {
	const { name, object, base } = q.state;
	const query = trendQuery(q, bases, { name, object: object || null });
	const others = q.compared && base === "devices" ? { ...query, devices: q.baseWhich.query } : null;
	const ask = async (abort: AbortSignal): Promise<Trends> => ({
		after: await getFleetTrend(query, abort),
		before: others ? await getFleetTrend(others, abort) : null,
	});
	return useLoaded(ask, [JSON.stringify([query, others]), q.round]);
}

/** Trends of the first rows, one after the other, by the key of the row. */
export function useSparks(
	q: Question,
	bases: Bases | undefined,
	rows: readonly Figured[],
	idOf: (row: Figured) => string,
): ReadonlyMap<string, FleetTrend> {
	const [found, setFound] = useState<ReadonlyMap<string, FleetTrend>>(new Map());
	const few = bases !== undefined && bases.after.sets <= SPARK_SETS_MAX;
	const wanted = few && !q.state.process && q.state.by !== "device" ? rows.slice(0, SPARKS) : [];
	useEffect(() => {
		const abort = new AbortController();
		const load = async (): Promise<void> => {
			for (const row of wanted) {
				if (!bases || abort.signal.aborted) return;
				const trend = await getFleetTrend(trendQuery(q, bases, row), abort.signal);
				setFound((old) => new Map([...old, [idOf(row), trend]]));
			}
		};
		setFound(new Map());
		/* A line that is missing says nothing wrong; the list itself has told what failed. */
		load().catch((e: unknown) => isAbort(e));
		return () => abort.abort();
	}, [keyOf(q), wanted.map(idOf).join("\n")]);
	return found;
}
