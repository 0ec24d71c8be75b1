// SPDX-License-Identifier: MIT
// going_on: who follows a device looks at the run that it sends. When the device goes on in another, a new one or one
// that it has sent before, the address goes over to that; times of the old run mean nothing there.
import { useEffect } from "preact/hooks";

import { address, setParams } from "../app/address";
import { deviceOf } from "./devices";
import { runsNow } from "./related";
import type { Run } from "./schema";

export function useGoingOn(runs: readonly Run[]): void {
	const follows = address.value.params.get("follow") === "1";
	const now = follows ? runsNow(runs, (id) => deviceOf(id)?.run ?? null)?.join() : undefined;
	useEffect(() => {
		if (now) setParams({ run: now, from: null, to: null, mark: null, sel: null, ev: null });
	}, [now]);
}
