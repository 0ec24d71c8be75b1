// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import signs from "../../src/chart/boot_sign.c?raw";
import model from "../../src/chart/boot_json.c?raw";
import { reasonInJapanese, reasonOf, reasons } from "../chart/reason.js";

type Table = Readonly<Record<string, string>>;
interface Words {
	readonly english: Table;
	readonly japanese: Table;
	readonly given: { readonly signs: Table; readonly groups: Table; readonly states: Table };
	readonly languageOf: (tag: string) => string;
	readonly wordsOf: (language: string) => (key: string, values?: Record<string, string | number>) => string;
}

// The chart's modules are no TypeScript.
const modules = import.meta.glob<Words>("../chart/words.js", { eager: true });
const words = Object.values(modules)[0];
if (!words) throw new Error("there are no words of the chart");
const { english, japanese, given, languageOf, wordsOf } = words;

const isJapanese = (text: string): boolean => /[ぁ-ヿ一-鿿、]/.test(text);
const placesOf = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
/** Words that are the same, or have nothing but values in them. */
const SAME = ["cpuRow", "oneCpu", "cpus", "ofCpu", "noCpu", "leastBefore", "between", "stretch"];

describe("the words of the chart", () => {
	it("are the same ones in both languages", () => {
		expect(Object.keys(japanese)).toEqual(Object.keys(english));
		expect(Object.keys(english).length).toBeGreaterThan(100);
	});
	it("are Japanese in Japanese, and not in English", () => {
		const missing = Object.keys(japanese).filter((k) => !isJapanese(japanese[k] ?? "") && !SAME.includes(k));
		expect(missing).toEqual([]);
		expect(Object.values(english).filter(isJapanese)).toEqual([]);
	});
	it("have the same places for values", () => {
		for (const [key, text] of Object.entries(english))
			expect(placesOf(japanese[key] ?? ""), key).toEqual(placesOf(text));
	});
	it("leave a value as it is, braces too", () => {
		expect(wordsOf("en")("pathTo", { time: "{time} $& 1 s" })).toBe("Path to {time} $& 1 s");
		expect(wordsOf("ja")("matches", { n: 3 })).toBe("3 件");
	});
});

describe("what comes with the data in English", () => {
	const found = (source: string, pattern: RegExp): string[] =>
		[...source.matchAll(pattern)].map((m) => m[1] ?? "");
	it("has a Japanese word for each sign that there is", () => {
		const keys = found(signs, /\[SIGN_\w+\] = \{ "([^"]+)"/g);
		expect(keys.length).toBeGreaterThan(40);
		expect(Object.keys(given.signs).sort()).toEqual(keys.sort());
		expect(Object.values(given.signs).filter((t) => !isJapanese(t))).toEqual([]);
	});
	it("has one for each group of them and each state", () => {
		expect(Object.keys(given.groups).sort()).toEqual(found(signs, /#define [A-Z]+ "([a-z]+)"/g).sort());
		expect(Object.keys(given.states).join("")).toBe(found(model, /letters\[.*\] = "([A-Z]+)"/g)[0]);
	});
});

describe("why something is missing", () => {
	/** All programs that write reasons, with the pieces of a text that C has in several lines put together. */
	const programs = Object.values(
		import.meta.glob<string>("../../src/{analysis,convert,device/boot}/*.c", {
			query: "?raw",
			import: "default",
			eager: true,
		}),
	)
		.join("\n")
		.replace(/" PRIu(32|64)(?=[ ,])/g, '%u"')
		.replace(/"\s*"/g, "")
		.replaceAll('\\"', "~");
	it("is translated as the programs write it now", () => {
		const unknown = reasons
			.flatMap(([text]) => text.replaceAll('"', "~").split(/\{\w+\}|^some |(?=; at most)/))
			.filter((piece) => piece.length > 3 && !programs.includes(piece));
		expect(unknown).toEqual([]);
	});
	it("keeps its values", () => {
		expect(reasonInJapanese("12 events of the scheduler were lost on CPU 3")).toBe(
			"CPU 3 のスケジューライベント 12 件が失われた",
		);
		for (const [text, japanese] of reasons) expect(placesOf(japanese), text).toEqual(placesOf(text));
	});
	it("stays as it is in English, and where it is not known", () => {
		expect(reasonOf({ language: "en" }, "the archive ends too early")).toBe("the archive ends too early");
		expect(reasonOf({ language: "ja" }, "the archive ends too early")).toMatch(/アーカイブ/);
		expect(reasonInJapanese("x the archive ends too early")).toBe("x the archive ends too early");
		expect(reasonInJapanese("1e9 records lost (ring)")).toBe("1e9 records lost (ring)");
	});
});

describe("the language of a browser", () => {
	it("is English where there are no words", () => {
		expect(["ja", "ja-JP", "JA-jp", "jam", "de-DE", "en-GB", ""].map(languageOf)).toEqual([
			"ja",
			"ja",
			"ja",
			"en",
			"en",
			"en",
			"en",
		]);
	});
});
