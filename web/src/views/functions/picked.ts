// SPDX-License-Identifier: MIT
// picked: the paths and what the address picks of them, for all forms in which they are shown.
import type { Change } from "./change";
import type { Box, Forest, Measure } from "./forest";
import type { Found, Matcher } from "./search";

export interface Picked {
	readonly forest: Forest;
	readonly measures: readonly Measure[];
	readonly by: Measure;
	/** Widths: of one selection its values, of two those of both together. */
	readonly values: Float64Array;
	readonly change: ((box: Box) => Change) | null;
	readonly zoom: Box | null;
	readonly focus: Box | null;
	readonly matches: Matcher | null;
	readonly found: Found | null;
}
