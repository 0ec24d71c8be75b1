// SPDX-License-Identifier: MIT
// looks: what the classes of a virtual CPU's time look like, in both themes, and without colour.
//
// Time in the guest has the colour of what ran there and stands full. What was taken from it (steal, waiting) stands full,
// too, in warm colours with lines: that is what one looks for. Work of the VMM is lower and has lines or dots; idle is
// a thin line. So a print without colour still tells them apart.
import type { Class } from "../../api/vm";
import { dark } from "../../app/theme";
import { colorOfName, type Look } from "../../parts/palette";

export const LOOKS: Readonly<Record<Class, Look>> = {
	guest: { light: "#1e7d34", dark: "#4fc06a", pattern: "solid", height: 1 },
	"vmm-kernel": { light: "#0b6fb8", dark: "#58b0f0", pattern: "solid", height: 0.6 },
	"vmm-user": { light: "#6a3fb5", dark: "#b794f6", pattern: "dots", height: 0.6 },
	steal: { light: "#b3261e", dark: "#ff8a80", pattern: "fall", height: 1 },
	waiting: { light: "#c26a00", dark: "#f0a33a", pattern: "rise", height: 1 },
	halt: { light: "#8a929a", dark: "#6f7881", pattern: "line", height: 0.14 },
	"halt-polling": { light: "#00767a", dark: "#4dd0d6", pattern: "dots", height: 0.35 },
	asleep: { light: "#57606a", dark: "#a4adb6", pattern: "rise", height: 0.3 },
	unknown: { light: "#d33a7c", dark: "#ff7fb0", pattern: "cross", height: 1 },
};

export function colorOfClass(cls: Class): string {
	return dark.value ? LOOKS[cls].dark : LOOKS[cls].light;
}

/** The same wherever it is: beside its name, on the CPUs that it had, in the flame graph. */
export function colorOfMachine(vm: number): string {
	return colorOfName(`VM ${vm}`);
}
