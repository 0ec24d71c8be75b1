// SPDX-License-Identifier: MIT
// pattern: states and classes as 8 by 8 pixels of ink and paper, so that they can be told apart without colour.
import type { Pattern } from "./palette";

export const SIDE = 8;

/** Is there ink at this place? */
export function isInked(pattern: Pattern, x: number, y: number): boolean {
	const u = x & (SIDE - 1);
	const v = y & (SIDE - 1);
	switch (pattern) {
		case "solid":
		case "line":
			return true;
		case "rise":
			return ((u + v) & 3) < 2;
		case "fall":
			return ((u - v) & 7) < 3;
		case "dots":
			return (u & 3) < 2 && (v & 3) < 2;
		case "cross":
			return ((u + v) & 7) < 1 || ((u - v) & 7) < 1;
		case "none":
			return false;
	}
}

/** How much of the colour is in what is not inked. */
export const PAPER = 0.28;
