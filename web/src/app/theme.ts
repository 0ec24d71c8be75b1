// SPDX-License-Identifier: MIT
// theme: light, dark, or as the system has it. Style sheets look at data-theme of the root; what is drawn on
// a canvas reads `dark` and takes its colours from parts/palette.ts.
import { computed, effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
const KEPT = "kiseki.theme";
const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const systemDark = signal(system?.matches ?? false);

function initial(): Theme {
	const kept = globalThis.localStorage?.getItem(KEPT);
	return kept === "light" || kept === "dark" ? kept : "auto";
}

export const theme = signal<Theme>(initial());
export const dark = computed(() => (theme.value === "auto" ? systemDark.value : theme.value === "dark"));

export function setTheme(next: Theme): void {
	theme.value = next;
	localStorage.setItem(KEPT, next);
}

export function followTheme(): void {
	system?.addEventListener("change", (e) => (systemDark.value = e.matches));
	effect(() => {
		document.documentElement.dataset["theme"] = dark.value ? "dark" : "light";
	});
}
