// SPDX-License-Identifier: MIT
// speedscope: what speedscope itself shows of files: it loads each as its own command does, and its table of functions is read.
//
//	node speedscope.mjs MODULES FOLDER FILE...
//
// Prints JSON: of each file its profiles, each with `title` and `rows` (name, total and own share as it is written there).
// FOLDER is for files of its own.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const TIMEOUT_MS = 60000;
const TRIES = 100;
const PAUSE_MS = 200;
const [modules, folder, ...files] = process.argv.slice(2);
const { chromium } = createRequire(modules + "/node_modules/")("playwright-core");
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM,
	timeout: 120000,
	args: ["--disable-gpu", "--disable-dev-shm-usage", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
});

// The table shows the rows that fit into its window; this one is high enough for those of tests.
async function open(file) {
	const page = await browser.newPage({ viewport: { width: 1400, height: 4000 } });
	const problems = [];
	page.setDefaultTimeout(TIMEOUT_MS);
	page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
	page.on("pageerror", (e) => problems.push(e.message));
	page.on("dialog", (d) => (problems.push(d.message()), d.dismiss()));
	const script = `${folder}/speedscope-load.js`;
	const bytes = readFileSync(file).toString("base64");
	writeFileSync(script, `speedscope.loadFileFromBase64("x.speedscope.json", ${JSON.stringify(bytes)})`);
	await page.goto(`file://${modules}/node_modules/speedscope/dist/release/index.html#localProfilePath=${script}&view=sandwich`);
	await page.waitForFunction(() => document.title.endsWith(" - speedscope") && document.querySelector("tr td"));
	return { page, problems };
}

// The rows of the table that have shares: another list, of the profiles, may be in the page, too.
const rowsOf = (page) =>
	page.$$eval("tr:has(td)", (rows) =>
		rows.map((r) => [...r.querySelectorAll("td")].map((c) => c.innerText.trim()))
			.filter(([total]) => total.endsWith("%)"))
			.map(([total, self, name]) => ({ name, total: total.split(" ")[0], self: self.split(" ")[0] })));

// The table is drawn after the title, and bit by bit: it is there when it does not change any more.
async function settledRows(page) {
	const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	let before = "";
	for (let tries = 0; tries < TRIES; tries++) {
		await page.evaluate(frames);
		const rows = await rowsOf(page);
		if (rows.length && JSON.stringify(rows) === before) return rows;
		before = JSON.stringify(rows);
		await page.waitForTimeout(PAUSE_MS);
	}
	return rowsOf(page);
}

// All profiles of a file: of several the bar above says which it is, and "n" is the next; of one the title does.
async function read(file) {
	const { page, problems } = await open(file);
	const wanted = JSON.parse(readFileSync(file, "utf8")).profiles;
	const profiles = [];
	for (const [i, { name }] of wanted.entries()) {
		if (i > 0) await page.keyboard.press("n");
		if (wanted.length > 1) await page.getByText(`${name} (${i + 1}/${wanted.length})`, { exact: true }).waitFor();
		else assert.equal(await page.title(), `${name} - speedscope`);
		profiles.push({ title: name, rows: await settledRows(page) });
	}
	await page.close();
	assert.deepEqual(problems, [], `speedscope has problems with ${file}`);
	return profiles;
}

const out = [];
for (const file of files) out.push(await read(file));
console.log(JSON.stringify(out));
await browser.close();
