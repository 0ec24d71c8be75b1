// SPDX-License-Identifier: MIT
// web_boot: boots in the page: the chart, the report, the critical path, and two boots side by side. The chart itself has
// its own checks (chart.mjs); here it is what is around it, and that both know of each other.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { start } from "./page.mjs";

const web = await start();
const { boot, boot_small: small } = web.data.runs;
const params = (page) => new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
const ready = (page) => page.locator(".boot-chart[data-ready]").waitFor();
const seconds = (ns) => `${(ns / 1e9).toFixed(3)} s`;

const addressHas = (page, key, value) =>
	page.waitForFunction(
		([k, v]) => (new URLSearchParams(location.hash.split("?")[1]).get(k) ?? "") === v,
		[key, value],
	);

async function openBoot(query = "", options = {}) {
	const page = await web.open(`#boot?run=${boot}${query}`, options);
	await page.locator(".boot .summary").waitFor();
	return page;
}

async function checkChart() {
	const page = await openBoot();
	await ready(page);
	const report = await web.api(`runs/${boot}/boot/report`);
	const summary = await page.locator(".summary").textContent();
	assert.ok(summary.includes(`${report.to}: reached after ${seconds(report.to_ns)}`), summary);
	await page.getByText(/^Path to \d/).waitFor();
	assert.equal(await page.locator(".summary a", { hasText: "Timeline" }).count(), report.sched ? 1 : 0);
	await web.keep(page, "boot");
	const box = await page.locator(".boot-chart canvas").first().boundingBox();
	await page.mouse.move(box.x + 500, box.y + 60);
	await page.mouse.wheel(0, -400);
	await page.waitForFunction(() => /from=\d+.*to=\d+/.test(location.hash));
	const [from, to] = [Number(params(page).get("from")), Number(params(page).get("to"))];
	assert.ok(to - from < report.boot.to_ns - report.boot.from_ns, "zoomed in");
	await page.reload();
	await ready(page);
	assert.deepEqual([params(page).get("from"), params(page).get("to")], [String(from), String(to)]);
	await page.context().close();
}

/** From a list to the chart and back. */
async function checkReport() {
	const page = await openBoot("&tab=report");
	const report = await web.api(`runs/${boot}/boot/report`);
	const cpu = page.getByRole("region", { name: "CPU time" });
	await cpu.waitFor();
	const rows = cpu.locator("tbody tr");
	assert.equal(await rows.count(), report.cpu.length);
	assert.ok((await rows.first().textContent()).includes(report.cpu[0].comm));
	const idle = page.getByRole("region", { name: "Idle stretches" });
	assert.equal(await idle.locator(".stretches > li").count(), report.idle.length);
	assert.ok((await idle.locator(".stretches > li").first().textContent()).includes(seconds(report.idle[0].from_ns)));
	await web.keep(page, "boot-report");
	const at = report.cpu.findIndex((p) => p.args !== null);
	await rows.nth(at).getByRole("button").click();
	await ready(page);
	assert.equal(params(page).get("pid"), String(report.cpu[at].pid));
	await page.locator(".boot-chart").getByText(report.cpu[at].args, { exact: false }).first().waitFor();
	await page.goBack();
	await cpu.waitFor();
	await page.context().close();
}

async function checkPath() {
	const page = await openBoot("&tab=path", { colorScheme: "dark" });
	const { path } = await web.api(`runs/${boot}/boot/report?path=1`);
	const table = page.getByRole("table", { name: "Critical path" });
	await table.waitFor();
	assert.equal(Number(await table.getAttribute("aria-rowcount")), path.length);
	const first = table.locator("tbody tr").first();
	assert.ok((await first.textContent()).includes(path[0].comm));
	assert.ok(await first.locator(".split").getAttribute("aria-label"), "the bar has words");
	const marks = await table.locator("tbody tr:not([aria-hidden])").evaluateAll((rows) =>
		rows.slice(0, 10).map((r) => r.querySelector('[title^="Nothing recorded"]') !== null),
	);
	assert.deepEqual(marks, path.slice(0, 10).map((s) => s.inferred), "steps that are concluded are marked");
	await web.keep(page, "boot-path");
	await page.keyboard.press("t");
	await ready(page);
	await page.context().close();
}

async function checkTwo() {
	const page = await openBoot();
	await ready(page);
	await page.getByLabel("Compare with").selectOption(String(small));
	await addressHas(page, "base", String(small));
	await page.getByRole("button", { name: "Differences" }).click();
	const diff = await web.api(`runs/${small}/boot/diff?with=${boot}`);
	const table = page.getByRole("table", { name: "Differences" });
	await table.waitFor();
	assert.equal(Number(await table.getAttribute("aria-rowcount")), diff.processes.length);
	const text = await table.textContent();
	assert.match(text, /✚ new/);
	assert.match(text, /✖ gone/);
	await web.keep(page, "boot-diff");
	const summary = await page.locator(".summary").textContent();
	assert.ok(summary.includes(`${diff.new} processes are new, ${diff.gone} gone`), summary);
	assert.match(summary, diff.target_change_ns > 0 ? /▲ \+/ : /▼ −/);
	await page.getByRole("button", { name: "Chart", exact: true }).click();
	await ready(page);
	await page.locator(".boot-chart").getByText("Legend").waitFor();
	await web.keep(page, "boot-two");
	await page.goto(`${web.url}#boot?run=${boot}&base=${small}&tab=diff&sort=-cpu`);
	await table.waitFor();
	await table.locator('th[aria-sort="descending"]', { hasText: "CPU time" }).waitFor();
	await page.context().close();
}

async function checkPictures() {
	const page = await openBoot();
	const { to } = await web.api(`runs/${boot}/boot/report`);
	await ready(page);
	await page.getByRole("button", { name: "Share" }).click();
	const dialog = page.getByRole("dialog", { name: "Share" });
	for (const kind of ["SVG", "PNG"]) {
		const wait = page.waitForEvent("download");
		await dialog.getByRole("button", { name: kind }).click();
		const bytes = readFileSync(await (await wait).path());
		if (kind === "PNG") assert.deepEqual([...bytes.subarray(1, 4)], [0x50, 0x4e, 0x47]);
		else assert.ok(/<svg[\s\S]*<\/svg>\s*$/.test(bytes.toString()) && bytes.toString().includes(to), "an SVG of it");
	}
	await page.context().close();
}

async function checkThemes() {
	const page = await openBoot("", { colorScheme: "light" });
	await ready(page);
	const ground = () => page.locator(".boot-chart").evaluate((e) => getComputedStyle(e).backgroundColor);
	const light = await ground();
	await page.getByLabel("Theme").selectOption("dark");
	await page.waitForFunction(
		(l) => getComputedStyle(document.querySelector(".boot-chart")).backgroundColor !== l,
		light,
	);
	await web.keep(page, "boot-dark");
	await page.context().close();
}

/** The page's language is the chart's, at once, and what was chosen in it stays. */
async function checkLanguage() {
	const report = await web.api(`runs/${boot}/boot/report`);
	const page = await openBoot(`&pid=${report.cpu[0].pid}`, { colorScheme: "dark" });
	await ready(page);
	const chart = page.locator(".boot-chart");
	await chart.getByRole("tab", { name: "Process" }).waitFor();
	const before = await chart.textContent();
	const drawn = await chart.locator(".kc-head").evaluate((c) => c.toDataURL());
	await page.getByLabel("Language").selectOption("ja");
	await chart.getByRole("tab", { name: "プロセス" }).waitFor();
	await chart.getByRole("toolbar", { name: "チャート" }).getByRole("button", { name: "クリティカルパス" }).waitFor();
	await chart.getByRole("searchbox", { name: "プロセスを検索" }).waitFor();
	await chart.getByRole("tabpanel").getByText("生存期間").waitFor();
	assert.equal(params(page).get("pid"), String(report.cpu[0].pid), "it is still selected");
	// The names of rows are on the canvas, of which a PNG is made.
	await page.waitForFunction((d) => document.querySelector(".kc-head").toDataURL() !== d, drawn);
	await chart.getByRole("tab", { name: "凡例" }).click();
	await chart.locator('[data-sign="sleeping"]', { hasText: "スリープ (S)" }).waitFor();
	await web.keep(page, "boot-ja-dark");
	await page.reload();
	await chart.getByRole("tab", { name: "凡例" }).waitFor();
	await page.getByLabel("言語").selectOption("en");
	await chart.getByRole("tab", { name: "Process" }).waitFor();
	assert.equal(await chart.textContent(), before, "and back");
	await page.context().close();
	const two = await openBoot(`&base=${small}`, { locale: "ja-JP" });
	await two.getByRole("list", { name: "欠けている情報" }).getByText("1 回目: 欠落").waitFor();
	await two.getByRole("list", { name: "欠けている情報" }).getByText("スケジューライベントがなく").waitFor();
	await web.keep(two, "boot-two-ja");
	await two.context().close();
}

async function checkNarrow() {
	for (const [locale, name] of [["en-US", "boot-narrow"], ["ja-JP", "boot-narrow-ja"]]) {
		const page = await openBoot("", { viewport: { width: 400, height: 800 }, hasTouch: true, locale });
		await ready(page);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 400), "nothing sticks out");
		await web.keep(page, name);
		await page.context().close();
	}
}

async function checkRefusal() {
	web.expect(/404/);
	const page = await web.open(`#boot?run=${boot}&base=999999`);
	await page.getByRole("alert").getByText("999999").waitFor();
	await page.context().close();
}

await checkChart();
await checkReport();
await checkPath();
await checkTwo();
await checkPictures();
await checkThemes();
await checkLanguage();
await checkNarrow();
await checkRefusal();
await web.finish();
console.log("web_boot: ok");
