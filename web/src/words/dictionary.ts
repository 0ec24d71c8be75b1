// SPDX-License-Identifier: MIT
// dictionary: every word that a person reads, in each language.
//
// Whoever shows words has a table of them beside it (`words.ts`), made here: English gives the keys, and a
// language that lacks one does not compile. "{name}" in a text takes an argument, and
// "{n|thread|threads}" is the first word if that is 1. What `of()` returns reads
// a signal, so whatever was drawn with it is drawn again when the language changes.
import { signal } from "@preact/signals";

export type Language = "en" | "ja";
export const languages: Record<Language, string> = { en: "English", ja: "日本語" };

const KEPT = "kiseki.language";

function initial(): Language {
	const kept = globalThis.localStorage?.getItem(KEPT);
	if (kept === "en" || kept === "ja") return kept;
	return globalThis.navigator?.language?.startsWith("ja") ? "ja" : "en";
}

export const language = signal<Language>(initial());

export function setLanguage(next: Language): void {
	language.value = next;
	globalThis.localStorage?.setItem(KEPT, next);
	document.documentElement.lang = next;
}

export type Arguments = Readonly<Record<string, string | number>>;
export type Words<K extends string> = (key: K, values?: Arguments) => string;

/** A table of words; the second language must have exactly the keys of the first. */
export function dictionary<K extends string>(
	en: Record<K, string>,
	ja: Record<NoInfer<K>, string>,
): Words<K> {
	const tables: Record<Language, Record<K, string>> = { en, ja };
	return (key, values) => {
		const text = tables[language.value][key];
		if (!values) return text;
		return text
			.replace(/\{(\w+)\|([^|}]*)\|([^}]*)\}/g, (_, name: string, one: string, many: string) =>
				String(values[name]) === "1" ? one : many,
			)
			.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
	};
}
