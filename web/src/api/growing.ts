// SPDX-License-Identifier: MIT
// growing: a run that is still recorded, as it is now. Its device says when more came; the run is then asked for again,
// not more often than somebody can look, and whatever depends on it is drawn anew.
import { useEffect, useRef, useState } from "preact/hooks";

import { deviceOf } from "./devices";
import { getRun } from "./runs";
import type { Run } from "./schema";

const PAUSE_MS = 2000;

export interface Growing {
	readonly run: Run;
	readonly isLive: boolean;
}

export function useGrowing(first: Run): Growing {
	const [run, setRun] = useState(first);
	const device = deviceOf(first.device_id);
	const isLive = !run.ended && device?.run === first.run;
	const events = isLive ? (device?.received.events ?? 0) : 0;
	const next = useRef(0);
	useEffect(() => {
		if (!isLive) return undefined;
		const abort = new AbortController();
		const wait = Math.max(0, next.current - Date.now());
		const timer = setTimeout(() => {
			next.current = Date.now() + PAUSE_MS;
			/* What could not be asked for is asked for again when more comes. */
			getRun(first.run, abort.signal).then(setRun, () => undefined);
		}, wait);
		return () => {
			clearTimeout(timer);
			abort.abort();
		};
	}, [first.run, isLive, events]);
	return { run, isLive };
}
