// SPDX-License-Identifier: MIT
// keys: what the keyboard does, in one list, so that the help can show all of it.
//
// A view adds its keys while it is shown (`useKeys`). Keys are names of KeyboardEvent.key in lower case, with
// "ctrl+", "shift+" in front where they matter; a letter alone is never taken while somebody types text.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Key {
	readonly keys: readonly string[];
	/** What it does, for the help; a function, because the language may change. */
	readonly what: () => string;
	readonly run: (e: KeyboardEvent) => void;
	/** Also called when the key is let go; then a repeated keydown is not passed on. */
	readonly release?: (e: KeyboardEvent) => void;
}

export const activeKeys = signal<readonly Key[]>([]);

export function nameKey(
	e: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">,
): string {
	const name = e.key === " " ? "space" : e.key.toLowerCase();
	const shift = e.shiftKey && name.length > 1 ? "shift+" : "";
	return `${e.ctrlKey || e.metaKey ? "ctrl+" : ""}${e.altKey ? "alt+" : ""}${shift}${name}`;
}

/** A box that was just ticked has the focus, and takes no letters. */
function isTyping(target: EventTarget | null, key: string): boolean {
	if (!(target instanceof HTMLElement)) return false;
	if (target instanceof HTMLInputElement && target.type === "checkbox") return key === " ";
	return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function find(e: KeyboardEvent): Key | undefined {
	const name = nameKey(e);
	return activeKeys.value.findLast((k) => k.keys.includes(name));
}

export function followKeys(): void {
	document.addEventListener("keydown", (e) => {
		if (isTyping(e.target, e.key) && e.key !== "Escape") return;
		if (e.target instanceof HTMLDialogElement || document.querySelector("dialog[open]")) return;
		const key = find(e);
		if (!key) return;
		e.preventDefault();
		if (!(key.release && e.repeat)) key.run(e);
	});
	document.addEventListener("keyup", (e) => {
		for (const key of activeKeys.value) if (key.release && key.keys.includes(nameKey(e))) key.release(e);
	});
}

/** Keys of a component while it is there; the list must be the same on each call (useMemo, or a constant). */
export function useKeys(keys: readonly Key[]): void {
	useEffect(() => {
		activeKeys.value = [...activeKeys.value, ...keys];
		return () => {
			activeKeys.value = activeKeys.value.filter((k) => !keys.includes(k));
		};
	}, [keys]);
}
