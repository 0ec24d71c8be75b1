// SPDX-License-Identifier: MIT
// commands: what is shown, as command lines of `kiseki` that do the same for exactly this part. Without DOM.
//
// `kiseki report` reads files, so the part comes through a pipe from `kiseki export`, as .ksk, which holds everything.
// Times are lengths after the recording's first event, exact to the nanosecond.
import { queryOf } from "../api/extent";
import { fileName, hasRange, type Part } from "../api/formats";
import { quoteShell } from "../parts/shell";

export interface CommandLine {
	readonly id: "export" | "sched" | "latency" | "ledger" | "func" | "boot" | "bootReport" | "profile" | "vm";
	readonly text: string;
}

const DEFAULTS = ["http://127.0.0.1:8080", "http://localhost:8080"];

/** Where the commands find the collector; nothing where they look by themselves. */
function serverOf(origin: string): readonly string[] {
	return DEFAULTS.includes(origin) ? [] : ["--server", quoteShell(origin)];
}

function rangeOf(part: Part): readonly string[] {
	const { from, to } = part.extent && hasRange(part.run) ? queryOf(part.extent, part.range) : {};
	return [...(from ? ["--from", from] : []), ...(to ? ["--to", to] : [])];
}

function join(words: readonly (string | number)[]): string {
	return words.join(" ");
}

export function commandsOf(part: Part, origin: string): readonly CommandLine[] {
	const { run } = part;
	const server = serverOf(origin);
	const has = (kind: (typeof run.kinds)[number]): boolean => run.kinds.includes(kind);
	const base = ["kiseki", "export", "--run", run.run, ...rangeOf(part)];
	const out = (ending: string): string => quoteShell(fileName([run.device, run.run], ending));
	const piped = (report: string): string =>
		`${join([...base, "-f", "ksk", "-o", "-", ...server])} | kiseki report ${report} -`;
	return [
		...(has("sched")
			? ([
					{ id: "export", text: join([...base, "-o", out(".pftrace"), ...server]) },
					{ id: "latency", text: piped("latency") },
					{ id: "sched", text: piped("sched") },
				] as const)
			: ([{ id: "export", text: join([...base, "-o", out(".ksk"), ...server]) }] as const)),
		...(has("func")
			? ([{ id: "func", text: join(["kiseki", "func", "report", run.run, ...server]) }] as const)
			: []),
		...(has("boot")
			? ([
					{ id: "boot", text: join(["kiseki", "boot", "chart", run.run, "-o", out(".html"), ...server]) },
					{ id: "bootReport", text: join(["kiseki", "boot", "report", run.run, ...server]) },
				] as const)
			: []),
		...(has("profile")
			? ([{ id: "profile", text: join(["kiseki", "profile", "report", run.run, ...server]) }] as const)
			: []),
		...(run.profile?.has_guests
			? ([{ id: "vm", text: join(["kiseki", "vm", "report", run.run, ...server]) }] as const)
			: []),
		{ id: "ledger", text: join(["kiseki", "ledger", run.run, ...server]) },
	];
}
