// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { cursorBefore, cursorFrom, type EventPage, type TraceEvent } from "../src/api/events";
import { parseRange } from "../src/api/extent";
import { addressOf } from "../src/app/address";
import { momentChanges, parseMark, parseMoment } from "../src/app/moment";
import { taskOf, timelineOf } from "../src/views/log/event_details";
import { formatExact } from "../src/views/log/event_row";
import { isOpen, limitFor } from "../src/views/log/instruction_history";
import {
	append,
	begin,
	endOf,
	extend,
	findEvent,
	formatEvent,
	NOTHING,
	prepend,
	rowAt,
	ROWS_MAX,
} from "../src/views/log/event_window";

function event(ns: number, more: Partial<TraceEvent> = {}): TraceEvent {
	return { ns, cpu: 0, pid: 1, comm: "init", event: "sched_switch", text: "", fields: {}, ...more };
}

/** As the collector answers: events of from, from + 1, … */
function page(from: number, count: number, more: Partial<EventPage> = {}): EventPage {
	const events = Array.from({ length: count }, (_, i) => event(from + i));
	return {
		events,
		first: `${from}-0`,
		last: `${from + count - 1}-0`,
		prev: `${from}-0`,
		next: `${from + count - 1}-0`,
		...more,
	};
}

describe("the window of events", () => {
	it("begins in both directions", () => {
		const { held, shift } = begin(page(90, 10), page(100, 20, { next: null }));
		expect(held.rows.length).toBe(30);
		expect(shift).toBe(10);
		expect([held.prev, held.next]).toEqual(["90-0", null]);
		expect(rowAt(held.rows, 100)).toBe(10);
		expect(rowAt(held.rows, 1000)).toBe(30);
	});
	it("says by how much rows above have moved", () => {
		const start = begin(page(1000, 0, { prev: "1000-0" }), page(1000, 10)).held;
		const moved = prepend(start, page(900, 100));
		expect(moved.shift).toBe(100);
		expect(moved.held.rows[moved.shift]?.ns).toBe(1000);
		expect(moved.held.prev).toBe("900-0");
	});
	it("is extended at a live end, and stays bounded however long that goes on", () => {
		let held = begin(page(0, 500, { next: null }), page(500, 0, { next: null })).held;
		for (let ns = 500; ns < 100_000; ns += 700) {
			const moved = extend(held, page(ns, 700, { next: null }), 2000);
			expect(moved).not.toBeNull();
			held = moved?.held ?? NOTHING;
			expect(held.rows.length).toBeLessThanOrEqual(ROWS_MAX);
			expect(held.rows.at(-1)?.ns).toBe(ns + 699);
			expect(held.next).toBeNull();
		}
		expect(held.prev).toBe(`${held.rows[0]?.ns}-0`);
		/* A filter that passes little: nothing yet, and nothing is lost. */
		expect(extend(held, page(200_000, 0, { last: null }), 2000)?.held.rows).toEqual(held.rows);
		expect(extend(held, page(200_000, 3), 2000)?.held.rows.length).toBe(held.rows.length + 3);
		/* More than an answer holds: the end itself is asked for instead. */
		expect(extend(held, page(200_000, 2000), 2000)).toBeNull();
		expect(extend(held, page(200_000, 2000, { next: null }), 2000)).not.toBeNull();
	});
	it("gives up at the other end, and can go back there", () => {
		let held = begin(page(0, 0, { prev: null }), page(0, 500)).held;
		let shift = 0;
		for (let i = 1; i <= 40; i++) {
			const moved = append(held, page(500 * i, 500));
			held = moved.held;
			shift += moved.shift;
		}
		expect(held.rows.length).toBeLessThanOrEqual(ROWS_MAX);
		expect(held.rows[0]?.ns).toBe(-shift);
		expect(held.prev).toBe(`${-shift}-0`);
		for (let at = -shift - 500; at >= 0; at -= 500)
			held = prepend(held, page(at, 500, at ? {} : { prev: null })).held;
		expect(held.rows[0]?.ns).toBe(0);
		expect(held.prev).toBeNull();
		expect(held.next).toBe(`${held.rows.at(-1)?.ns}-0`);
		expect(held.rows.length).toBeLessThanOrEqual(ROWS_MAX);
		for (let i = 1; i < held.rows.length; i++)
			expect((held.rows[i]?.ns ?? 0) - (held.rows[i - 1]?.ns ?? 0)).toBe(1);
	});
	it("never gives up its only page", () => {
		const held = append(NOTHING, page(0, ROWS_MAX + 1)).held;
		expect(held.rows.length).toBe(ROWS_MAX + 1);
		expect(endOf(held)).toBe(`${ROWS_MAX}-0`);
		expect(endOf(NOTHING)).toBeNull();
	});
	it("finds one of several events of the same time", () => {
		const rows = [event(5), event(5, { cpu: 1 }), event(5, { cpu: 1, event: "sched_waking" }), event(6)];
		for (const [i, e] of rows.entries()) expect(findEvent(rows, formatEvent(e))).toBe(i);
		expect(findEvent(rows, "5.9.sched_switch")).toBe(-1);
		expect(findEvent(rows, "x")).toBe(-1);
	});
});

describe("places between events", () => {
	it("can be made for any time", () => {
		expect(cursorBefore(100)).toBe("100-0");
		expect(cursorFrom(100)).toBe("99-4294967295");
		expect(cursorFrom(0)).toBe("");
	});
});

describe("moments", () => {
	it("go through the address", () => {
		const changes = momentChanges({ run: 3, pid: 42, ns: 1000 }, -5, 2000.5);
		expect(changes).toEqual({ run: 3, from: 0, to: 2001, sel: "3.t42@1000", mark: null });
		expect(parseMoment("3.t42@1000")).toEqual({ run: 3, pid: 42, ns: 1000 });
		expect(parseMoment("3.c1@1000")).toEqual({ run: 3, pid: null, ns: 1000 });
		expect(parseMoment("3.x1@1000")).toBeNull();
	});
	it("make the marked range the one that is meant", () => {
		expect(parseMark("10-20")).toEqual({ from: 10, to: 20 });
		expect(parseMark("20-10")).toBeNull();
		const params = new Map([
			["mark", "10-20"],
			["from", "1"],
			["to", "99"],
		]);
		expect(parseRange(params)).toEqual({ from: 10, to: 20 });
	});
	it("of an event are of who it is about", () => {
		expect(taskOf(event(1, { fields: { prev_pid: 4, next_pid: 5 } }))).toBe(5);
		expect(taskOf(event(1, { pid: 0, fields: { next_pid: 0, pid: 9 } }))).toBe(9);
		expect(taskOf(event(1, { pid: null, event: "lost" }))).toBeNull();
		const loss = event(50_000_000, { event: "lost", pid: null, fields: { to_ns: 60_000_000 } });
		expect(timelineOf(loss, 2)).toBe(addressOf("timeline", { run: 2, from: 40_000_000, to: 70_000_000 }));
	});
});

describe("exact times", () => {
	it("have all digits", () => {
		expect(formatExact(0)).toBe("+0.000000000");
		expect(formatExact(289_783_493_692)).toBe("+289.783493692");
		expect(formatExact(-1)).toBe("−0.000000001");
	});
});

describe("the history of instructions", () => {
	it("asks again for all that is listed, and for no more than the collector gives", () => {
		expect([0, 1, 200, 201, 1000, 1_000_000].map(limitFor)).toEqual([200, 200, 200, 400, 1000, 10_000]);
	});
	it("knows which may still change", () => {
		const outcomes = ["sent", "deferred", "timed_out", "done", "failed", "replaced"] as const;
		expect(outcomes.map((outcome) => isOpen({ outcome }))).toEqual([true, true, true, false, false, false]);
	});
});
