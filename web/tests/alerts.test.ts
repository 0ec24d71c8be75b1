// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { countOpen, isUnwatched, type Alert } from "../src/api/alerts";
import { Refused } from "../src/api/request";
import {
	chooseAlerts,
	describeEnd,
	describeKind,
	factorOf,
	formatAmount,
	lengthOf,
	linkOf,
} from "../src/views/alerts/alert_lines";

const alert = (number: number, since: number, more: Partial<Alert> = {}): Alert => ({
	...{
		number,
		device: "box",
		id: "0".repeat(32),
		kind: "function",
		scope: "server",
		name: "copy",
		object: "[kernel]",
	},
	...{
		cause: null,
		build: null,
		since_s: since,
		told_s: since + 60,
		until_s: null,
		end: null,
		usual: 0.1,
		value: 0.15,
		peak: 0.2,
	},
	...{ text: "", link: `/#fleet?tab=graph&since=${since}&until=${since + 120}&name=%5Bx%5D%26y` },
	...more,
});

const ALERTS = [
	alert(4, 400, { until_s: 900 }),
	alert(3, 300),
	alert(2, 200, { until_s: 600, kind: "wait", name: "audio", scope: "" }),
	alert(1, 500, { device: "other" }),
];
const numbers = (list: readonly Alert[]) => list.map((a) => a.number);

describe("alerts", () => {
	it("has those that go on first, and each the latest first", () => {
		expect(numbers(chooseAlerts(ALERTS, "all", ""))).toEqual([1, 3, 4, 2]);
		expect(numbers(chooseAlerts(ALERTS, "open", ""))).toEqual([1, 3]);
		expect(numbers(chooseAlerts(ALERTS, "past", "AUDIO wait"))).toEqual([2]);
		expect(countOpen(ALERTS)).toBe(2);
	});
	it("says how much, of a wait as a length", () => {
		expect(formatAmount(alert(1, 0), 0.1523)).toBe("15.2 %");
		expect(formatAmount(alert(1, 0, { kind: "wait" }), 0.0025)).toBe("2.50 ms");
		expect(factorOf(alert(1, 0))).toBeCloseTo(1.5);
		expect(factorOf(alert(1, 0, { usual: 0 }))).toBeNull();
		expect(describeKind(alert(1, 0), "sh")).toBe("function in sh");
	});
	it("says why it is over", () => {
		expect(describeEnd(alert(1, 0))).toBeNull();
		expect(describeEnd(alert(1, 0, { until_s: 60, end: "silent" }))).toBe(
			"the device sends nothing any more",
		);
	});
	it("gets longer until it ends", () => {
		expect(lengthOf(alert(1, 100), 700)).toBe(600);
		expect(lengthOf(alert(1, 100, { until_s: 400 }), 700)).toBe(300);
	});
	it("leads to all that is known by now, and not beyond half an hour", () => {
		const until = (a: Alert, now: number) => new URLSearchParams(linkOf(a, now).split("?")[1]).get("until");
		expect(until(alert(1, 600), 601)).toBe("720");
		expect(until(alert(1, 600), 1230)).toBe("1200");
		expect(until(alert(1, 600), 99_999)).toBe("2400");
		expect(until(alert(1, 600, { until_s: 700 }), 99_999)).toBe("720");
		expect(linkOf(alert(1, 600), 601)).toContain("name=%5Bx%5D%26y");
	});
	it("knows a collector that does not watch", () => {
		expect(isUnwatched(new Refused(501, "no"))).toBe(true);
		expect(isUnwatched(new Refused(500, "no"))).toBe(false);
	});
});
