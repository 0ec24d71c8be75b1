// SPDX-License-Identifier: MIT
// formats: what a recording can be exported as, and where each file is.
import { queryOf, WHOLE, type Extent, type Range } from "./extent";
import { getJson, urlOf } from "./request";
import type { Formats, Run } from "./schema";

export type Format = Formats["formats"][number];

let known: Promise<readonly Format[]> | null = null;

/** The collector's own list; it does not change while it runs. */
export function listFormats(): Promise<readonly Format[]> {
	known ??= getJson<Formats>("formats").then(
		(answer) => answer.formats,
		(error: unknown) => {
			known = null;
			throw error;
		},
	);
	return known;
}

export function formatsOf(run: Run, formats: readonly Format[]): readonly Format[] {
	return formats.filter((f) => f.kinds.some((kind) => run.kinds.includes(kind)));
}

/** Only events of the scheduler can be cut; programs and boots are exported whole. */
export function hasRange(run: Run): boolean {
	return run.kinds.includes("sched");
}

/** A run, and the part of it that is meant; without its extent, all of it. */
export interface Part {
	readonly run: Run;
	readonly extent: Extent | null;
	readonly range: Range;
}

export function wholeOf(run: Run): Part {
	return { run, extent: null, range: WHOLE };
}

export function exportPath(part: Part): string {
	return `runs/${part.run.run}/export`;
}

export function exportQuery(part: Part, format: string): Record<string, string> {
	return { format, ...(part.extent ? queryOf(part.extent, part.range) : {}) };
}

export function exportUrl(part: Part, format: string): string {
	return urlOf(exportPath(part), exportQuery(part, format));
}

/** Names of files are made of harmless letters only, whatever a device calls itself. */
export function fileName(parts: readonly (string | number)[], ending: string): string {
	const safe = parts
		.map((p) =>
			String(p)
				.replace(/[^A-Za-z0-9._-]+/g, "_")
				.replace(/^[._-]+/, ""),
		)
		.filter((p) => p !== "");
	return `${safe.join("-") || "kiseki"}${ending}`;
}

/** A folder of files comes as an archive of it. */
export function endingOf(format: Format): string {
	return format.type === "application/x-tar" ? `${format.ending}.tar` : format.ending;
}
