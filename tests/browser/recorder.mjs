// SPDX-License-Identifier: MIT
// recorder: one whose file comes to the collector in parts, when the test wants more.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export class Recorder {
	/** Of a test's folder: the collector that listens there, and its file growing.ksk. */
	constructor(work) {
		const port = readFileSync(`${work}/listen`, "utf8").trim();
		const program = `${process.env.SRC}/tests/tools/bringer.py`;
		this.child = spawn("python3", [program, port, `${work}/growing.ksk`], { stdio: ["pipe", "pipe", "inherit"] });
		this.lines = createInterface(this.child.stdout)[Symbol.asyncIterator]();
	}

	/** So many blocks more; how many are left. */
	async send(blocks) {
		this.child.stdin.write(`${blocks}\n`);
		const { value } = await this.lines.next();
		return Number(value);
	}

	async end() {
		const ended = new Promise((done) => this.child.on("exit", done));
		this.child.stdin.end();
		assert.equal(await ended, 0, "the recorder has sent all");
	}
}
