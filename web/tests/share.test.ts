// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import {
	endingOf,
	exportUrl,
	fileName,
	formatsOf,
	wholeOf,
	type Format,
	type Part,
} from "../src/api/formats";
import type { Run } from "../src/api/schema";
import { commandsOf } from "../src/app/commands";

function run(kinds: Run["kinds"], device = "board"): Run {
	const lost = { ring: 0, buffer: 0, spool: 0, damage: 0, store: 0 };
	return {
		...{
			run: 7,
			id: "",
			device_id: "",
			boot: "",
			device,
			first: null,
			last: null,
			first_tick: 0,
			last_tick: 0,
		},
		...{
			blocks: 1,
			events: 1,
			bytes: 1,
			lost,
			lost_unknown: false,
			ended: true,
			streams: 1,
			kinds,
			threads: 0,
		},
		split: false,
	} as Run;
}

const extent = { fromNs: 1_000_000_000, toNs: 9_000_000_000 };
const part = (kinds: Run["kinds"], device?: string): Part => ({
	run: run(kinds, device),
	extent,
	range: { from: 2_500_000_001, to: 3_000_000_000 },
});
const formats = [
	{ name: "ksk", ending: ".ksk", type: "application/octet-stream", kinds: ["sched", "func", "boot"] },
	{ name: "ctf", ending: ".ctf", type: "application/x-tar", kinds: ["sched"] },
	{ name: "folded", ending: ".folded", type: "text/plain", kinds: ["func"] },
] as Format[];
const commandOf = (p: Part, id: string): string | undefined =>
	commandsOf(p, "http://10.0.0.1:80").find((c) => c.id === id)?.text;

describe("exports", () => {
	it("are of exactly the range", () => {
		expect(exportUrl(part(["sched"]), "perfetto")).toBe(
			"api/v1/runs/7/export?format=perfetto&from=%2B1.500000001s&to=%2B2s",
		);
		expect(exportUrl(wholeOf(run(["func"])), "folded")).toBe("api/v1/runs/7/export?format=folded");
	});
	it("are in formats that can hold the run", () => {
		expect(formatsOf(run(["func"]), formats).map((f) => f.name)).toEqual(["ksk", "folded"]);
		expect(formats.map(endingOf)).toEqual([".ksk", ".ctf.tar", ".folded"]);
	});
	it("have names that are no paths and hide nothing", () => {
		expect(fileName(["../../etc/passwd", 3], ".ksk")).toBe("etc_passwd-3.ksk");
		expect(fileName(["日本\u202e", ""], ".ksk")).toBe("kiseki.ksk");
		expect(fileName(["-rf"], ".x")).toBe("rf.x");
	});
});

describe("commands", () => {
	it("are of exactly the range, and of this collector", () => {
		expect(commandOf(part(["sched"]), "export")).toBe(
			"kiseki export --run 7 --from +1.500000001s --to +2s -o board-7.pftrace --server http://10.0.0.1:80",
		);
		expect(commandOf(part(["sched"]), "latency")).toBe(
			"kiseki export --run 7 --from +1.500000001s --to +2s -f ksk -o - --server http://10.0.0.1:80 | kiseki report latency -",
		);
	});
	it("say no collector where the shell would look anyway", () => {
		expect(commandsOf(part(["sched"]), "http://127.0.0.1:8080").at(-1)?.text).toBe("kiseki ledger 7");
	});
	it("are those of what the run has", () => {
		expect(commandsOf(part(["boot"]), "x").map((c) => c.id)).toEqual([
			"export",
			"boot",
			"bootReport",
			"ledger",
		]);
		expect(commandsOf(wholeOf(run(["func"])), "x").map((c) => c.id)).toEqual(["export", "func", "ledger"]);
		expect(commandOf(wholeOf(run(["func"])), "export")).not.toContain("--from");
		const ids = commandsOf(wholeOf(run(["profile"])), "x").map((c) => c.id);
		expect(ids).toEqual(["export", "profile", "ledger"]);
	});
	it("run nothing else, whatever a device is called", () => {
		expect(commandOf(part(["sched"], "a; rm -rf $HOME"), "export")).toContain("-o a_rm_-rf_HOME-7.pftrace");
	});
});
