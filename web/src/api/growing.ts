// SPDX-License-Identifier: MIT
// growing: a run that is still recorded, as it is now. Whoever records a profile sends it without being a device that is
// there, so nobody says that more came: the run is asked for again until it has ended, less and less often while nothing
// comes, and not at all while nobody looks.
import { useEffect, useState } from "preact/hooks";

import { isAbort } from "./request";
import { getRun } from "./runs";
import type { Run } from "./schema";

const PAUSE_MS = 2000;
const PAUSE_MAX_MS = 30_000;

export interface Growing {
	readonly run: Run;
	/** More came not long ago. */
	readonly isLive: boolean;
}

/** How long to wait before the next question. */
export function nextPause(pauseMs: number, grew: boolean): number {
	return grew ? PAUSE_MS : Math.min(2 * pauseMs, PAUSE_MAX_MS);
}

export function useGrowing(first: Run): Growing {
	const [growing, setGrowing] = useState<Growing>({ run: first, isLive: false });
	useEffect(() => {
		const abort = new AbortController();
		let timer = 0;
		let pause = PAUSE_MS;
		let run = first;
		let hasGrown = false;
		const ask = async (): Promise<void> => {
			if (!document.hidden) {
				const now = await getRun(first.run, abort.signal);
				const grew = now.events !== run.events;
				hasGrown ||= grew;
				pause = nextPause(pause, grew);
				run = now;
				/* What comes, comes in blocks: a question between two of them finds nothing new. */
				setGrowing({ run: now, isLive: hasGrown && pause < PAUSE_MAX_MS && !now.ended });
			}
			if (!run.ended) later();
		};
		const later = (): void => {
			timer = window.setTimeout(
				() =>
					void ask().catch((e: unknown) => {
						pause = nextPause(pause, false);
						if (!isAbort(e)) later();
					}),
				pause,
			);
		};
		if (!first.ended) later();
		return () => {
			clearTimeout(timer);
			abort.abort();
		};
	}, [first.run]);
	return growing;
}
