// SPDX-License-Identifier: MIT
// plot_input: mouse and touch over a plot of time. The wheel scrolls rows, with Ctrl (and by a pinch on a touchpad, which comes as the same) it
// zooms where the pointer is, with Shift or sideways it moves along the time. A drag moves; in the ruler, or with
// Shift, it marks a range. Two fingers zoom; one moves. What moved less than a few pixels was a click.
import { toNs, type Span } from "./scale";

const CLICK_PX = 4;
const WHEEL_ZOOM = 0.0022;

/** What is moved. */
export interface Plot {
	/** In sight now. */
	readonly now: Span;
	readonly width: number;
	panBy(px: number): void;
	zoomAt(x: number, factor: number): void;
	/** The mouse is here; null: nowhere. `marks`: over what marks ranges. */
	point(at: Finger | null, marks: boolean): void;
}

export interface Intents {
	readonly click: (x: number, y: number) => void;
	readonly mark: (span: Span | null, isDone: boolean) => void;
	readonly scrollBy: (px: number) => void;
	readonly grab: () => void; /* a movement by hand begins: nothing is followed any more */
}

export interface Finger {
	readonly x: number;
	readonly y: number;
}

export class PlotInput {
	private readonly fingers = new Map<number, Finger>();
	private pressed: Finger | null = null;
	private isMarking = false;
	private moved = false;
	private isOver = false;
	private gap = 0;
	private rect = { left: 0, top: 0 };
	private readonly abort = new AbortController();

	constructor(
		private readonly plot: Plot,
		private readonly intents: Intents,
	) {}

	close(): void {
		this.abort.abort();
	}

	/** `marks`: a drag in it marks a range. */
	listen(element: HTMLElement, marks: boolean): void {
		const { signal } = this.abort;
		element.addEventListener("pointerdown", (e) => this.down(e, element, marks), { signal });
		element.addEventListener("pointermove", (e) => this.move(e, element, marks), { signal });
		element.addEventListener("pointerup", (e) => this.up(e), { signal });
		element.addEventListener("pointercancel", (e) => this.up(e), { signal });
		element.addEventListener("pointerleave", () => this.leave(), { signal });
		element.addEventListener("wheel", (e) => this.wheel(e), { signal, passive: false });
	}

	private place(e: PointerEvent): Finger {
		return { x: e.clientX - this.rect.left, y: e.clientY - this.rect.top };
	}

	private down(e: PointerEvent, element: HTMLElement, marks: boolean): void {
		if (e.pointerType === "mouse" && e.button !== 0) return;
		const { left, top } = element.getBoundingClientRect();
		this.rect = { left, top };
		element.setPointerCapture(e.pointerId);
		const at = this.place(e);
		this.fingers.set(e.pointerId, at);
		if (this.fingers.size === 1) {
			this.pressed = at;
			this.moved = false;
			this.isMarking = marks || e.shiftKey;
		} else {
			this.isMarking = false;
			this.moved = true;
			this.gap = this.gapOf();
		}
	}

	private gapOf(): number {
		const [a, b] = [...this.fingers.values()];
		return a && b ? Math.max(8, Math.abs(a.x - b.x)) : 0;
	}

	private move(e: PointerEvent, element: HTMLElement, marks: boolean): void {
		const finger = this.fingers.get(e.pointerId);
		if (!finger || !this.pressed) {
			if (e.pointerType === "mouse") this.hover(e, element, marks);
			return;
		}
		const at = this.place(e);
		if (!this.moved && Math.hypot(at.x - this.pressed.x, at.y - this.pressed.y) < CLICK_PX) return;
		if (!this.moved && !this.isMarking) this.intents.grab();
		this.moved = true;
		this.isOver = false;
		this.plot.point(null, marks);
		if (this.fingers.size > 1) this.pinch(e.pointerId, at);
		else if (this.isMarking) this.intents.mark(this.markTo(at.x), false);
		else {
			this.plot.panBy(finger.x - at.x);
			this.intents.scrollBy(finger.y - at.y);
		}
		this.fingers.set(e.pointerId, at);
	}

	private pinch(id: number, at: Finger): void {
		const before = [...this.fingers.values()];
		this.fingers.set(id, at);
		const after = [...this.fingers.values()];
		const middle = (l: Finger[]): number => l.reduce((n, f) => n + f.x, 0) / l.length;
		const gap = this.gapOf();
		this.plot.panBy(middle(before) - middle(after));
		if (this.gap && gap) this.plot.zoomAt(middle(after), this.gap / gap);
		this.gap = gap;
	}

	private markTo(x: number): Span | null {
		const { plot } = this;
		if (!this.pressed) return null;
		const a = toNs(plot.now, plot.width, this.pressed.x);
		const b = toNs(plot.now, plot.width, x);
		return a === b ? null : { from: Math.min(a, b), to: Math.max(a, b) };
	}

	private up(e: PointerEvent): void {
		const finger = this.fingers.get(e.pointerId);
		this.fingers.delete(e.pointerId);
		this.gap = 0;
		if (!finger || this.fingers.size) return;
		if (e.type === "pointerup" && !this.moved && this.pressed) {
			if (this.isMarking && !e.shiftKey) this.intents.mark(null, true);
			else this.intents.click(this.pressed.x, this.pressed.y);
		} else if (this.isMarking) this.intents.mark(this.markTo(finger.x), true);
		this.pressed = null;
	}

	private hover(e: PointerEvent, element: HTMLElement, marks: boolean): void {
		/* Read on entering an element, not with each movement. */
		if (!this.isOver) {
			const { left, top } = element.getBoundingClientRect();
			this.rect = { left, top };
		}
		this.isOver = true;
		this.plot.point(this.place(e), marks);
	}

	private leave(): void {
		if (this.pressed) return;
		this.isOver = false;
		this.plot.point(null, false);
	}

	private wheel(e: WheelEvent): void {
		const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 18 : 1;
		if (e.ctrlKey || e.metaKey) {
			e.preventDefault();
			const target = e.currentTarget;
			if (!(target instanceof HTMLElement)) return;
			const x = e.clientX - (this.isOver ? this.rect.left : target.getBoundingClientRect().left);
			this.plot.zoomAt(x, Math.exp(Math.max(-200, Math.min(200, e.deltaY * unit)) * WHEEL_ZOOM));
		} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			e.preventDefault();
			this.intents.grab();
			this.plot.panBy((e.deltaX || e.deltaY) * unit);
		} else {
			e.preventDefault();
			this.intents.scrollBy(e.deltaY * unit);
		}
	}
}
