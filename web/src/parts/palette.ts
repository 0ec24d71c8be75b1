// SPDX-License-Identifier: MIT
// palette: what states look like, in both themes, and without colour.
//
// Colours are told apart by people with the usual colour blindnesses and have a contrast of at least 3:1 to the
// ground; besides, each state has its own height or pattern, so a black-and-white print still tells them apart.
import { dark } from "../app/theme";

export type State =
	| "unknown"
	| "running"
	| "runnable"
	| "preempted"
	| "sleeping"
	| "blocked"
	| "stopped"
	| "dead"
	| "idle"
	| "unborn";

/** By the numbers of docs/format/slices.md. */
export const STATES: readonly State[] = [
	"unknown",
	"running",
	"runnable",
	"preempted",
	"sleeping",
	"blocked",
	"stopped",
	"dead",
	"idle",
	"unborn",
];

export type Pattern = "solid" | "rise" | "fall" | "dots" | "cross" | "line" | "none";

export interface Look {
	readonly light: string;
	readonly dark: string;
	readonly pattern: Pattern;
	/** Share of the row's height. */
	readonly height: number;
}

export const looks: Readonly<Record<State, Look>> = {
	running: { light: "#1e7d34", dark: "#4fc06a", pattern: "solid", height: 1 },
	runnable: { light: "#c26a00", dark: "#f0a33a", pattern: "rise", height: 0.7 },
	preempted: { light: "#b3261e", dark: "#ff8a80", pattern: "fall", height: 0.7 },
	sleeping: { light: "#8a929a", dark: "#6f7881", pattern: "line", height: 0.15 },
	blocked: { light: "#6a3fb5", dark: "#b794f6", pattern: "cross", height: 0.5 },
	stopped: { light: "#00767a", dark: "#4dd0d6", pattern: "dots", height: 0.5 },
	dead: { light: "#444444", dark: "#bbbbbb", pattern: "none", height: 0 },
	idle: { light: "#8a929a", dark: "#6f7881", pattern: "line", height: 0.1 },
	unknown: { light: "#d33a7c", dark: "#ff7fb0", pattern: "cross", height: 1 },
	unborn: { light: "#444444", dark: "#bbbbbb", pattern: "none", height: 0 },
};

export function colorOf(state: State): string {
	return dark.value ? looks[state].dark : looks[state].light;
}

/** Of tasks on CPU rows, of functions in flame graphs: the same name has the same colour everywhere. */
export function colorOfName(name: string): string {
	let h = 0x811c9dc5;
	for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193) >>> 0;
	const hue = h % 360;
	const shade = (h >>> 9) % 3;
	return dark.value ? `hsl(${hue} 45% ${38 + 6 * shade}%)` : `hsl(${hue} 55% ${72 + 5 * shade}%)`;
}
