// SPDX-License-Identifier: MIT
// web_profile: the overview, the flame graph, the tables and the comparison of profiles. What is to be seen is worked out
// here from the collector's answers, apart from the page's own code.
import assert from "node:assert/strict";

import { addressHas, lengthText, params, percent, start, until } from "./page.mjs";

const web = await start();
const { before, after, machines, native, board } = web.data.runs;
const LEVEL = 20; /* pixels of a level */

const drawn = (page) => page.locator(".flame canvas[data-drawn]").waitFor();
const tip = (page) => page.getByRole("tooltip");
const summary = (page) => page.locator(".summary");
const count = (n) => n.toLocaleString("en-US");

async function openGraph(run, query = "", options = {}) {
	const page = await web.open(`#profile?run=${run}${query}`, options);
	await drawn(page);
	return page;
}

/** The outermost boxes as they stand: the largest first, each with its middle on the screen. */
async function outermost(page, run, query = "") {
	const { nodes } = await web.api(`runs/${run}/profile/tree?${query}`);
	const roots = nodes.filter((n) => n.depth === 0).sort((a, b) => b.total.weight - a.total.weight);
	const all = roots.reduce((sum, n) => sum + n.total.weight, 0);
	const box = await page.locator(".flame").boundingBox();
	const width = await page.locator(".flame").evaluate((e) => e.clientWidth);
	let from = 0;
	return roots.map((node) => {
		const middle = from + node.total.weight / 2;
		from += node.total.weight;
		return { node, share: node.total.weight / all, x: box.x + (middle / all) * width, y: box.y + 1.5 * LEVEL };
	});
}

async function checkGraph() {
	const page = await openGraph(machines);
	const { totals } = await web.api(`runs/${machines}/profile/report?by=cpu`);
	await summary(page).filter({ hasText: `${count(totals.total.samples)} samples` }).waitFor();
	await summary(page).filter({ hasText: `${lengthText(totals.idle.weight)} idle` }).waitFor();
	const roots = await outermost(page, machines, "groups=process");
	assert.ok(roots.length > 2);
	for (const { node, share, x, y } of roots.slice(0, 2)) {
		await page.mouse.move(x, y);
		await tip(page).locator("strong", { hasText: node.name }).waitFor();
		const text = await tip(page).textContent();
		assert.ok(text.includes(lengthText(node.total.weight)) && text.includes(percent(share)), text);
	}
	await page.mouse.click(roots[0].x, roots[0].y);
	await page.locator(".crumbs", { hasText: roots[0].node.name }).waitFor();
	const key = params(page).get("zoom");
	assert.match(key, /^[0-9a-f]{13}$/);
	await page.reload();
	await page.locator(".crumbs", { hasText: roots[0].node.name }).waitFor();
	assert.equal(params(page).get("zoom"), key, "a link shows the same");
	await page.goBack();
	await page.locator(".crumbs").waitFor({ state: "detached" });
	await page.context().close();
}

async function checkOverview() {
	const page = await openGraph(machines);
	const timeline = await web.api(`runs/${machines}/profile/timeline?width=600`);
	await page.locator(`.strip[data-rows="${timeline.rows.length}"]`).waitFor();
	const legend = await page.getByLabel("Where the CPU was").textContent();
	for (const word of ["programs", "kernel", "programs of guests", "idle"]) assert.ok(legend.includes(word), word);
	const track = await page.locator(".brush-track").boundingBox();
	await page.mouse.move(track.x + track.width * 0.25, track.y + 20);
	await page.mouse.down();
	await page.mouse.move(track.x + track.width * 0.5, track.y + 20, { steps: 4 });
	await page.mouse.up();
	await page.waitForFunction(() => /from=\d+/.test(location.hash) && /to=\d+/.test(location.hash));
	const [from, to] = ["from", "to"].map((k) => params(page).get(k));
	const part = await web.api(`runs/${machines}/profile/report?by=cpu&from_ns=${from}&to_ns=${to}`);
	await summary(page).filter({ hasText: `${count(part.totals.total.samples)} samples` }).waitFor();
	await web.keep(page, "profile");
	await page.getByRole("slider", { name: "End of the time" }).press("PageUp");
	await page.waitForFunction((old) => !location.hash.includes(`to=${old}`), to);
	await page.keyboard.press("b");
	await addressHas(page, "from", "");
	await addressHas(page, "to", "");
	await page.context().close();
}

async function checkTables() {
	const page = await web.open(`#profile?run=${machines}&tab=function`);
	const report = await web.api(`runs/${machines}/profile/report?by=function&limit=5000`);
	const table = page.getByRole("table", { name: "Functions" });
	await table.waitFor();
	assert.equal(Number(await table.getAttribute("aria-rowcount")), report.rows.length);
	const most = report.rows.toSorted((a, b) => b.self.weight - a.self.weight)[0];
	const first = await table.locator("tbody tr:not([aria-hidden])").first().textContent();
	assert.ok(first.includes(most.name) && first.includes(lengthText(most.self.weight)), first);
	assert.ok(first.includes(percent(most.self.weight / report.totals.total.weight)), first);
	await table.getByRole("button", { name: "samples" }).click();
	await addressHas(page, "sort", "-samples");
	await page.getByRole("button", { name: "Processes" }).click();
	const processes = await web.api(`runs/${machines}/profile/report?by=process`);
	const rows = page.getByRole("table", { name: "Processes" }).locator("tbody tr:not([aria-hidden])");
	await rows.nth(processes.rows.length - 1).waitFor();
	assert.equal(await rows.count(), processes.rows.length);
	const batch = processes.rows.find((r) => r.name.startsWith("batch"));
	await rows.filter({ hasText: "batch" }).click();
	await addressHas(page, "process", "4200");
	await summary(page).filter({ hasText: `${count(batch.self.samples)} samples` }).waitFor();
	await page.getByRole("button", { name: "Select all" }).click();
	await addressHas(page, "process", "");
	await page.getByRole("combobox", { name: /^where/ }).selectOption("kernel");
	const kernel = await web.api(`runs/${machines}/profile/report?by=cpu&mode=kernel`);
	await summary(page).filter({ hasText: `${count(kernel.totals.total.samples)} samples` }).waitFor();
	await page.context().close();
}

/** Sums what fits by itself: a node below one that fits is within it. */
function sumOf(nodes, text) {
	let sum = 0;
	let inside = Infinity;
	for (const n of nodes) {
		if (n.depth <= inside) inside = Infinity;
		if (inside === Infinity && `${n.name} ${n.object ?? ""}`.includes(text)) {
			sum += n.total.weight;
			inside = n.depth;
		}
	}
	return sum;
}

async function checkSearch() {
	const page = await openGraph(before);
	const { nodes } = await web.api(`runs/${before}/profile/tree?groups=process`);
	const all = nodes.filter((n) => n.depth === 0).reduce((sum, n) => sum + n.total.weight, 0);
	await page.getByLabel("Find functions").fill("ext4_read");
	const share = sumOf(nodes, "ext4_read") / all;
	assert.ok(share > 0);
	await page.locator(".found-text", { hasText: `(${percent(share)})` }).waitFor();
	await page.getByLabel("Find functions").press("Escape");
	await page.keyboard.press("n");
	await page.locator(".spoken", { hasText: "ext4_read" }).waitFor();
	await page.context().close();
}

async function checkKeys() {
	const page = await openGraph(before);
	const [{ node }] = await outermost(page, before, "groups=process");
	await page.locator(".flame").focus();
	await page.keyboard.press("ArrowDown");
	await page.locator(".spoken", { hasText: node.name }).waitFor();
	await page.keyboard.press("Enter");
	await page.locator(".crumbs", { hasText: node.name }).waitFor();
	await page.keyboard.press("0");
	await page.locator(".crumbs").waitFor({ state: "detached" });
	await page.keyboard.press("i");
	await addressHas(page, "grow", "up");
	await page.keyboard.press("c");
	await addressHas(page, "callers", "1");
	await drawn(page);
	await page.keyboard.press("t");
	await page.getByRole("table", { name: "Functions" }).waitFor();
	await page.keyboard.press("/");
	assert.equal(await page.evaluate(() => document.activeElement.type), "search");
	await page.keyboard.press("Escape");
	await page.keyboard.press("?");
	await page.getByRole("dialog").getByText("turn the stacks around").waitFor();
	await page.context().close();
}

/** Above the functions: processes, threads, nothing; and turned around. */
async function checkStacks() {
	const page = await openGraph(before);
	const firstTip = async (query) => {
		const [{ node, x, y }] = await outermost(page, before, query);
		await page.mouse.move(5, 5);
		await page.mouse.move(x, y);
		await tip(page).locator("strong", { hasText: node.name }).waitFor();
	};
	await page.getByLabel("Above them").selectOption("none");
	await addressHas(page, "groups", "none");
	await firstTip("groups=none");
	await page.getByLabel("from callee to caller").check();
	await addressHas(page, "callers", "1");
	await firstTip("groups=none&callers=1");
	await page.context().close();
}

async function checkCompare() {
	const page = await openGraph(after);
	await page.getByLabel("Compare with").selectOption(String(before));
	await addressHas(page, "base", String(before));
	await page.getByLabel("change").first().waitFor();
	await drawn(page);
	await page.getByRole("group", { name: "before" }).waitFor();
	await web.keep(page, "profile-compare");
	await page.getByRole("button", { name: "Functions" }).click();
	const diff = await web.api(`runs/${before}/profile/diff?with=${after}&by=function`);
	const table = page.getByRole("table", { name: "Functions" });
	await table.waitFor();
	const grown = diff.rows.toSorted((a, b) => b.self_change - a.self_change)[0];
	const cell = table.locator("tr", { hasText: grown.name }).first();
	await cell.filter({ hasText: `+${percent(grown.self_change / 100)}` }).waitFor();
	await page.getByLabel("Compare with").selectOption("");
	await addressHas(page, "base", "");
	await page.context().close();
}

/** A run of another kind leads to one of this kind; machines have their own view. */
async function checkWays() {
	const page = await web.open(`#profile?run=${board}`);
	await until(() => params(page).get("run"), (run) => run !== null && run !== String(board), "a profile is shown");
	await drawn(page);
	await page.goto(`${web.url}#profile?run=${machines}`);
	await page.getByRole("link", { name: "Virtual machines of this recording" }).click();
	await page.locator("main[data-view=vm]").waitFor();
	await page.context().close();
}

async function checkLooks() {
	const page = await openGraph(native || machines, "", { colorScheme: "dark", locale: "ja-JP" });
	await page.getByRole("button", { name: "プロセス一覧" }).waitFor();
	await web.keep(page, "profile-dark");
	await page.context().close();
	const small = await openGraph(machines, "", { viewport: { width: 420, height: 800 } });
	const wide = await small.evaluate(() => document.documentElement.scrollWidth > innerWidth);
	assert.ok(!wide, "nothing is wider than a small screen");
	await web.keep(small, "profile-small");
	await small.context().close();
}

await checkGraph();
await checkOverview();
await checkTables();
await checkSearch();
await checkKeys();
await checkStacks();
await checkCompare();
await checkWays();
await checkLooks();
await web.finish();
console.log("web_profile: all is as it should be");
