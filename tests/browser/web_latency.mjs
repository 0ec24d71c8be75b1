// SPDX-License-Identifier: MIT
// web_latency: the view of waits: its figures are those of `kiseki report latency`, of the whole recording and of a part.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { start } from "./page.mjs";

const web = await start();
const { runs, kiseki } = web.data;

function shell(command) {
	const run = spawnSync("bash", ["-c", `set -o pipefail; kiseki() { "$KISEKI" "$@"; }; ${command}`], {
		env: { ...process.env, KISEKI: kiseki },
		maxBuffer: 1 << 28,
		cwd: web.data.work,
	});
	assert.equal(run.status, 0, `${command}: ${run.stderr}`);
	return run.stdout.toString();
}

const rowsOf = (page, name) => page.getByRole("table", { name }).locator("tbody tr.choice");
const wait = (ns) => {
	const [scale, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([s]) => ns >= s);
	const n = ns / scale;
	return scale === 1 ? `${ns} ns` : `${n.toFixed(n >= 100 ? 0 : n >= 10 ? 1 : 2)} ${unit}`;
};

async function checkFigures(page, report) {
	await page.locator(".reading", { hasText: `${report.wakeup.waits.toLocaleString("en")} waits` }).waitFor();
	assert.ok((await page.locator(".reading").textContent()).includes(`the longest ${wait(report.wakeup.max_ns)}`));
	const worst = report.worst[0];
	const first = await rowsOf(page, "Longest waits").first().textContent();
	assert.ok(first.includes(wait(worst.wait_ns)), first);
	const task = await rowsOf(page, "Tasks").first().textContent();
	assert.ok(task.includes(String(report.tasks[0].pid)), task);
	assert.ok(task.includes(wait(report.tasks[0].wakeup.max_ns)), task);
}

async function checkWhole() {
	const page = await web.open(`#latency?run=${runs.board}`);
	const report = await web.api(`runs/${runs.board}/report/latency?worst=50`);
	await checkFigures(page, report);
	await web.keep(page, "latency");
	return { page, report };
}

async function checkTask(page, report) {
	const { pid } = report.tasks[0];
	await rowsOf(page, "Tasks").first().click();
	assert.match(page.url(), new RegExp(`task=${pid}`));
	const own = await web.api(`runs/${runs.board}/report/latency?worst=50&pid=${pid}`);
	await page.waitForFunction(
		([n, id]) => {
			const rows = [...document.querySelectorAll('table[aria-label="Longest waits"] tbody tr.choice')];
			return rows.length === n && rows.every((r) => r.textContent.includes(id));
		},
		[own.worst.length, String(pid)],
	);
	await page.goBack();
	await page.locator(".reading", { hasText: `${report.wakeup.waits.toLocaleString("en")} waits` }).waitFor();
}

async function checkSort(page) {
	const head = page.getByRole("table", { name: "Tasks" }).getByRole("button", { name: "Pid" });
	await head.click();
	await head.click();
	await page.locator('th[aria-sort="ascending"]', { hasText: "Pid" }).waitFor();
	const pids = await rowsOf(page, "Tasks").locator("td:nth-child(2)").allTextContents();
	assert.deepEqual(pids, [...pids].sort((a, b) => a - b));
	await page.keyboard.press("/");
	await page.keyboard.type(pids[0]);
	await page.waitForFunction(() => document.querySelectorAll('table[aria-label="Tasks"] tbody tr.choice').length === 1);
}

/** The command that the share menu gives for a part makes the report that is shown. */
async function checkPart(report) {
	const from = report.from_ns + Math.round((report.to_ns - report.from_ns) / 4);
	const to = report.from_ns + Math.round((3 * (report.to_ns - report.from_ns)) / 4);
	const page = await web.open(`#latency?run=${runs.board}&from=${from}&to=${to}`);
	await page.keyboard.press("x");
	const command = page.locator("dialog .command", { hasText: "how long tasks waited" }).locator("code");
	const text = await command.textContent();
	const part = JSON.parse(shell(`${text} --json --worst 50`));
	assert.ok(part.from_ns >= from && part.to_ns < to, "of this part only");
	await page.keyboard.press("Escape");
	await checkFigures(page, part);
}

async function checkPicture(page) {
	await page.keyboard.press("Escape");
	await page.keyboard.press("x");
	const save = async (name) => {
		const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("dialog").getByRole("button", { name }).click()]);
		assert.match(file.suggestedFilename(), new RegExp(`latency-${runs.board}\\.${name.toLowerCase()}$`));
		return readFileSync(await file.path());
	};
	const svg = (await save("SVG")).toString();
	assert.match(svg, /^<\?xml [^>]*>\s*<svg [^]*<\/svg>\s*$/);
	for (const words of ["board-7", "p99.9", "max"]) assert.ok(svg.includes(words), words);
	const png = await save("PNG");
	assert.equal(png.subarray(1, 4).toString(), "PNG");
	assert.ok(png.length > 5000);
	await page.keyboard.press("Escape");
}

async function checkMoment(page, report) {
	const worst = report.worst[0];
	await rowsOf(page, "Longest waits").first().click();
	await page.waitForURL(/#timeline\?/);
	const params = new URLSearchParams(page.url().split("?")[1]);
	assert.equal(params.get("sel"), `${runs.board}.t${worst.pid}@${worst.from_ns}`);
	assert.ok(Number(params.get("from")) < worst.from_ns && Number(params.get("to")) > worst.to_ns);
}

async function checkHostile() {
	const page = await web.open(`#latency?run=${runs.hostile}`);
	await page.locator(".reading").waitFor();
	assert.equal(await page.locator("main img").count(), 0);
	web.expect(/status of 404/);
	const broken = await web.open("#latency?run=99999");
	await broken.getByRole("alert").waitFor();
	const narrow = await web.open(`#latency?run=${runs.board}`, { viewport: { width: 400, height: 800 }, colorScheme: "dark" });
	await narrow.locator(".reading").waitFor();
	await web.keep(narrow, "latency-narrow");
	assert.ok((await narrow.evaluate(() => document.documentElement.scrollWidth)) <= 400);
}

const { page, report } = await checkWhole();
await checkTask(page, report);
await checkPicture(page);
await checkSort(page);
await checkPart(report);
const again = await checkWhole();
await checkMoment(again.page, report);
await checkHostile();
await web.finish();
