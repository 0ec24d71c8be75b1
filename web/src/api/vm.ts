// SPDX-License-Identifier: MIT
// vm: what the collector knows about virtual machines: docs/vm.md defines every figure, docs/format/vm-slices.md the spans.
import { getJson } from "./request";
import type { VmReport, VmRows, VmSlices, VmSteal } from "./schema";

export type { VmReport, VmRows, VmSlices, VmSteal } from "./schema";

export type Machine = VmReport["machines"][number];
export type Vcpu = Machine["vcpus"][number];
export type GuestRow = VmRows["rows"][number];
export type Culprit = VmSteal["culprits"][number];
export type Exit = VmSteal["exits"][number];
export type HostTask = VmSlices["tasks"][number];
export type GuestBy = "process" | "thread" | "function";

/** What a virtual CPU's time is divided into; by the numbers of docs/format/vm-slices.md. */
export const CLASSES = [
	"unknown",
	"guest",
	"vmm-kernel",
	"vmm-user",
	"steal",
	"waiting",
	"halt",
	"halt-polling",
	"asleep",
] as const;
export type Class = (typeof CLASSES)[number];

/** A part of a run; null: from its beginning, to its end. */
export interface VmPart {
	readonly run: number;
	readonly from: number | null;
	readonly to: number | null;
}

const rangeOf = (p: VmPart) => ({ from_ns: p.from, to_ns: p.to });

export function getVmReport(
	part: VmPart,
	by: GuestBy,
	limit: number,
	abort?: AbortSignal,
): Promise<VmReport> {
	return getJson<VmReport>(`runs/${part.run}/vm/report`, { ...rangeOf(part), by, limit }, abort);
}

export function getVmSteal(part: VmPart, abort?: AbortSignal): Promise<VmSteal> {
	return getJson<VmSteal>(`runs/${part.run}/vm/steal`, rangeOf(part), abort);
}

/** `width`: pixels that it is drawn on; what is shorter than one is merged. */
export function getVmSlices(part: VmPart, width: number, abort?: AbortSignal): Promise<VmSlices> {
	return getJson<VmSlices>(`runs/${part.run}/vm/slices`, { ...rangeOf(part), width }, abort);
}
