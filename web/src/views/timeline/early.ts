// SPDX-License-Identifier: MIT
// early: what is needed for the first picture, begun as soon as the run's number is known: the overview of the whole
// run, and the worker that takes it apart. Otherwise each would wait for answers that it does not depend on.
import { getOverview } from "../../api/timeline";

export const WHOLE_SIZE = { width: 720, tasks: 256 } as const;
const ASKED_MAX = 4;

const asked = new Map<number, Promise<Uint8Array>>();

export function askEarly(run: number): void {
	if (asked.has(run) || asked.size >= ASKED_MAX) return;
	const answer = getOverview(run, null, WHOLE_SIZE);
	/* Whoever takes it sees the failure; until then it is nobody's. */
	answer.catch(() => undefined);
	asked.set(run, answer);
}

/** The answer that is under way, once. */
export function takeEarly(run: number): Promise<Uint8Array> | undefined {
	const answer = asked.get(run);
	asked.delete(run);
	return answer;
}

function makeWorker(): Worker {
	return new Worker(new URL("./decode_worker.ts", import.meta.url), { type: "module" });
}

let spare: Worker | null = null;

export function startWorker(): void {
	spare ??= makeWorker();
}

export function takeWorker(): Worker {
	const worker = spare ?? makeWorker();
	spare = null;
	return worker;
}
