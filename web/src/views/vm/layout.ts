// SPDX-License-Identifier: MIT
// layout: which row is where: a caption for each machine, its virtual CPUs below it, then the physical CPUs.
import type { Lane, Lanes } from "./lanes";

export const LANE_PX = 30;
export const CAPTION_PX = 22;

export interface Row {
	readonly top: number;
	readonly height: number;
	/** Null: a caption. */
	readonly lane: Lane | null;
	/** Of a caption: the machine, or null for the physical CPUs. */
	readonly vm: number | null;
	readonly name: string | null;
}

export interface Layout {
	readonly rows: readonly Row[];
	readonly height: number;
}

export function layOut(lanes: Lanes): Layout {
	const rows: Row[] = [];
	let top = 0;
	const put = (height: number, row: Omit<Row, "top" | "height">): void => {
		rows.push({ top, height, ...row });
		top += height;
	};
	let vm: number | null = null;
	for (const lane of lanes.vcpus) {
		if (lane.vm !== vm) put(CAPTION_PX, { lane: null, vm: lane.vm, name: lane.name });
		vm = lane.vm;
		put(LANE_PX, { lane, vm, name: lane.name });
	}
	if (lanes.cpus.length) put(CAPTION_PX, { lane: null, vm: null, name: null });
	for (const lane of lanes.cpus) put(LANE_PX, { lane, vm: null, name: null });
	return { rows, height: top };
}

export function rowAt(layout: Layout, y: number): Row | null {
	return layout.rows.find((r) => y >= r.top && y < r.top + r.height) ?? null;
}
