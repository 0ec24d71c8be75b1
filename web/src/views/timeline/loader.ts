// SPDX-License-Identifier: MIT
// loader: fetches tiles. It is told again and again what is wanted now; it gives up what is not wanted any more, asks
// for the most wanted first, a few at a time, and hands what comes to the worker. An answer "too many events" is
// remembered with its source, and the plan will then want the overview of that place.
import { isAbort, Refused } from "../../api/request";
import { getCalls, getOverview, getSlices } from "../../api/timeline";
import type { Calls } from "./calls";
import type { Detail } from "./decode";
import type { Done, Job } from "./decode_worker";
import { takeEarly, takeWorker, WHOLE_SIZE } from "./early";
import type { Overview } from "./overview";
import { DETAIL_EVENTS, leastCall, OVERVIEW_TASKS, overviewWidth, type Wish } from "./plan";
import type { CallSource, Source } from "./source";
import { keyOf, tileSpan } from "./tiles";

const AT_ONCE = 3;
const CALLS_MAX = 100_000;
const RETRY_MS = 2000;
const TOO_MANY = 413;

interface Flight {
	readonly abort: AbortController;
	readonly wish: Wish;
}

export class Loader {
	/** What was known of a growing run when the tile was last asked for. */
	readonly versions = new Map<string, number>();
	private wishes: readonly Wish[] = [];
	private readonly flights = new Map<string, Flight>();
	private readonly failed = new Map<string, number>();
	private readonly jobs = new Map<number, (done: Done) => void>();
	private readonly worker: Worker;
	private nextJob = 0;
	private isClosed = false;

	constructor(
		private readonly arrived: (wish: Wish) => void,
		private readonly refused: (error: unknown, wish: Wish) => void,
	) {
		this.worker = takeWorker();
		this.worker.onmessage = (e: MessageEvent<Done>) => {
			const take = this.jobs.get(e.data.id);
			this.jobs.delete(e.data.id);
			take?.(e.data);
		};
	}

	close(): void {
		this.isClosed = true;
		for (const flight of this.flights.values()) flight.abort.abort();
		this.worker.terminate();
	}

	/** Is the whole run's overview being asked for? */
	isFlying(source: Source): boolean {
		return this.flights.has(`${source.run.run}:whole:0/0`);
	}

	/** Tiles in sight that have not come yet. */
	get pending(): number {
		return this.wishes.reduce((n, w) => n + (w.inSight && !this.failed.has(w.key) ? 1 : 0), 0);
	}

	want(wishes: readonly Wish[]): void {
		if (this.isClosed) return;
		this.wishes = wishes;
		const keys = new Set(wishes.map((w) => w.key));
		for (const [key, flight] of this.flights) if (!keys.has(key)) flight.abort.abort();
		this.start();
	}

	private start(): void {
		const now = performance.now();
		for (const wish of this.wishes) {
			if (this.flights.size >= AT_ONCE) return;
			const failedAt = this.failed.get(wish.key);
			if (this.flights.has(wish.key) || (failedAt !== undefined && now - failedAt < RETRY_MS)) continue;
			this.fly(wish);
		}
	}

	private fly(wish: Wish): void {
		const abort = new AbortController();
		this.flights.set(wish.key, { abort, wish });
		this.versions.set(wish.key, wish.source.version);
		this.load(wish, abort.signal)
			.then(
				() => {
					this.failed.delete(wish.key);
				},
				(error: unknown) => this.fail(wish, error),
			)
			.finally(() => {
				this.flights.delete(wish.key);
				if (this.isClosed) return;
				if (!abort.signal.aborted) {
					this.wishes = this.wishes.filter((w) => w.key !== wish.key);
					this.arrived(wish);
				}
				this.start();
			});
	}

	private fail(wish: Wish, error: unknown): void {
		if (isAbort(error)) {
			this.versions.delete(wish.key);
			return;
		}
		if (error instanceof Refused && error.status === TOO_MANY) {
			if (wish.kind !== "calls") {
				wish.source.dense.add(keyOf(wish.id));
				return;
			}
		}
		this.failed.set(wish.key, performance.now());
		this.versions.delete(wish.key);
		this.refused(error, wish);
	}

	private async load(wish: Wish, abort: AbortSignal): Promise<void> {
		const { source, id } = wish;
		const span = tileSpan(id);
		const run = source.run.run;
		if (wish.kind === "detail") {
			const bytes = await getSlices(run, span, DETAIL_EVENTS, abort);
			source.putDetail(id, await this.decode<Detail>({ kind: "detail", bytes, endNs: span.to }));
			return;
		}
		if (wish.kind === "calls") {
			if (wish.from) await this.loadCalls(wish, wish.from, abort);
			return;
		}
		const isWhole = wish.kind === "whole";
		const bytes = await (isWhole
			? this.askWhole(run, abort)
			: getOverview(run, span, { width: overviewWidth(source, id), tasks: OVERVIEW_TASKS }, abort));
		const endNs = isWhole ? (source.live ? Infinity : 0) : span.to;
		const tile = await this.decode<Overview>({ kind: "overview", bytes, endNs });
		if (isWhole) source.putWhole(tile);
		else source.putOverview(id, tile);
	}

	private askWhole(run: number, abort: AbortSignal): Promise<Uint8Array> {
		return takeEarly(run) ?? getOverview(run, null, WHOLE_SIZE, abort);
	}

	private async loadCalls(wish: Wish, from: CallSource, abort: AbortSignal): Promise<void> {
		const span = tileSpan(wish.id);
		const range = { from: span.from - from.offset, to: span.to - from.offset };
		if (range.to <= 0) return;
		const size = { limit: CALLS_MAX, min_ns: leastCall(wish.id) };
		const bytes = await getCalls(from.run, range, size, abort);
		wish.source.putCalls(from, wish.id, await this.decode<Calls>({ kind: "calls", bytes, endNs: span.to }));
	}

	private decode<T extends Detail | Overview | Calls>(job: Omit<Job, "id">): Promise<T> {
		const id = this.nextJob++;
		return new Promise<T>((resolve, reject) => {
			this.jobs.set(id, (done) =>
				"tile" in done ? resolve(done.tile as T) : reject(new Error(done.problem)),
			);
			const whole: Job = { ...job, id };
			this.worker.postMessage(whole, [job.bytes.buffer as ArrayBuffer]);
		});
	}
}
