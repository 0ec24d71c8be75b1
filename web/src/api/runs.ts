// SPDX-License-Identifier: MIT
// runs: the recordings of the store, and which of them is looked at.
//
// The address says which (`run`); without it, it is the latest one of the kind that the view wants, and the
// address is filled in so that a copied link means the same later.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { address, param, setParams } from "../app/address";
import { useLoaded } from "../parts/loaded";
import { isOfKind, parseDeviceTime, placeOf, relatedRun } from "./related";
import { getJson, isAbort } from "./request";
import type { Run, Runs } from "./schema";

export type RunKind = "sched" | "func" | "boot" | "profile";

export const LIST_MAX = 200;

export async function listRuns(kind?: RunKind, abort?: AbortSignal): Promise<readonly Run[]> {
	return (await getJson<Runs>("runs", { kind, limit: LIST_MAX }, abort)).runs;
}

export function getRun(number: number, abort?: AbortSignal): Promise<Run> {
	return getJson<Run>(`runs/${number}`, {}, abort);
}

/** The runs that the address names. */
export function parseRuns(text: string): readonly number[] {
	return text
		.split(",")
		.filter((x) => /^\d{1,9}$/.test(x))
		.map(Number);
}

export const runParam = param("run");

/** What the run picker of the frame offers; filled by whoever asked for runs last. */
export const known = signal<readonly Run[]>([]);

export interface Chosen {
	readonly runs: readonly Run[];
	/** Nothing is known yet. */
	readonly waiting: boolean;
	readonly error: unknown;
}

/** What is shown when the address names none: where any kind will do, one of the scheduler has most to show. */
function pickLatest(runs: readonly Run[], kind: RunKind | null): Run | undefined {
	return (kind === null ? runs.find((r) => r.kinds.includes("sched")) : undefined) ?? runs[0];
}

/** The runs that the address names, or the latest of the kind; null: of any. */
export function useRuns(kind: RunKind | null): Chosen {
	const [chosen, setChosen] = useState<Chosen>({ runs: [], waiting: true, error: null });
	const text = runParam.value;
	useEffect(() => {
		const abort = new AbortController();
		/* One of another kind leads to one of this kind; its times are those of another clock. */
		const take = async (runs: readonly Run[], list: Promise<readonly Run[]>): Promise<void> => {
			const [first] = runs;
			const wrong = first !== undefined && kind !== null && !runs.some((r) => isOfKind(r, kind));
			const other = wrong ? relatedRun(first, await list) : undefined;
			if (other) setParams({ run: other.run, from: null, to: null });
			else setChosen({ runs: wrong ? [] : runs, waiting: false, error: null });
		};
		const load = async (): Promise<void> => {
			const numbers = parseRuns(text);
			/* What the address names need not wait for the list of all. */
			const named = Promise.all(numbers.map((n) => getRun(n, abort.signal)));
			const list = listRuns(kind ?? undefined, abort.signal).then((runs) => (known.value = runs));
			/* If the other question fails first, nobody waits for this one; else it is told below. */
			list.catch(() => undefined);
			const at = parseDeviceTime(address.peek().params);
			const place = at && placeOf(at, await list);
			if (at && kind === "sched") {
				const name = address.peek().params.get("name") || null;
				const there = place ?? { run: pickLatest(await list, kind)?.run ?? null, from: null, to: null };
				/* The timeline calls it `filter`, the latencies `find`. */
				setParams({ device: null, since: null, until: null, name: null, filter: name, find: name, ...there });
				return;
			}
			const latest = numbers.length ? undefined : pickLatest(await list, kind);
			if (latest) setParams({ run: latest.run });
			else await take(await named, list);
			await list;
		};
		load().catch((error: unknown) => {
			if (!isAbort(error)) setChosen({ runs: [], waiting: false, error });
		});
		return () => abort.abort();
	}, [kind, text, param("since").value]);
	return chosen;
}

/** The run that one is compared with; the one that is there already, or one that has to be asked for. */
export function useOtherRun(run: Run, other: number | null): Run | undefined {
	const number = other !== null && other !== run.run ? other : null;
	const asked = useLoaded(number === null ? null : (abort) => getRun(number, abort), [number]);
	if (other === run.run) return run;
	return number === asked.value?.run ? asked.value : undefined;
}
