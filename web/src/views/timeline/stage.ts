// SPDX-License-Identifier: MIT
// stage: the moving picture. It holds what is in sight, asks for tiles, and draws a frame whenever something has
// changed, never otherwise. The address is the truth: what is chosen comes from it (`apply`), and movements are
// written back to it when they have come to rest.
import { signal } from "@preact/signals";

import type { ChainStep } from "../../api/timeline";
import { Follow } from "./follow";
import { callSlice, sliceAt, type Slice } from "./hit";
import { CALL_HEIGHT, makeLayout, type Layout } from "./layout";
import { Loader } from "./loader";
import { Motion, type Held } from "../../parts/motion";
import { coverKey, makeCover, rowUnder, rowY, type Cover } from "./picture";
import { parsePlace, type Chosen, type Place } from "./place";
import { planSource, type Wish } from "./plan";
import { clampSpan, lengthOf, panSpan, toNs, toX, zoomSpan, type Span } from "../../parts/scale";
import { Screen, type Canvases } from "./screen";
import { alignStarts, type Source } from "./source";
import { levelOf } from "./tiles";

const REST_MS = 250; /* after so long without movement the address is written */
const TAIL_MS = 120; /* between two questions for the growing end while it is followed */
const WHOLE_MS = 3000; /* between two questions for the whole of a growing run */
const FOLLOW_NS = 5e9;
const AHEAD_NS = 0.4e9;
const EMPTY: Layout = { pinned: [], pinnedHeight: 0, rows: [], height: 0, byId: new Map() };

export interface Hover {
	readonly x: number;
	readonly y: number;
	readonly ns: number;
	readonly slice: Slice | null;
}

export class Stage {
	readonly layout = signal<Layout>(EMPTY);
	readonly scrollTop = signal(0);
	readonly span = signal<Span>({ from: 0, to: 1e9 });
	readonly slice = signal<Slice | null>(null);
	readonly hover = signal<Hover | null>(null);
	readonly error = signal<unknown>(null);
	readonly isReady = signal(false);
	readonly lossesInSight = signal(0);
	readonly held: Held = { left: false, right: false, closer: false, wider: false };
	/** Some of what is in sight has not come yet. */
	readonly isPending = signal(true);
	/** One of the runs still grows. */
	readonly isLive = signal(false);
	private readonly placed = signal<Place>(parsePlace(new Map()));
	chain: { readonly source: Source; readonly steps: readonly ChainStep[] } | null = null;
	/** Where zooming by keys is centred; null: the middle. */
	pointerNs: number | null = null;

	private view: Span = { from: 0, to: 1e9 };
	private isPlaced = false;
	private readonly loader: Loader;
	private readonly motion = new Motion();
	private readonly follow = new Follow();
	private screen: Screen | null = null;
	private covers: Cover[] = [];
	private coverKeys: string[] = [];
	private arrivals = 0;
	private tasksVersion = -1;
	private frameId = 0;
	private frameMs = 0;
	private restTimer = 0;
	private tailTimer = 0;
	private wholeMs = 0;

	constructor(
		readonly sources: readonly Source[],
		private readonly rested: (span: Span) => void,
	) {
		this.loader = new Loader(
			(wish) => this.arrived(wish),
			(error) => (this.error.value = error),
		);
		this.plan();
	}

	close(): void {
		cancelAnimationFrame(this.frameId);
		clearTimeout(this.restTimer);
		clearTimeout(this.tailTimer);
		this.loader.close();
	}

	attach(canvases: Canvases): void {
		this.screen = new Screen(canvases);
		this.redraw();
	}

	resize(width: number, height: number, ratio: number): void {
		this.screen?.resize(width, height, ratio);
		this.redraw();
	}

	/** What the address says; whoever draws with it is drawn again when it changes. */
	get place(): Place {
		return this.placed.value;
	}

	get bounds(): Span {
		let from = Infinity;
		let to = 0;
		for (const s of this.sources) {
			if (!s.whole) continue;
			from = Math.min(from, s.start + s.shift);
			to = Math.max(to, s.end + s.shift);
		}
		return to > from ? { from, to } : { from: 0, to: 1e9 };
	}

	get width(): number {
		return this.screen?.cssWidth ?? 1;
	}

	/** What it is drawn on; null while it is not. */
	get shown(): Screen | null {
		return this.screen;
	}

	/** What is in sight, at this very moment. */
	get now(): Span {
		return this.view;
	}

	// --- what the address says ---

	apply(place: Place): void {
		const old = this.place;
		this.placed.value = place;
		if (place.span && (place.span.from !== old.span?.from || place.span.to !== old.span?.to)) {
			if (!this.isOwn(place.span)) this.setSpan(place.span);
			this.isPlaced = true;
		}
		if (place.follow && !old.follow) this.startFollow();
		this.makeRows();
		this.resolve();
		this.redraw();
	}

	/** The address has what this stage wrote there itself, rounded. */
	private isOwn(span: Span): boolean {
		return Math.abs(span.from - this.view.from) <= 1 && Math.abs(span.to - this.view.to) <= 1;
	}

	makeRows(): void {
		this.tasksVersion = this.countVersions();
		this.layout.value = makeLayout(
			this.sources.map((s) => ({ run: s.run.run, cpus: s.cpus, tasks: s.tasks, depths: s.depths })),
			{ ...this.place, heads: this.sources.length > 1 },
		);
		this.redraw();
	}

	private countVersions(): number {
		return this.sources.reduce((n, s) => n + s.tasks.version + s.cpus + s.laneVersion, 0);
	}

	/** The chosen slice, as much of it as is known by now. */
	private resolve(): void {
		const { chosen } = this.place;
		this.slice.value = chosen ? this.sliceOf(chosen) : null;
	}

	sliceOf(chosen: Chosen): Slice | null {
		const row = this.layout.value.byId.get(chosen.rowId);
		const source = row && this.sources[row.source];
		if (!row || !source) return null;
		const level = levelOf(lengthOf(this.view));
		if (chosen.depth !== null) return callSlice(source, row, chosen.depth, chosen.ns, level);
		return sliceAt(source, row, chosen.ns, level);
	}

	// --- movement ---

	setSpan(span: Span): void {
		/* Before the first answer nobody knows what may be shown; the address is believed. */
		this.view = this.isReady.value ? clampSpan(span, this.wide()) : span;
		this.isPlaced = true;
		this.redraw();
		clearTimeout(this.restTimer);
		this.restTimer = window.setTimeout(() => this.rest(), REST_MS);
	}

	/** What may be shown: while a run is followed, the future too. */
	private wide(): Span {
		const { from, to } = this.bounds;
		return { from, to: this.place.follow ? to + 2e9 : to };
	}

	private rest(): void {
		this.span.value = this.view;
		if (!this.place.follow) this.rested(this.view);
	}

	zoomAt(x: number, factor: number): void {
		const at = this.place.follow ? this.view.to : toNs(this.view, this.width, x);
		this.setSpan(zoomSpan(this.view, factor, at, this.wide()));
	}

	point(at: { readonly x: number; readonly y: number } | null, marks: boolean): void {
		const ns = at ? toNs(this.view, this.width, at.x) : null;
		this.pointerNs = ns;
		if (at && ns !== null) {
			const chosen = marks ? null : this.chosenAt(at.x, at.y);
			this.hover.value = { x: at.x, y: at.y, ns, slice: chosen && this.sliceOf(chosen) };
		} else this.hover.value = null;
		this.redraw();
	}

	panBy(px: number): void {
		this.setSpan(panSpan(this.view, (px / this.width) * lengthOf(this.view), this.wide()));
	}

	private move(seconds: number): void {
		const step = this.motion.step(this.held, seconds);
		if (step.zoom !== 1) {
			const middle = (this.view.from + this.view.to) / 2;
			const inside =
				this.pointerNs !== null && this.pointerNs > this.view.from && this.pointerNs < this.view.to;
			const at = this.place.follow ? this.view.to : inside ? (this.pointerNs ?? middle) : middle;
			this.setSpan(zoomSpan(this.view, step.zoom, at, this.wide()));
		}
		if (step.pan !== 0) this.setSpan(panSpan(this.view, step.pan * lengthOf(this.view), this.wide()));
	}

	// --- live ---

	/** The device says that more events came. */
	grew(): void {
		for (const s of this.sources) if (s.live) s.version++;
		this.plan();
	}

	private startFollow(): void {
		if (lengthOf(this.view) > 60e9 || !this.isPlaced) {
			const { to } = this.bounds;
			this.setSpan({ from: Math.max(0, to - FOLLOW_NS), to });
		}
		this.askTail();
	}

	/** Asks for the end again and again while it is followed; a question that is under way is not asked twice. */
	private askTail(): void {
		clearTimeout(this.tailTimer);
		if (!this.place.follow) return;
		this.tailTimer = window.setTimeout(() => this.askTail(), TAIL_MS);
		if (!document.hidden) this.grew();
		this.redraw();
	}

	private stepFollow(nowMs: number): void {
		const live = this.sources.find((s) => s.live);
		if (!this.place.follow || !live) return;
		const to = this.follow.now(nowMs) + live.shift;
		const length = lengthOf(this.view);
		if (to > length) this.view = { from: to - length * 0.98, to: to + length * 0.02 };
	}

	// --- tiles ---

	private arrived(wish: Wish): void {
		this.arrivals++;
		this.error.value = null;
		const { source } = wish;
		if (source.live) this.follow.saw(source.end, performance.now());
		if (wish.kind === "whole") alignStarts(this.sources);
		if (this.sources.every((s) => s.whole !== null) && !this.isReady.value) this.getReady();
		if (this.countVersions() !== this.tasksVersion) this.makeRows();
		if (wish.kind !== "whole") this.resolve();
		this.plan();
		this.redraw();
	}

	private getReady(): void {
		this.isReady.value = true;
		this.setSpan(this.isPlaced ? this.view : this.bounds);
		if (this.place.follow) this.startFollow();
	}

	private plan(): void {
		const wishes = this.sources.flatMap((s) => [
			...planSource(s, this.view, { versions: this.loader.versions, aheadNs: AHEAD_NS }),
		]);
		const now = performance.now();
		for (const s of this.sources) {
			const isDue = s.live && s.whole && (now - this.wholeMs > WHOLE_MS || this.loader.isFlying(s));
			if (!isDue) continue;
			if (now - this.wholeMs > WHOLE_MS) this.wholeMs = now;
			wishes.push({
				source: s,
				kind: "whole",
				id: { level: 0, index: 0 },
				key: `${s.run.run}:whole:0/0`,
				inSight: false,
			});
		}
		wishes.sort((a, b) => Number(b.inSight) - Number(a.inSight));
		this.loader.want(wishes);
	}

	get pending(): number {
		return this.loader.pending;
	}

	get cacheBytes(): number {
		return this.sources.reduce((n, s) => n + s.details.bytes + s.overviews.bytes, 0);
	}

	private refreshCovers(): void {
		let changed = false;
		this.sources.forEach((s, i) => {
			const key = coverKey(s, this.view, this.arrivals);
			if (key === this.coverKeys[i]) return;
			this.coverKeys[i] = key;
			this.covers[i] = makeCover(s, this.view);
			changed = true;
		});
		if (changed) this.plan();
	}

	// --- frames ---

	redraw(): void {
		if (this.frameId) return;
		this.frameId = requestAnimationFrame((ms) => this.frame(ms));
	}

	private frame(ms: number): void {
		this.frameId = 0;
		const seconds = Math.min(0.1, (ms - this.frameMs) / 1000);
		this.frameMs = ms;
		this.move(seconds);
		this.stepFollow(performance.now());
		this.refreshCovers();
		if (this.screen) {
			const losses = this.screen.draw(this, this.covers);
			if (losses !== this.lossesInSight.value) this.lossesInSight.value = losses;
		}
		const isPending = this.pending > 0;
		if (isPending !== this.isPending.value) this.isPending.value = isPending;
		const isHeld = this.held.left || this.held.right || this.held.closer || this.held.wider;
		if (isHeld || !this.motion.isResting || this.place.follow) this.redraw();
	}

	// --- where things are ---

	chosenAt(x: number, y: number): Chosen | null {
		const picture = this.screen?.picture;
		const row = picture && rowUnder(picture, y);
		if (!picture || !row) return null;
		const below = y - rowY(picture, row) - (row.height - row.depth * CALL_HEIGHT);
		const depth = row.depth > 0 && below >= 0 ? Math.floor(below / CALL_HEIGHT) : null;
		return { rowId: row.id, ns: toNs(this.view, this.width, x), depth };
	}

	/** Pixels of the canvas for a row and a time; null if the row is not there. */
	locate(rowId: string, ns: number): { readonly x: number; readonly y: number } | null {
		const picture = this.screen?.picture;
		const row = picture?.layout.byId.get(rowId);
		if (!picture || !row) return null;
		return { x: toX(this.view, this.width, ns), y: rowY(picture, row) + Math.min(row.height, 20) / 2 };
	}
}
