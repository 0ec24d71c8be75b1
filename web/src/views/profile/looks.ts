// SPDX-License-Identifier: MIT
// looks: colours of where a CPU was. User and kernel are those of the other views; guests are told from them by hue and by
// lightness, so that a print without colour still has four steps.
import type { Mode } from "../../api/profile";
import { dark } from "../../app/theme";

const LOOKS: Readonly<Record<Mode, { readonly light: string; readonly dark: string }>> = {
	user: { light: "#1e7d34", dark: "#4fc06a" },
	kernel: { light: "#0b6fb8", dark: "#58b0f0" },
	guest_user: { light: "#d98a1f", dark: "#f0b45a" },
	guest_kernel: { light: "#8a4fc4", dark: "#c4a3f7" },
	idle: { light: "#e3e7eb", dark: "#2b3138" },
};

export function colorOfMode(mode: Mode): string {
	return dark.value ? LOOKS[mode].dark : LOOKS[mode].light;
}
