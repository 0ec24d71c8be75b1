// SPDX-License-Identifier: MIT
// loaded: something that has to be asked for, while it is asked for, when it came, and when it did not. A new
// question gives the old one up; what was there stays on the screen until the new answer comes.
import { useEffect, useState } from "preact/hooks";

import { isAbort } from "../api/request";

export interface Loaded<T> {
	readonly value: T | undefined;
	readonly error: unknown;
	readonly waiting: boolean;
	readonly again: () => void;
}

/** `inputs` are what the question depends on; null in `ask` means there is nothing to ask yet. */
export function useLoaded<T>(
	ask: ((abort: AbortSignal) => Promise<T>) | null,
	inputs: readonly unknown[],
): Loaded<T> {
	const [state, setState] = useState<Omit<Loaded<T>, "again">>({
		value: undefined,
		error: null,
		waiting: true,
	});
	const [round, setRound] = useState(0);
	useEffect(() => {
		if (!ask) return undefined;
		const abort = new AbortController();
		setState((old) => ({ ...old, waiting: true }));
		ask(abort.signal).then(
			(value) => abort.signal.aborted || setState({ value, error: null, waiting: false }),
			(error: unknown) => {
				if (!isAbort(error)) setState((old) => ({ ...old, error, waiting: false }));
			},
		);
		return () => abort.abort();
	}, [...inputs, round]);
	return { ...state, again: () => setRound(round + 1) };
}
