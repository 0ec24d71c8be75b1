// SPDX-License-Identifier: MIT
// actions: what keys do with the rows of machines. What they led to is said aloud (`spoken`).
import { signal } from "@preact/signals";

import { setParams } from "../../app/address";
import type { Key } from "../../app/keys";
import type { Held } from "../../parts/motion";
import { aroundSpan, formatSpan, lengthOf, panSpan, type Span } from "../../parts/scale";
import { describe } from "./facts";
import type { Stage } from "./stage";
import { change, choose, type Chosen } from "./state";
import { say } from "./words";

export function markTo(span: Span | null, isDone: boolean): void {
	setParams({ mark: span && formatSpan(span) }, isDone);
}

export class Actions {
	readonly spoken = signal("");
	readonly keys: readonly Key[];

	constructor(private readonly stage: Stage) {
		const hold = (key: string, what: () => string, field: keyof Held): Key => ({
			keys: [key],
			what,
			run: () => this.hold(field, true),
			release: () => this.hold(field, false),
		});
		const press = (keys: readonly string[], what: () => string, run: () => void): Key => ({
			keys,
			what,
			run,
		});
		this.keys = [
			hold("w", () => say("keyZoom"), "closer"),
			hold("s", () => say("keyZoom"), "wider"),
			hold("a", () => say("keyPan"), "left"),
			hold("d", () => say("keyPan"), "right"),
			press(
				["f"],
				() => say("keyFit"),
				() => this.fit(),
			),
			press(
				["0", "home"],
				() => say("keyAll"),
				() => this.showAll(),
			),
			press(
				["arrowright"],
				() => say("keyNext"),
				() => this.step(1),
			),
			press(
				["arrowleft"],
				() => say("keyNext"),
				() => this.step(-1),
			),
			press(
				["arrowdown"],
				() => say("keyRow"),
				() => this.stepRow(1),
			),
			press(
				["arrowup"],
				() => say("keyRow"),
				() => this.stepRow(-1),
			),
			press(
				["m"],
				() => say("keyMark"),
				() => this.mark(),
			),
			press(
				["l"],
				() => say("keyFollow"),
				() => change({ follow: !this.stage.state.follow }),
			),
			press(
				["escape"],
				() => say("keyClear"),
				() => setParams({ sel: null, mark: null }, true),
			),
		];
	}

	/** Whoever goes elsewhere follows no more; zooming stays at the end. */
	private endFollow(): void {
		if (this.stage.state.follow) change({ follow: false }, false);
	}

	private hold(field: keyof Held, isDown: boolean): void {
		this.stage.held[field] = isDown;
		if (isDown && (field === "left" || field === "right")) this.endFollow();
		this.stage.redraw();
	}

	choose(chosen: Chosen | null, remember = false): void {
		choose(this.stage.run, chosen, remember);
		const lane = chosen && this.stage.laneOf(chosen.lane);
		const piece = lane && this.stage.pieceOf(lane.id, chosen.ns);
		if (piece) this.spoken.value = describe(lane, piece, this.stage.bounds.from);
	}

	private showAll(): void {
		this.endFollow();
		this.stage.showAll();
	}

	private fit(): void {
		const { stage } = this;
		this.endFollow();
		const span = stage.chosen?.piece ?? stage.state.mark;
		stage.setSpan(span ? aroundSpan(span, 0.25, stage.bounds) : stage.bounds);
	}

	private mark(): void {
		const { chosen } = this.stage;
		if (chosen) markTo(chosen.piece, true);
	}

	private step(direction: 1 | -1): void {
		const { stage } = this;
		const { chosen } = stage;
		if (!chosen) return this.stepRow(1);
		const ns = direction > 0 ? chosen.piece.to : chosen.piece.from - 1;
		if (ns < stage.bounds.from || ns >= stage.bounds.to) return undefined;
		if (ns < stage.now.from || ns > stage.now.to) {
			this.endFollow();
			stage.setSpan(panSpan(stage.now, ns - (stage.now.from + stage.now.to) / 2, stage.bounds));
		}
		return this.choose({ lane: chosen.lane.id, ns });
	}

	private stepRow(direction: 1 | -1): void {
		const { stage } = this;
		const lanes = stage.layout.value.rows.flatMap((r) => (r.lane ? [r.lane] : []));
		const { chosen } = stage.state;
		const at = chosen ? lanes.findIndex((l) => l.id === chosen.lane) : direction > 0 ? -1 : lanes.length;
		const lane = lanes[at + direction];
		const middle = stage.now.from + lengthOf(stage.now) / 2;
		if (lane) this.choose({ lane: lane.id, ns: chosen ? chosen.ns : middle });
	}
}
