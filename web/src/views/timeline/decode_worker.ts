// SPDX-License-Identifier: MIT
// decode_worker: takes answers apart beside the page, so that no frame waits for it. Buffers are handed over, never
// copied; an answer that is no good comes back as its message.
import type { Timeline } from "../../api/schema";
import { decodeCalls, type Calls } from "./calls";
import { buffersOf, decodeSlicesAnswer, type Detail } from "./decode";
import { decodeTimeline, type Overview } from "./overview";

export interface Job {
	readonly id: number;
	readonly kind: "detail" | "overview" | "calls";
	readonly bytes: Uint8Array;
	/** Where the tile ends. */
	readonly endNs: number;
}

export type Done =
	| { readonly id: number; readonly tile: Detail | Overview | Calls }
	| { readonly id: number; readonly problem: string };

export function decodeJob(job: Job): Detail | Overview | Calls {
	if (job.kind === "detail") return decodeSlicesAnswer(job.bytes);
	if (job.kind === "calls") return decodeCalls(job.bytes);
	return decodeTimeline(JSON.parse(new TextDecoder().decode(job.bytes)) as Timeline, job.endNs);
}

function answer(job: Job): void {
	try {
		const tile = decodeJob(job);
		const done: Done = { id: job.id, tile };
		self.postMessage(done, { transfer: buffersOf(tile) });
	} catch (e) {
		const done: Done = { id: job.id, problem: e instanceof Error ? e.message : String(e) };
		self.postMessage(done);
	}
}

self.addEventListener("message", (e: MessageEvent<Job>) => answer(e.data));
