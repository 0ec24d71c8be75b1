// SPDX-License-Identifier: MIT
// actions: what keys and buttons do with the timeline. Everything that is chosen goes through the address; what the
// selection moved to is said aloud (`spoken`).
import { signal } from "@preact/signals";
import type { RefObject } from "preact";

import { setParams } from "../../app/address";
import type { Key } from "../../app/keys";
import { formatLength, formatOffset } from "../../parts/format";
import { nameOf } from "../../parts/text";
import { lengthWord, stateWord } from "./details";
import type { Slice } from "./hit";
import type { Row } from "./layout";
import type { Held } from "../../parts/motion";
import { formatChosen, markChanges, toggleRow, type Chosen } from "./place";
import { aroundSpan, lengthOf, panSpan } from "../../parts/scale";
import type { Stage } from "./stage";
import { say } from "./words";

export class Actions {
	readonly spoken = signal("");
	readonly keys: readonly Key[];
	/** How the rows are scrolled; set by the board. */
	scrollTo: (top: number) => void = () => undefined;
	/** Height of what is in sight, without pinned rows. */
	sight = 300;
	/** What was chosen here, or has been brought into sight. */
	private seen = "";

	constructor(
		private readonly stage: Stage,
		private readonly search: RefObject<HTMLInputElement>,
	) {
		this.keys = this.makeKeys();
	}

	private makeKeys(): readonly Key[] {
		const hold = (keys: readonly string[], what: () => string, field: keyof Held): Key => ({
			keys,
			what,
			run: () => this.hold(field, true),
			release: () => this.hold(field, false),
		});
		const press = (keys: readonly string[], what: () => string, run: () => void): Key => ({
			keys,
			what,
			run,
		});
		return [
			hold(["w"], () => say("keyZoom"), "closer"),
			hold(["s"], () => say("keyZoom"), "wider"),
			hold(["a"], () => say("keyPan"), "left"),
			hold(["d"], () => say("keyPan"), "right"),
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
				["/"],
				() => say("keySearch"),
				() => this.search.current?.focus(),
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
				["p"],
				() => say("keyPin"),
				() => this.pin(),
			),
			press(
				["m"],
				() => say("keyMark"),
				() => this.markSlice(),
			),
			press(
				["l"],
				() => say("keyFollow"),
				() => this.toggleFollow(),
			),
			press(
				["escape"],
				() => say("keyClear"),
				() => setParams({ sel: null, mark: null }, true),
			),
		];
	}

	private hold(field: keyof Held, isDown: boolean): void {
		this.stage.held[field] = isDown;
		if (isDown && (field === "left" || field === "right")) this.endFollow();
		this.stage.redraw();
	}

	fit(): void {
		const { mark } = this.stage.place;
		const slice = this.stage.slice.value;
		if (!slice && !mark) this.showAll();
		else {
			this.endFollow();
			this.stage.setSpan(aroundSpan(slice ?? mark ?? this.stage.bounds, 0.25, this.stage.bounds));
		}
	}

	showAll(): void {
		this.endFollow();
		this.stage.setSpan(this.stage.bounds);
	}

	endFollow(): void {
		if (this.stage.place.follow) setParams({ follow: null });
	}

	toggleFollow(): void {
		setParams({ follow: this.stage.place.follow ? null : 1 }, true);
	}

	private pin(): void {
		const { chosen, pinned } = this.stage.place;
		if (chosen) setParams({ pin: toggleRow(pinned, chosen.rowId) });
	}

	private markSlice(): void {
		const slice = this.stage.slice.value;
		if (slice) setParams(markChanges(slice), true);
	}

	/** Brings a row into sight and says what it is. */
	showRow(row: Row): void {
		this.bring(row);
		const { now } = this.stage;
		const ns = this.stage.place.chosen?.ns ?? (now.from + now.to) / 2;
		this.choose({
			rowId: row.id,
			depth: null,
			ns: ns > now.from && ns < now.to ? ns : (now.from + now.to) / 2,
		});
	}

	private bring(row: Row): void {
		if (row.pinned) return;
		const top = this.stage.scrollTop.value;
		if (row.top < top || row.top + row.height > top + this.sight)
			this.scrollTo(Math.max(0, row.top - this.sight / 3));
	}

	/** Somebody was led here: the row of what is chosen comes into sight, and stays there while more rows are coming. */
	follow(chosen: Chosen | null): void {
		const text = chosen ? formatChosen(chosen) : "";
		if (text === this.seen) return;
		const row = chosen && this.stage.layout.value.byId.get(chosen.rowId);
		if (row) this.bring(row);
		if (!this.stage.isPending.value) this.seen = text;
	}

	choose(chosen: Chosen | null, remember = false): void {
		this.seen = chosen ? formatChosen(chosen) : "";
		setParams({ sel: chosen ? formatChosen(chosen) : null }, remember);
		const slice = chosen && this.stage.slice.value;
		if (slice) this.speak(slice);
	}

	private speak(slice: Slice): void {
		const first = this.stage.sources[0];
		const zero = first ? first.start + first.shift : 0;
		this.spoken.value = say("saySlice", {
			task: slice.pid > 0 ? `${nameOf(slice.comm, slice.pid)} ${slice.pid}` : "",
			state: slice.fn ?? stateWord(slice),
			length: lengthWord(slice) || formatLength(0),
			start: formatOffset(slice.from - zero, 1e3),
		});
	}

	/** The slice before or behind the selected one; the view follows if it is out of sight. */
	private step(direction: 1 | -1): void {
		const slice = this.stage.slice.value;
		const { now, bounds } = this.stage;
		if (!slice) {
			if (!this.stage.place.chosen) this.stepRow(1);
			return;
		}
		const ns = direction > 0 ? slice.to : slice.from - 1;
		if (ns <= bounds.from || ns >= bounds.to) return;
		if (ns < now.from || ns > now.to) this.stage.setSpan(panSpan(now, ns - (now.from + now.to) / 2, bounds));
		this.choose({ rowId: slice.rowId, ns, depth: slice.depth });
	}

	private stepRow(direction: 1 | -1): void {
		const { pinned, rows } = this.stage.layout.value;
		const all = [...pinned, ...rows].filter((r) => r.kind !== "device");
		const { chosen } = this.stage.place;
		const { now } = this.stage;
		const at = chosen ? all.findIndex((r) => r.id === chosen.rowId) : direction > 0 ? -1 : all.length;
		const row = all[at + direction];
		if (!row) return;
		this.bring(row);
		const middle = now.from + lengthOf(now) / 2;
		this.choose({
			rowId: row.id,
			depth: null,
			ns: chosen && chosen.ns > now.from && chosen.ns < now.to ? chosen.ns : middle,
		});
	}
}
