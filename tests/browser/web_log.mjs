// SPDX-License-Identifier: MIT
// web_log: every event of a recording, compared with its export; filters, keys, paging in both directions, what is
// selected in the timeline, losses in their place and in the ledger.
import assert from "node:assert/strict";

import { start } from "./page.mjs";

const web = await start();
const { runs } = web.data;

async function itemsOf(run, query = "") {
	const text = await (await fetch(`${web.url}api/v1/runs/${run}/export?format=ndjson${query}`)).text();
	const all = text.trim().split("\n").map((line) => JSON.parse(line));
	return all.filter((i) => !["trace", "task", "totals"].includes(i.kind));
}

const rowsOf = (page) => page.locator("tr[data-event]");
const nsOf = (page) => rowsOf(page).evaluateAll((rows) => rows.map((r) => Number(r.dataset.ns)));
const waitRows = (page) => rowsOf(page).first().waitFor();
const details = (page) => page.getByRole("complementary");
const field = (page, name) => details(page).locator(`[data-field="${name}"]`).textContent();

async function checkStart(page, items) {
	await waitRows(page);
	const shown = await nsOf(page);
	assert.deepEqual(shown, items.slice(0, shown.length).map((i) => i.ns), "the first events, in order");
}

/** Scrolls by so many heights, and waits until that was drawn. */
const scroll = (page, by) =>
	page.locator(".events").evaluate((e, n) => {
		e.scrollBy(0, n * e.clientHeight);
		return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	}, by);

/** Scrolls through all of it; nothing is missing and nothing comes twice. */
async function checkScroll(page, items) {
	const seen = [];
	for (;;) {
		const part = await nsOf(page);
		const top = seen.length ? part.findIndex((ns) => ns > seen.at(-1)) : 0;
		if (top >= 0) seen.push(...part.slice(top));
		if (seen.at(-1) === items.at(-1).ns) break;
		const last = seen.at(-1);
		await scroll(page, 1);
		await page.waitForFunction((ns) => [...document.querySelectorAll("tr[data-event]")].some((r) => Number(r.dataset.ns) > ns), last);
	}
	const times = [...new Set(items.map((i) => i.ns))];
	const wrong = seen.findIndex((ns, i) => i > 0 && ns < seen[i - 1]);
	assert.equal(wrong, -1, "they are in order");
	const shown = new Set(seen);
	assert.deepEqual(times.filter((ns) => !shown.has(ns)).slice(0, 10), [], "every time that has an event was in sight");
}

async function checkEnds(page, items) {
	await page.keyboard.press("End");
	await page.locator('.events[data-rows="500"]').waitFor(); /* only the last page, not what was scrolled through */
	await page.locator(`tr[data-ns="${items.at(-1).ns}"]`).last().waitFor();
	for (;;) {
		const first = (await nsOf(page))[0];
		if (first === items[0].ns) break;
		await scroll(page, -3);
		await page.waitForFunction((ns) => Number(document.querySelector("tr[data-event]")?.dataset.ns) < ns, first);
	}
	const part = await nsOf(page);
	assert.deepEqual(part, items.slice(0, part.length).map((i) => i.ns), "back at the beginning, without a gap");
}

/** An event that is known, by its address; then the one behind it, by the keyboard. */
async function checkKnown(items, run) {
	const whole = await web.open(`#log?run=${run}`);
	await waitRows(whole);
	await web.keep(whole, "log");
	const index = items.findIndex((i, n) => n > items.length / 2 && i.kind === "switch");
	const item = items[index];
	const page = await web.open(`#log?run=${run}&ev=${item.ns}.${item.cpu}.sched_switch`);
	await details(page).waitFor();
	for (const name of ["prev_comm", "prev_pid", "next_comm", "next_pid", "prev_prio"])
		assert.equal(await field(page, name), String(item[name]), name);
	assert.equal(Number((await field(page, "ns")).replaceAll(",", "")), item.ns);
	await web.keep(page, "log-event");
	await page.keyboard.press("ArrowDown");
	const next = items[index + 1];
	await page.waitForFunction((ns) => document.querySelector("tr[aria-selected=true]")?.dataset.ns === ns, String(next.ns));
	assert.match(page.url(), new RegExp(`ev=${next.ns}\\.${next.cpu}\\.`));
	await page.keyboard.press("t");
	await page.waitForURL(/#timeline\?/);
	const params = new URLSearchParams(page.url().split("?")[1]);
	assert.ok(Number(params.get("from")) < next.ns && Number(params.get("to")) > next.ns);
}

async function checkFilter(run) {
	const wanted = await itemsOf(run, "&event=waking&cpu=0");
	assert.ok(wanted.length > 1, "there is something to find");
	const page = await web.open(`#log?run=${run}`);
	await waitRows(page);
	await page.getByRole("searchbox", { name: "CPUs" }).fill("0");
	await page.getByText("Kinds of events:").click();
	await page.getByRole("checkbox", { name: "waking", exact: true }).check();
	await page.waitForFunction(() => {
		const rows = [...document.querySelectorAll("tr[data-event]")];
		return rows.length && rows.every((r) => ["sched_waking", "lost"].includes(r.dataset.event) && r.cells[2].textContent === "0");
	});
	const events = wanted.filter((i) => i.kind === "waking").map((i) => i.ns);
	const shown = await page.locator("tr[data-event=sched_waking]").evaluateAll((l) => l.map((r) => Number(r.dataset.ns)));
	assert.deepEqual(shown, events.slice(0, shown.length));
	const again = await web.open(new URL(page.url()).hash);
	await waitRows(again);
	assert.deepEqual(await nsOf(again), await nsOf(page), "the address has the filter");
	await page.getByRole("searchbox", { name: "name" }).fill("no such task");
	await page.getByText("No event of this range passes the filter.").waitFor();
	web.expect(/status of 400/);
	await page.getByRole("searchbox", { name: "CPUs" }).fill("x");
	await page.getByRole("alert").filter({ hasText: "cpu" }).waitFor();
	await page.getByRole("button", { name: "No filter" }).click();
	await waitRows(page);
}

/** The range and the moment of the timeline. */
async function checkFollow(items, run) {
	const [from, at, to] = [0.25, 0.5, 0.75].map((part) => items[Math.floor(part * items.length)].ns);
	const pid = items.find((i) => i.ns === at).common_pid;
	const page = await web.open(`#log?run=${run}&from=${from}&to=${to}&sel=${run}.t${pid}@${at}`);
	await page.locator(`tr[data-ns="${at}"]`).first().waitFor();
	await page.getByRole("button", { name: `Only pid ${pid}` }).waitFor();
	await page.keyboard.press("Home");
	await page.waitForFunction((ns) => Number(document.querySelector("tr[data-event]")?.dataset.ns) === ns, from);
	await page.keyboard.press("End");
	const last = items.filter((i) => i.ns < to).at(-1).ns;
	await page.locator(`tr[data-ns="${last}"]`).last().waitFor();
	await page.getByRole("button", { name: "Whole recording" }).click();
	await page.waitForFunction((ns) => Number(document.querySelector("tr[data-event]")?.dataset.ns) === ns, items[0].ns);
}

async function checkLosses() {
	const ledger = await web.api(`runs/${runs.long}/ledger`);
	assert.ok(ledger.rows.length > 0);
	const page = await web.open(`#log?run=${runs.long}&tab=ledger`);
	const table = page.getByRole("table", { name: "Losses" });
	await table.locator("tbody tr.choice").first().waitFor();
	assert.equal(Number(await table.getAttribute("aria-rowcount")), ledger.rows.length);
	const sum = Object.values(ledger.lost).reduce((a, b) => a + b, 0);
	await page.getByText(`${sum.toLocaleString("en")} lost`, { exact: false }).first().waitFor();
	await web.keep(page, "log-ledger");
	await table.locator("tbody tr.choice").last().click();
	await page.waitForURL(/#timeline\?/);
	const gap = ledger.rows.filter((r) => r.from_ns !== null).at(-1);
	const events = await web.open(`#log?run=${runs.long}&from=${gap.from_ns}`);
	await events.locator("tr[data-event=lost]").first().waitFor();
	assert.match(await events.locator("tr[data-event=lost]").first().textContent(), /events lost/);
	await web.keep(events, "log-losses");
}

async function checkHostile() {
	const page = await web.open(`#log?run=${runs.hostile}`);
	await waitRows(page);
	assert.equal(await page.locator("main img").count(), 0);
	assert.match(await page.locator("main select option:checked").first().textContent(), /<img src=x onerror=alert\(1\)>⟨202E⟩␇"😀/);
	const other = await web.open(`#log?run=${runs.func}`);
	await other.getByText("no events of the scheduler").waitFor();
	const narrow = await web.open(`#log?run=${runs.board}`, { viewport: { width: 400, height: 800 }, colorScheme: "dark" });
	await waitRows(narrow);
	await web.keep(narrow, "log-narrow");
	assert.ok((await narrow.evaluate(() => document.documentElement.scrollWidth)) <= 400);
}

const items = await itemsOf(runs.long);
/* A high window: it takes fewer steps to see all of it. */
const page = await web.open(`#log?run=${runs.long}`, { viewport: { width: 1200, height: 5000 } });
await checkStart(page, items);
await checkScroll(page, items);
await checkEnds(page, items);
const board = await itemsOf(runs.board);
await checkKnown(board, runs.board);
await checkFilter(runs.board);
await checkFollow(board, runs.board);
await checkLosses();
await checkHostile();
await web.finish();
