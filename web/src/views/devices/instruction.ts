// SPDX-License-Identifier: MIT
// instruction: what the form says about what to trace, as what is sent and as the command line that does the same.
//
// A field that is left alone is not sent, so the device keeps what it has; that is why nothing is filled in
// beforehand, and why lists have a mode: "all" takes a condition away, which an empty text could not tell from "leave".
import type { Verb } from "../../api/instruct";
import type { Config } from "../../api/schema";
import { quoteShell } from "../../parts/shell";

export const EVENTS = [
	"switch",
	"waking",
	"wakeup",
	"wakeup_new",
	"fork",
	"exec",
	"exit",
	"rename",
	"setprio",
] as const;

export const CHOICES = {
	source: ["auto", "tracefs", "bpf", "driver"],
	policy: ["keep-oldest", "flight-recorder"],
	codec: ["sched", "bsf"],
	func: ["off", "on", "split"],
} as const;
export type ChoiceField = keyof typeof CHOICES;

export const LISTS = ["pid", "comm", "cgroup"] as const;
export type ListField = (typeof LISTS)[number];

export const SIZES = ["flush", "block", "ring", "resolution"] as const;
export type SizeField = (typeof SIZES)[number];

export type Mode = "leave" | "all" | "only";

export interface ListInput {
	readonly mode: Mode;
	readonly text: string;
}

export interface Form {
	readonly choices: Readonly<Record<ChoiceField, string>>;
	readonly events: { readonly mode: Mode; readonly kinds: readonly string[] };
	readonly lists: Readonly<Record<ListField, ListInput>>;
	readonly sizes: Readonly<Record<SizeField, string>>;
}

const LEAVE: ListInput = { mode: "leave", text: "" };
export const EMPTY: Form = {
	choices: { source: "", policy: "", codec: "", func: "" },
	events: { mode: "leave", kinds: ["switch", "waking"] },
	lists: { pid: LEAVE, comm: LEAVE, cgroup: LEAVE },
	sizes: { flush: "", block: "", ring: "", resolution: "" },
};

function listOf(text: string): string[] {
	return text
		.split(",")
		.map((x) => x.trim())
		.filter((x) => x !== "");
}

/** Fields that say "only" and then name nothing: sent, they would take the condition away. */
export function unfinished(form: Form): readonly (ListField | "events")[] {
	const lists = LISTS.filter((f) => form.lists[f].mode === "only" && !listOf(form.lists[f].text).length);
	return form.events.mode === "only" && !form.events.kinds.length ? [...lists, "events"] : lists;
}

/** What is sent: only what was said. */
export function configOf(form: Form): Config {
	const out: Record<string, unknown> = {};
	for (const [field, value] of Object.entries(form.choices)) if (value) out[field] = value;
	if (form.events.mode === "all") out["events"] = ["all"];
	if (form.events.mode === "only") out["events"] = EVENTS.filter((e) => form.events.kinds.includes(e));
	for (const field of LISTS) {
		const { mode, text } = form.lists[field];
		/* Numbers as text: the collector takes either, and says in its own words what is no pid. */
		if (mode === "all") out[field] = [];
		if (mode === "only") out[field] = field === "pid" ? listOf(text).join(",") : listOf(text);
	}
	for (const field of SIZES) if (form.sizes[field].trim()) out[field] = form.sizes[field].trim();
	return out as Config;
}

export function formatValue(value: unknown): string {
	return Array.isArray(value) ? value.map(String).join(",") : String(value);
}

/** `kiseki start …`: what does the same from a shell. */
export function commandOf(verb: Verb, names: readonly string[], config: Config): string {
	const options =
		verb === "stop"
			? []
			: Object.entries(config).flatMap(([field, value]) => [`--${field}`, quoteShell(formatValue(value))]);
	return ["kiseki", verb, ...names.map(quoteShell), ...options].join(" ");
}
