// SPDX-License-Identifier: MIT
// picked: a forest with its widths, and what the address picks of it.
import { useMemo } from "preact/hooks";

import type { Change } from "./change";
import { boxOf, type Box, type Forest } from "./forest";
import { matcherOf, search, type Found, type Matcher } from "./search";
import type { FlameState } from "./state";

/** Widths of boxes: of one recording its values, of two those of both together. */
export interface Widths {
	readonly values: Float64Array;
	readonly change: ((box: Box) => Change) | null;
}

export interface Picked extends Widths {
	readonly forest: Forest;
	readonly zoom: Box | null;
	readonly focus: Box | null;
	readonly matches: Matcher | null;
	readonly found: Found | null;
}

/** `forest` and `widths` must be the same on each call as long as they mean the same (useMemo). */
export function usePicked(
	forest: Forest | undefined,
	widths: Widths | null,
	state: FlameState,
): Picked | null {
	const zoom = useMemo(() => (forest ? boxOf(forest, state.zoom) : null), [forest, state.zoom]);
	const matches = useMemo(() => matcherOf(state.find), [state.find]);
	const found = useMemo(
		() => (forest && widths && matches ? search(forest, widths.values, matches, zoom) : null),
		[forest, widths, matches, zoom],
	);
	if (!forest || !widths) return null;
	return { forest, ...widths, zoom, focus: boxOf(forest, state.at), matches, found };
}
