// SPDX-License-Identifier: MIT
// patterns: states as 8 by 8 pixels of ink and paper, so that they can be told apart without colour. The same tables
// paint the rows and the legend.
import { colorOf, looks, STATES, type State } from "../../parts/palette";
import { isInked, PAPER, SIDE } from "../../parts/pattern";
import { mix, parseColour } from "./names";

export interface Inks {
	/** By state * 64 + y * 8 + x. */
	readonly pixels: Uint32Array;
	/** Of the state, whatever its pattern. */
	readonly colour: Uint32Array;
	readonly isSolid: readonly boolean[];
	readonly height: readonly number[];
	readonly ground: number;
}

function putState(pixels: Uint32Array, at: number, state: State, ground: number): void {
	const ink = parseColour(colorOf(state));
	const paper = looks[state].pattern === "none" ? ground : mix(ink, ground, PAPER);
	for (let y = 0; y < SIDE; y++)
		for (let x = 0; x < SIDE; x++)
			pixels[at + y * SIDE + x] = isInked(looks[state].pattern, x, y) ? ink : paper;
}

/** The tables for a ground colour; to be made again when the theme changes. */
export function makeInks(groundCss: string): Inks {
	const ground = parseColour(groundCss);
	const pixels = new Uint32Array(STATES.length * SIDE * SIDE);
	STATES.forEach((state, i) => putState(pixels, i * SIDE * SIDE, state, ground));
	return {
		pixels,
		colour: Uint32Array.from(STATES, (s) => parseColour(colorOf(s))),
		isSolid: STATES.map((s) => looks[s].pattern === "solid" || looks[s].pattern === "line"),
		height: STATES.map((s) => looks[s].height),
		ground,
	};
}
