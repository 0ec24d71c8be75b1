// SPDX-License-Identifier: MIT
// which: the devices that a text means. Without DOM, so that it can be tested.
//
// Words have commas between them. KEY=VALUE is a label, and a device must have all that are named; `group=` is its group.
// Other words are names or ids, and one of them must fit. `*` and `?` stand for any letters in values and names. What the collector
// understands by itself goes to it as it is: that may mean any number of devices. The rest is looked up here.
import type { LabelTable } from "../../api/fleet";
import type { Device } from "../../api/schema";

/** A question has room for so many; beyond it labels must do. */
export const NAMED_MAX = 200;
const ID_DIGITS = 12;

export interface Which {
	/** For the collector; "" is all of them. */
	readonly query: string;
	/** Those that are known to be meant. */
	readonly devices: readonly Device[];
	readonly problem: "" | "none" | "many";
}

const EVERY = /[*?]/;

export function fitsPattern(pattern: string, text: string): boolean {
	const escaped = pattern.replace(/[\\^$.+()[\]{}|]/g, "\\$&");
	return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "isu").test(text);
}

export function wordsOf(text: string): readonly string[] {
	return text
		.split(",")
		.map((w) => w.trim())
		.filter((w) => w !== "");
}

function fitsLabel(word: string, device: Device, labels: LabelTable): boolean {
	const cut = word.indexOf("=");
	const [key, value] = [word.slice(0, cut), word.slice(cut + 1)];
	const own = labels.get(device.id)?.[key];
	if (own !== undefined && fitsPattern(value, own)) return true;
	return key === "group" && fitsPattern(value, device.group ?? "");
}

function fitsName(word: string, device: Device): boolean {
	return fitsPattern(word, device.name) || (word.length >= 6 && device.id.startsWith(word.toLowerCase()));
}

/** Would the collector understand it? */
function isPlain(words: readonly string[]): boolean {
	const labels = words.filter((w) => w.includes("="));
	return (
		(labels.length === 0 || labels.length === words.length) &&
		!words.some((w) => EVERY.test(w) || w.startsWith("group="))
	);
}

export function whichDevices(text: string, devices: readonly Device[], labels: LabelTable): Which {
	const words = wordsOf(text);
	if (!words.length) return { query: "", devices, problem: "" };
	const named = words.filter((w) => !w.includes("="));
	const labelled = words.filter((w) => w.includes("="));
	const fitting = devices.filter(
		(d) =>
			labelled.every((w) => fitsLabel(w, d, labels)) && (!named.length || named.some((w) => fitsName(w, d))),
	);
	if (isPlain(words)) return { query: words.join(","), devices: fitting, problem: "" };
	if (!fitting.length) return { query: "", devices: [], problem: "none" };
	if (fitting.length === devices.length) return { query: "", devices, problem: "" };
	if (fitting.length > NAMED_MAX) return { query: "", devices: fitting, problem: "many" };
	return { query: fitting.map((d) => d.id.slice(0, ID_DIGITS)).join(","), devices: fitting, problem: "" };
}
