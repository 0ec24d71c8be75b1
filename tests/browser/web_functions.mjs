// SPDX-License-Identifier: MIT
// web_functions: flame graph, call tree, table and comparison of functions. What is to be seen is worked out here
// from the collector's answers, apart from the page's own code.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { addressHas, params, start, until } from "./page.mjs";

const web = await start();
const { kernel, func } = web.data.runs;
const LEVEL = 20; /* pixels of a level */

const drawn = (page) => page.locator(".flame canvas[data-drawn]").waitFor();
const tip = (page) => page.getByRole("tooltip");
const spoken = (page) => page.locator(".spoken");

async function openGraph(query = "", options = {}) {
	const page = await web.open(`#functions?run=${kernel}${query}`, options);
	await drawn(page);
	return page;
}

/** The outermost functions as they stand: the longest first, each with its middle on the screen. */
async function outermost(page) {
	const { nodes } = await web.api(`runs/${kernel}/calls/tree`);
	const roots = nodes.filter((n) => n.depth === 0).sort((a, b) => b.total_ns - a.total_ns);
	const all = roots.reduce((ns, n) => ns + n.total_ns, 0);
	const box = await page.locator(".flame").boundingBox();
	const width = await page.locator(".flame").evaluate((e) => e.clientWidth);
	let from = 0;
	return roots.map((node) => {
		const middle = from + node.total_ns / 2;
		from += node.total_ns;
		return { node, x: box.x + (middle / all) * width, y: box.y + 1.5 * LEVEL };
	});
}

async function checkGraph() {
	const page = await openGraph();
	const report = await web.api(`runs/${kernel}/calls/report`);
	assert.ok((await page.locator(".summary").textContent()).includes(`${report.all.calls} calls`));
	for (const part of ["kernel", "preempted", "blocked"])
		assert.ok((await page.locator(".summary .split-legend").textContent()).includes(part), part);
	const roots = await outermost(page);
	for (const { node, x, y } of roots.slice(0, 2)) {
		await page.mouse.move(x, y);
		await tip(page).locator("strong", { hasText: node.function }).waitFor();
		assert.ok((await tip(page).textContent()).includes(String(node.calls)), "the tip has its calls");
	}
	await web.keep(page, "functions");
	await page.mouse.click(roots[1].x, roots[1].y);
	await page.locator(".crumbs", { hasText: roots[1].node.function }).waitFor();
	const key = params(page).get("zoom");
	assert.match(key, /^[0-9a-f]{13}$/);
	await page.getByLabel("One function").getByRole("heading", { level: 2, name: roots[1].node.function }).waitFor();
	await page.reload();
	await page.locator(".crumbs", { hasText: roots[1].node.function }).waitFor();
	assert.equal(params(page).get("zoom"), key, "a link shows the same");
	await page.goBack();
	await addressHas(page, "zoom", "");
	await page.locator(".crumbs").waitFor({ state: "detached" });
	await page.context().close();
}

async function checkKeys() {
	const page = await openGraph();
	const [{ node }] = await outermost(page);
	await page.locator(".flame").focus();
	await page.keyboard.press("ArrowDown");
	await spoken(page).filter({ hasText: node.function }).waitFor();
	await page.keyboard.press("Enter");
	await page.locator(".crumbs", { hasText: node.function }).waitFor();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("z");
	await page.waitForFunction(() => document.querySelectorAll(".crumbs .path li").length === 2);
	await page.keyboard.press("Backspace");
	await page.waitForFunction(() => document.querySelectorAll(".crumbs .path li").length === 1);
	await page.keyboard.press("0");
	await page.locator(".crumbs").waitFor({ state: "detached" });
	await page.keyboard.press("i");
	await page.getByRole("button", { name: "flame", exact: false, pressed: true }).last().waitFor();
	await addressHas(page, "grow", "up");
	await page.keyboard.press("/");
	assert.equal(await page.evaluate(() => document.activeElement.type), "search");
	await page.keyboard.press("Escape");
	await page.keyboard.press("t");
	await page.getByRole("treegrid").waitFor();
	await page.keyboard.press("t");
	await page.keyboard.press("t");
	await drawn(page);
	await page.keyboard.press("?");
	await page.getByRole("dialog").getByText("flame or icicle").waitFor();
	await page.context().close();
}

/** Sums what fits by itself: a node below one that fits is within it. */
function sumOf(nodes, text) {
	let sum = 0;
	let inside = Infinity;
	for (const n of nodes) {
		if (n.depth <= inside) inside = Infinity;
		if (inside === Infinity && n.function.includes(text)) {
			sum += n.total_ns;
			inside = n.depth;
		}
	}
	return sum;
}

async function checkSearch() {
	const page = await openGraph();
	const { nodes } = await web.api(`runs/${kernel}/calls/tree`);
	const all = nodes.filter((n) => n.depth === 0).reduce((ns, n) => ns + n.total_ns, 0);
	await page.getByLabel("Find functions").fill("do_page_fault");
	const share = (100 * sumOf(nodes, "do_page_fault")) / all;
	await page.locator(".found-text", { hasText: `(${share.toFixed(share >= 10 ? 1 : 2)} %)` }).waitFor();
	await web.keep(page, "functions-search");
	await page.getByLabel("Find functions").fill("/^(/");
	await page.getByText("nothing fits").waitFor();
	await page.goto(`${web.url}#functions?run=${kernel}&find=do_page_fault`);
	await page.locator(".found-text").waitFor();
	assert.equal(await page.getByLabel("Find functions").inputValue(), "do_page_fault");
	await page.getByLabel("Find functions").press("Escape");
	await page.keyboard.press("n");
	await spoken(page).filter({ hasText: "do_page_fault" }).waitFor();
	await page.context().close();
}

async function checkMeasures() {
	const page = await openGraph("&by=calls");
	const { nodes } = await web.api(`runs/${kernel}/calls/tree`);
	const calls = nodes.reduce((n, x) => n + x.calls, 0);
	const box = await page.locator(".flame").boundingBox();
	await page.mouse.move(box.x + 20, box.y + LEVEL / 2);
	await tip(page).getByText(String(calls), { exact: true }).waitFor();
	const offered = await page.getByLabel("Measure").locator("option").allTextContents();
	assert.deepEqual(offered, ["total time", "calls", "kernel", "preempted", "blocked", "unknown"]);
	await page.getByLabel("Measure").selectOption("preempted");
	await addressHas(page, "by", "preempted");
	await page.context().close();
}

async function checkTreeRows() {
	const page = await web.open(`#functions?run=${kernel}&tab=tree`);
	const tree = page.getByRole("treegrid");
	await tree.waitFor();
	const rows = tree.locator(".tree-row");
	await rows.first().click();
	await page.locator(".tree-row[aria-selected=true]").waitFor();
	const count = async () => Number(await tree.getAttribute("aria-rowcount"));
	const before = await count();
	assert.equal(await rows.first().getAttribute("aria-expanded"), "true", "the longest path is open by itself");
	await rows.first().press("ArrowLeft");
	await page.locator('.tree-row[aria-level="1"][aria-expanded="false"][aria-selected=true]').waitFor();
	const folded = await count();
	assert.ok(folded < before, `${folded} rows of ${before}`);
	await page.reload();
	await tree.waitFor();
	await until(count, (n) => n === folded, "the link has what is folded");
	await page.locator(".tree-row[aria-selected=true]").press("ArrowRight");
	await until(count, (n) => n === before, "and it unfolds");
	await page.keyboard.press("ArrowDown");
	await page.locator('.tree-row[aria-level="2"][aria-selected=true]').waitFor();
	assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-level")), "2");
	await web.keep(page, "functions-tree");
	await page.context().close();
}

async function checkTable() {
	const page = await web.open(`#functions?run=${kernel}&tab=table`, { colorScheme: "dark" });
	const report = await web.api(`runs/${kernel}/calls/report?sort=calls`);
	const table = page.getByRole("table", { name: "Functions" });
	await table.waitFor();
	assert.equal(Number(await table.getAttribute("aria-rowcount")), report.functions.length);
	await table.getByRole("button", { name: "calls" }).click();
	await addressHas(page, "sort", "-calls");
	const first = table.locator("tbody tr").first();
	const most = report.functions.filter((f) => f.calls === report.functions[0].calls).map((f) => f.function);
	assert.ok(most.includes(await first.locator(".name").first().textContent()), most.join());
	assert.ok((await first.locator(".split").getAttribute("aria-label")).includes("kernel"), "the bar has words");
	await table.locator("tr", { hasText: "do_translation_fault" }).first().click();
	const detail = page.getByLabel("One function");
	await detail.getByRole("button", { name: "do_mem_abort" }).first().waitFor();
	await web.keep(page, "functions-table");
	await detail.getByRole("button", { name: "do_page_fault" }).last().click();
	await detail.getByRole("heading", { level: 2, name: "do_page_fault" }).waitFor();
	await detail.getByRole("button", { name: "Close the function" }).click();
	await detail.waitFor({ state: "detached" });
	await page.context().close();
}

async function checkRange() {
	const page = await openGraph();
	const whole = await web.api(`runs/${kernel}/calls/report`);
	await page.getByRole("slider", { name: "End of the time" }).press("PageDown");
	await page.waitForFunction(() => location.hash.includes("to="));
	const [from, to] = ["from", "to"].map((k) => params(page).get(k));
	const part = await web.api(`runs/${kernel}/calls/report?from_ns=${from}&to_ns=${to}`);
	assert.ok(part.all.calls < whole.all.calls);
	await page.locator(".summary", { hasText: `${part.all.calls} calls` }).waitFor();
	await page.getByRole("button", { name: "whole recording" }).click();
	await page.locator(".summary", { hasText: `${whole.all.calls} calls` }).waitFor();
	const track = await page.locator(".brush-track").boundingBox();
	await page.mouse.move(track.x + track.width * 0.25, track.y + 9);
	await page.mouse.down();
	await page.mouse.move(track.x + track.width * 0.75, track.y + 9, { steps: 4 });
	await page.mouse.up();
	await page.waitForFunction(() => location.hash.includes("from=") && location.hash.includes("to="));
	await page.goBack();
	await page.locator(".summary", { hasText: `${whole.all.calls} calls` }).waitFor();
	await page.context().close();
}

async function checkThreads() {
	const page = await openGraph();
	await page.getByLabel("Threads").fill("no-such-thread");
	await page.getByLabel("Threads").press("Enter");
	await page.locator(".summary", { hasText: "0 calls" }).or(page.getByRole("alert")).first().waitFor();
	await page.getByLabel("Threads").fill("");
	await page.getByLabel("Threads").press("Enter");
	await addressHas(page, "thread", "");
	await drawn(page);
	await page.context().close();
}

async function checkCompare() {
	const page = await openGraph();
	await page.getByLabel("Compare with").selectOption(String(kernel));
	await addressHas(page, "base", String(kernel));
	await page.locator(".split-legend", { hasText: "gone" }).waitFor();
	await drawn(page);
	assert.equal(await page.getByRole("slider").count(), 4, "two ranges");
	await web.keep(page, "functions-compare");
	await page.getByRole("button", { name: "Functions", exact: true }).click();
	const table = page.getByRole("table", { name: "Functions of both" });
	await table.waitFor();
	const text = await table.textContent();
	for (const sign of ["▲", "▼", "✚", "✖"])
		if (text.includes(sign)) assert.match(text, new RegExp(`${sign} [+−]`), "a sign has its figure");
	assert.match(text, /✚ \+|✖ −/, "the halves have different functions");
	await page.getByLabel("shares, not times").check();
	await addressHas(page, "shares", "1");
	assert.match(await table.textContent(), /%/);
	await page.getByRole("button", { name: "Call tree" }).click();
	await page.locator(".tree.compared .change").first().waitFor();
	await page.context().close();
}

async function checkPictures() {
	const page = await openGraph();
	await page.getByRole("button", { name: "Share" }).click();
	const dialog = page.getByRole("dialog");
	for (const kind of ["SVG", "PNG"]) {
		const wait = page.waitForEvent("download");
		await dialog.getByRole("button", { name: kind }).click();
		const bytes = readFileSync(await (await wait).path());
		if (kind === "PNG") assert.deepEqual([...bytes.subarray(1, 4)], [0x50, 0x4e, 0x47]);
		else assert.match(bytes.toString(), /<svg[\s\S]*do_mem_abort[\s\S]*<\/svg>\s*$/);
	}
	await page.context().close();
}

async function checkNarrow() {
	const page = await openGraph("", { viewport: { width: 400, height: 800 }, hasTouch: true });
	const box = await page.locator(".flame").boundingBox();
	assert.ok(box.x >= 0 && box.x + box.width <= 400 && box.height > 150, JSON.stringify(box));
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 400), "nothing sticks out");
	await page.touchscreen.tap(box.x + 50, box.y + 1.5 * LEVEL);
	await page.locator(".crumbs").waitFor();
	await web.keep(page, "functions-narrow");
	await page.context().close();
}

/** A recording without records of the system and with losses says both. */
async function checkGaps() {
	const page = await web.open(`#functions?run=${func}`);
	await drawn(page);
	const { all } = await web.api(`runs/${func}/calls/report`);
	await page.locator(".warning", { hasText: all.lost.toLocaleString("en-US") }).waitFor();
	await page.getByText("was not recorded").waitFor();
	assert.deepEqual(await page.getByLabel("Measure").locator("option").allTextContents(), [
		"total time",
		"calls",
		"unknown",
	]);
	await page.context().close();
}

async function checkRefusal() {
	web.expect(/404/);
	const page = await web.open("#functions?run=999999");
	await page.getByRole("alert").getByText("999999").waitFor();
	await page.context().close();
}

await checkGraph();
await checkKeys();
await checkSearch();
await checkMeasures();
await checkTreeRows();
await checkTable();
await checkRange();
await checkThreads();
await checkCompare();
await checkPictures();
await checkNarrow();
await checkGaps();
await checkRefusal();
await web.finish();
console.log("web_functions: ok");
