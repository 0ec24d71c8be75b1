// SPDX-License-Identifier: MIT
// alerts: what is out of line with its own past, and was; asked for again and again, whichever view is shown, because the
// frame says how many are open.
//
// Facts are of minutes, so half of one is often enough. Nothing is asked while the page is not in sight. A collector that
// does not watch says so, and is asked less often.
import { signal } from "@preact/signals";

import { getJson, isAbort, Refused } from "./request";
import type { Alerts } from "./schema";

export type Alert = Alerts["alerts"][number];

export const ALERTS_MAX = 1000;
const EACH_MS = 30_000;
const UNWATCHED_MS = 300_000;

export interface AlertList {
	/** The latest first; null: not known yet. */
	readonly alerts: readonly Alert[] | null;
	readonly error: unknown;
	/** When it was asked last, in ms since 1970. */
	readonly atMs: number;
}

export const alertList = signal<AlertList>({ alerts: null, error: null, atMs: 0 });

export function countOpen(alerts: readonly Alert[]): number {
	return alerts.filter((a) => a.until_s === null).length;
}

/** Asks now; what was there stays when it fails. */
export async function refreshAlerts(): Promise<void> {
	try {
		const { alerts } = await getJson<Alerts>("alerts", { limit: ALERTS_MAX });
		alertList.value = { alerts, error: null, atMs: Date.now() };
	} catch (error) {
		if (!isAbort(error)) alertList.value = { ...alertList.value, error, atMs: Date.now() };
	}
}

/** Is nobody watching here, by the collector's own word? */
export function isUnwatched(error: unknown): boolean {
	return error instanceof Refused && error.status === 501;
}

function pauseMs(): number {
	return isUnwatched(alertList.value.error) ? UNWATCHED_MS : EACH_MS;
}

export function followAlerts(): void {
	const look = (): void => {
		if (document.visibilityState === "visible" && Date.now() - alertList.value.atMs >= pauseMs())
			void refreshAlerts();
	};
	document.addEventListener("visibilitychange", look);
	setInterval(look, EACH_MS / 3);
	look();
}
