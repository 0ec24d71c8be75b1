// SPDX-License-Identifier: MIT
// picked: the paths and what the address picks of them, for all forms in which they are shown.
import type { Picked as Graphed } from "../../flame/picked";
import type { Forest, Measure } from "./forest";

export interface Picked extends Graphed {
	readonly forest: Forest;
	readonly measures: readonly Measure[];
	readonly by: Measure;
}
