// SPDX-License-Identifier: MIT
// instruction_history: what devices were told, page by page, kept up to date: the collector says when anything of it has
// changed, and then as much as is listed is asked for again. What was there stays until the answer comes.
import { useEffect, useRef, useState } from "preact/hooks";

import { instructionChanges } from "../../api/devices";
import { getJson, isAbort } from "../../api/request";
import type { Instructions } from "../../api/schema";

export type Instruction = Instructions["instructions"][number];

const PAGE = 200;
const LISTED_MAX = 10_000; /* as many as the collector gives at once */

export interface History {
	readonly rows: readonly Instruction[];
	readonly next: number | null;
	readonly error: unknown;
	readonly waiting: boolean;
	readonly older: () => void;
	readonly again: () => void;
}

type State = Pick<History, "rows" | "next" | "error" | "waiting">;
const NOTHING: State = { rows: [], next: null, error: null, waiting: true };

/** How many have to be asked for so that all that are listed are. */
export function limitFor(listed: number): number {
	return Math.min(LISTED_MAX, Math.max(PAGE, Math.ceil(listed / PAGE) * PAGE));
}

/** Those whose outcome may still change. */
export function isOpen(i: Pick<Instruction, "outcome">): boolean {
	return i.outcome === "sent" || i.outcome === "deferred" || i.outcome === "timed_out";
}

export function useHistory(device: string): History {
	const [state, setState] = useState<State>(NOTHING);
	const [round, setRound] = useState(0);
	/* How many are wanted; another device's begin with a page. */
	const wanted = useRef({ device, count: PAGE });
	if (wanted.current.device !== device) wanted.current = { device, count: PAGE };
	useEffect(() => {
		const abort = new AbortController();
		const limit = limitFor(wanted.current.count);
		getJson<Instructions>("instructions", { device, limit }, abort.signal).then(
			({ instructions: rows, next }) =>
				setState({ rows, next: rows.length < LISTED_MAX ? next : null, error: null, waiting: false }),
			(error: unknown) => {
				if (!isAbort(error)) setState((old) => ({ ...old, error, waiting: false }));
			},
		);
		return () => abort.abort();
	}, [device, round, instructionChanges.value]);
	return {
		...state,
		older: () => {
			wanted.current.count = state.rows.length + PAGE;
			setRound(round + 1);
		},
		again: () => setRound(round + 1),
	};
}
