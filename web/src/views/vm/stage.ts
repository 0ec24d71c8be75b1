// SPDX-License-Identifier: MIT
// stage: the moving picture of virtual and physical CPUs. It holds what is in sight, asks for what it lacks when a movement
// has come to rest, and draws a frame whenever something has changed, never otherwise.
//
// Two answers are kept: the whole run, coarse, and what is in sight with as much beside it, as fine as the screen is. The
// address is the truth: what is chosen comes from it, and movements are written back to it.
import { signal } from "@preact/signals";

import { getVmSlices } from "../../api/vm";
import { isAbort } from "../../api/request";
import { Motion, type Held } from "../../parts/motion";
import type { Plot } from "../../parts/plot_input";
import { clampSpan, lengthOf, panSpan, toNs, zoomSpan, type Span } from "../../parts/scale";
import { lanesOf, pieceAt, type CpuPiece, type Lane, type Lanes, type VcpuPiece } from "./lanes";
import { layOut, rowAt, type Layout } from "./layout";
import type { Chosen, State } from "./state";

const REST_MS = 200; /* after so long without movement the address is written, and what lacks asked for */
const WHOLE_PX = 1600;
const BESIDE = 0.5; /* of what is in sight, on each side */

const keyOf = (span: Span | null): string => (span ? `${span.from}-${span.to}` : "all");

export interface Hover {
	readonly x: number;
	readonly y: number;
	readonly ns: number;
	readonly lane: Lane | null;
	readonly piece: VcpuPiece | CpuPiece | null;
}

export interface Found {
	readonly lane: Lane;
	readonly piece: VcpuPiece | CpuPiece;
}

export class Stage implements Plot {
	readonly layout = signal<Layout>({ rows: [], height: 0 });
	readonly hover = signal<Hover | null>(null);
	readonly error = signal<unknown>(null);
	readonly pending = signal(1);
	/** Changes when other pieces are there. */
	readonly version = signal(0);
	/** What was in sight when the last movement came to rest; null: all. */
	readonly sight = signal<Span | null>(null);
	readonly held: Held = { left: false, right: false, closer: false, wider: false };
	width = 1;
	/** What is drawn when something has changed. */
	draw: () => void = () => undefined;
	state: State;

	private view: Span;
	/** What it last put into the address. */
	private written = "";
	private isPlaced = false;
	private whole: Lanes | null = null;
	private detail: Lanes | null = null;
	/** The run has grown at the end of the fine pieces since they were asked for. */
	private isStale = false;
	private isAsking = false;
	private isGrown = false;
	private readonly motion = new Motion();
	private pointerNs: number | null = null;
	private frameId = 0;
	private frameMs = 0;
	private restTimer = 0;
	private asked: AbortController | null = null;
	private readonly closing = new AbortController();

	constructor(
		readonly run: number,
		public bounds: Span,
		state: State,
		private readonly rested: (span: Span | null) => void,
	) {
		this.state = state;
		this.view = state.span ?? bounds;
		this.sight.value = state.span;
		this.isPlaced = state.span !== null;
		if (state.follow) this.toEnd();
		void this.askWhole();
	}

	close(): void {
		cancelAnimationFrame(this.frameId);
		clearTimeout(this.restTimer);
		this.closing.abort();
		this.asked?.abort();
	}

	get now(): Span {
		return this.view;
	}

	/** What the address says. */
	apply(state: State): void {
		const old = this.state;
		this.state = state;
		/* What this stage wrote itself may come back when somebody has moved on already. */
		if (keyOf(state.span) !== keyOf(old.span) && keyOf(state.span) !== this.written)
			this.setSpan(state.span ?? this.bounds);
		if (state.follow && !old.follow) this.startFollow();
		/* What was followed is where it stays. */ else if (!state.follow && old.follow) this.setSpan(this.view);
		this.redraw();
	}

	/** The run has grown. */
	grow(bounds: Span): void {
		if (bounds.to === this.bounds.to) return;
		const isAll = this.view.from <= this.bounds.from && this.view.to >= this.bounds.to;
		this.isStale ||= this.detail !== null && this.detail.to >= this.bounds.to;
		this.bounds = bounds;
		if (this.state.follow) this.toEnd();
		else if (isAll && !this.isPlaced) this.view = bounds;
		void this.askWhole();
	}

	/** A movement that has not come to rest would lead away from the end. */
	private startFollow(): void {
		this.motion.stop();
		this.toEnd();
	}

	private toEnd(): void {
		const length = Math.min(lengthOf(this.view), lengthOf(this.bounds));
		this.setSpan({ from: this.bounds.to - length, to: this.bounds.to });
	}

	// --- movement ---

	setSpan(span: Span): void {
		this.view = clampSpan(span, this.bounds);
		this.redraw();
		clearTimeout(this.restTimer);
		this.restTimer = window.setTimeout(() => this.rest(), REST_MS);
	}

	/** Nothing goes on by itself afterwards. */
	showAll(): void {
		this.motion.stop();
		this.setSpan(this.bounds);
	}

	private rest(): void {
		const isAll = this.view.from <= this.bounds.from && this.view.to >= this.bounds.to;
		this.isPlaced = !isAll;
		const { from, to } = this.view;
		const span = isAll ? null : { from: Math.round(Math.max(0, from)), to: Math.round(to) };
		if (keyOf(span) !== keyOf(this.sight.value)) this.sight.value = span;
		if (!this.state.follow) {
			this.written = keyOf(span);
			this.rested(span);
		}
		void this.askDetail();
	}

	panBy(px: number): void {
		this.setSpan(panSpan(this.view, (px / this.width) * lengthOf(this.view), this.bounds));
	}

	zoomAt(x: number, factor: number): void {
		const at = this.state.follow ? this.view.to : toNs(this.view, this.width, x);
		this.setSpan(zoomSpan(this.view, factor, at, this.bounds));
	}

	point(at: { readonly x: number; readonly y: number } | null, marks: boolean): void {
		this.pointerNs = at ? toNs(this.view, this.width, at.x) : null;
		const row = at && !marks ? rowAt(this.layout.value, at.y) : null;
		const lane = row?.lane ?? null;
		this.hover.value =
			at && this.pointerNs !== null
				? { ...at, ns: this.pointerNs, lane, piece: lane && this.pieceOf(lane.id, this.pointerNs) }
				: null;
		this.redraw();
	}

	private move(seconds: number): void {
		const step = this.motion.step(this.held, seconds);
		const middle = (this.view.from + this.view.to) / 2;
		if (step.zoom !== 1) this.setSpan(zoomSpan(this.view, step.zoom, this.pointerNs ?? middle, this.bounds));
		if (step.pan !== 0) this.setSpan(panSpan(this.view, step.pan * lengthOf(this.view), this.bounds));
	}

	redraw(): void {
		if (this.frameId) return;
		this.frameId = requestAnimationFrame((ms) => {
			this.frameId = 0;
			const isMoving = Object.values(this.held).some(Boolean) || !this.motion.isResting;
			if (isMoving) this.move(this.frameMs ? (ms - this.frameMs) / 1000 : 0.016);
			this.frameMs = isMoving ? ms : 0;
			this.draw();
			if (isMoving) this.redraw();
		});
	}

	// --- what is known ---

	/** Pieces of a row, the finest that are there; of parts without fine ones the coarse ones. */
	lanesFor(id: string): readonly { readonly lane: Lane; readonly clip: Span }[] {
		const find = (l: Lanes | null): Lane | undefined =>
			l ? ([...l.vcpus, ...l.cpus].find((lane) => lane.id === id) as Lane | undefined) : undefined;
		const { whole, detail } = this;
		const [coarse, fine] = [find(whole), find(detail)];
		const parts: { lane: Lane; clip: Span }[] = [];
		if (coarse && whole) {
			if (!fine || !detail) return [{ lane: coarse, clip: whole }];
			parts.push({ lane: coarse, clip: { from: whole.from, to: detail.from } });
			parts.push({ lane: coarse, clip: { from: detail.to, to: whole.to } });
		}
		if (fine && detail) parts.push({ lane: fine, clip: detail });
		return parts;
	}

	pieceOf(id: string, ns: number): VcpuPiece | CpuPiece | null {
		for (const { lane, clip } of this.lanesFor(id))
			if (ns >= clip.from && ns < clip.to) return pieceAt<VcpuPiece | CpuPiece>(lane.pieces, ns);
		return null;
	}

	laneOf(id: string): Lane | null {
		return this.layout.value.rows.find((r) => r.lane?.id === id)?.lane ?? null;
	}

	/** The row and the piece of a moment, as much of it as is known by now. */
	find(chosen: Chosen | null): Found | null {
		const lane = chosen && this.laneOf(chosen.lane);
		const piece = lane && this.pieceOf(lane.id, chosen.ns);
		return lane && piece ? { lane, piece } : null;
	}

	get chosen(): Found | null {
		return this.find(this.state.chosen);
	}

	// --- what is asked for ---

	private took(): void {
		if (this.whole) this.layout.value = layOut(this.whole);
		this.error.value = null;
		this.version.value++;
		this.redraw();
	}

	/** Of a run that grows faster than it is told, one question is under way and one waits. */
	private async askWhole(): Promise<void> {
		this.isGrown = this.isAsking;
		if (this.isAsking) return;
		this.isAsking = true;
		try {
			const s = await getVmSlices({ run: this.run, from: null, to: null }, WHOLE_PX, this.closing.signal);
			this.whole = lanesOf(s);
			this.took();
			await this.askDetail();
		} catch (e) {
			if (!isAbort(e)) this.error.value = e;
		}
		this.isAsking = false;
		if (this.isGrown && !this.closing.signal.aborted) void this.askWhole();
	}

	private lacks(): boolean {
		const { detail, view, bounds } = this;
		if (lengthOf(view) > 0.8 * lengthOf(bounds)) {
			/* The fine ones would hide what is newer. */
			if (this.isStale) this.detail = null;
			return false;
		}
		if (this.isStale && detail && view.to > detail.to - 0.1 * lengthOf(detail)) return true;
		if (!detail || detail.from > Math.max(view.from, bounds.from)) return true;
		/* What was asked for was at most twice what is in sight. */
		return detail.to < Math.min(view.to, bounds.to) || lengthOf(detail) > 3 * lengthOf(view);
	}

	private async askDetail(): Promise<void> {
		this.asked?.abort();
		if (!this.lacks()) {
			this.pending.value = 0;
			this.redraw();
			return;
		}
		const abort = new AbortController();
		this.asked = abort;
		this.pending.value = 1;
		const length = lengthOf(this.view);
		const { bounds } = this;
		const part = {
			run: this.run,
			from: Math.floor(Math.max(this.bounds.from, this.view.from - BESIDE * length)),
			to: Math.ceil(Math.min(this.bounds.to + 1, this.view.to + BESIDE * length)),
		};
		try {
			const width = Math.ceil((this.width * (part.to - part.from)) / length);
			this.detail = lanesOf(await getVmSlices(part, Math.max(width, 1), abort.signal));
			this.isStale = part.to > bounds.to && bounds.to !== this.bounds.to;
			this.pending.value = 0;
			this.took();
		} catch (e) {
			if (isAbort(e)) return;
			this.pending.value = 0;
			this.error.value = e;
		}
	}
}
