// SPDX-License-Identifier: MIT
// web_follow: the list of events of a device that is traced right now: what is new comes at the end, scrolling up ends
// that, the button begins it again, and however much comes, the page holds as much as before.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync } from "node:fs";

import { start, until } from "./page.mjs";

const ROWS_MAX = 8000; /* of web/src/views/log/event_window.ts */
const web = await start();
const getDevice = () => web.api("devices").then((d) => d.devices.find((x) => x.name === web.data.device));
const device = await until(getDevice, (d) => d?.run && d.received.events > 0, "the device traces");

const follow = (page) => page.getByRole("button", { name: "Follow" });
const pressed = (page, on) => page.locator(`button[aria-pressed=${on}]`, { hasText: "Follow" }).waitFor();
const nsOf = (page) => page.locator("tr[data-event]").evaluateAll((rows) => rows.map((r) => Number(r.dataset.ns)));
const lastOf = (page) => nsOf(page).then((list) => list.at(-1) ?? 0);
const grows = (page, ns) =>
	page.waitForFunction((n) => Number([...document.querySelectorAll("tr[data-event]")].at(-1)?.dataset.ns) > n, ns);
const endGap = (page) => page.locator(".events").evaluate((e) => e.scrollHeight - e.clientHeight - e.scrollTop);
const received = () => getDevice().then((d) => d.received.events);
const more = async (count) => {
	const before = await received();
	await until(received, (n) => n >= before + count, `${count} more events`);
};
function deviceDo(...what) {
	assert.equal(spawnSync(web.data.agent, what, { stdio: "inherit" }).status, 0, what.join(" "));
}

async function checkFollows(page) {
	await page.locator("tr[data-event]").first().waitFor();
	await pressed(page, false);
	await page.locator("button[aria-pressed]:not(:disabled)", { hasText: "Follow" }).click();
	await pressed(page, true);
	assert.match(page.url(), /follow=1/);
	for (let i = 0; i < 3; i++) {
		await grows(page, await lastOf(page));
		assert.ok((await endGap(page)) <= 60, "the end is in sight");
	}
	await page.getByText("events a second").waitFor();
	await web.keep(page, "log-follow");
	await page.setViewportSize({ width: 1400, height: 500 });
	await page.waitForFunction(() => {
		const e = document.querySelector(".events");
		return e.clientHeight < 500 && e.scrollHeight - e.clientHeight - e.scrollTop <= 60;
	});
	await pressed(page, true);
	await page.setViewportSize({ width: 1400, height: 900 });
}

/** What is in sight stays there, however much comes. */
async function checkStays(page) {
	await pressed(page, false);
	let last = "";
	const seen = await until(
		() => nsOf(page),
		(list) => last === (last = list.join()), /* the browser scrolls in steps */
		"the list comes to rest",
	);
	await more(500);
	assert.deepEqual(await nsOf(page), seen, "nothing moves");
}

async function checkEndsAndResumes(page) {
	await page.locator(".events").hover();
	await page.mouse.wheel(0, -400);
	await checkStays(page);
	assert.doesNotMatch(page.url(), /follow/);
	await follow(page).click();
	await grows(page, await lastOf(page));
	assert.ok((await endGap(page)) <= 60, "it is at the end again");
	await page.locator(".events").evaluate((e) => e.scrollBy(0, -600)); /* as the bar of the list does */
	await checkStays(page);
	await page.keyboard.press("l");
	await pressed(page, true);
	await grows(page, await lastOf(page));
	await page.keyboard.press("ArrowUp");
	await pressed(page, false);
	await page.locator("tr[aria-selected=true]").waitFor();
	await page.keyboard.press("Escape");
	await page.keyboard.press("l");
	await pressed(page, true);
	await page.getByRole("button", { name: "First" }).click();
	await pressed(page, false);
	await page.waitForFunction(() => document.querySelector("tr[data-event] td")?.textContent === "+0.000000000");
	/* Not followed, the end can be scrolled on to as it grows. */
	await page.keyboard.press("End");
	await page.waitForFunction((n) => Number([...document.querySelectorAll("tr[data-event]")].at(-1)?.dataset.ns) > n, (await nsOf(page)).at(-1));
	const last = await lastOf(page);
	await page.waitForFunction((n) => {
		document.querySelector(".events").scrollBy(0, 100000);
		return Number([...document.querySelectorAll("tr[data-event]")].at(-1)?.dataset.ns) > n;
	}, last);
	await pressed(page, false);
}

/** To a name that no task has yet; what was lost is listed all the same, since it might have been of that task. */
async function filter(page, name) {
	await page.getByRole("searchbox", { name: "name" }).fill(name);
	await page.waitForURL(new RegExp(`comm=${name}`));
	await page.waitForFunction(() => [...document.querySelectorAll("tr[data-event]")].every((r) => r.dataset.event === "lost"));
}

/** A filter that passes nothing until a program is started here and now. */
async function checkFilter(page) {
	const program = `${web.data.work}/kiseki-follow`;
	copyFileSync("/bin/sleep", program);
	await follow(page).click();
	await filter(page, "kiseki-follow");
	for (let i = 0; i < 2; i++) {
		const child = spawn(program, ["1000"], { stdio: "ignore" });
		await page.locator("tr[data-event]", { hasText: String(child.pid) }).first().waitFor();
		child.kill();
	}
	await pressed(page, true);
	const texts = await page.locator("tr[data-event]:not(.lost)").allTextContents();
	assert.ok(texts.every((t) => t.includes("kiseki-follow")));
	await page.getByRole("button", { name: "No filter" }).click();
}

async function heapOf(page) {
	const cdp = await page.context().newCDPSession(page);
	await cdp.send("HeapProfiler.collectGarbage");
	const { usedSize } = await cdp.send("Runtime.getHeapUsage");
	await cdp.detach();
	return usedSize;
}

/** Few enough that each answer can be appended; where answers are late, one stands in for all that came meanwhile. */
async function checkWindow(page) {
	const program = `${web.data.work}/kiseki-tick`;
	copyFileSync("/usr/bin/perl", program);
	chmodSync(program, 0o755);
	await filter(page, "kiseki-tick");
	const ticks = Array.from({ length: 4 }, () => spawn(program, ["-e", "select undef, undef, undef, 0.002 while 1"], { stdio: "ignore" }));
	let most = 0;
	try {
		const rows = () => page.locator(".events").evaluate((e) => Number(e.dataset.rows));
		for (let i = 0; i < 20; i++) {
			await grows(page, await lastOf(page));
			most = Math.max(most, await rows());
		}
		assert.ok(most > 0 && most <= ROWS_MAX, `${most} rows`);
	} finally {
		for (const child of ticks) child.kill();
	}
	console.log(`web_follow: at most ${most} rows`);
	await pressed(page, true);
	await page.getByRole("button", { name: "No filter" }).click();
}

/** Two programs that hand single bytes to each other make events by the thousand. */
async function checkBounded(page) {
	const load = spawn("sh", ["-c", "nice dd if=/dev/zero bs=1 2>/dev/null | nice dd of=/dev/null bs=1 2>/dev/null"], {
		stdio: "ignore",
		detached: true,
	});
	let most = 0;
	const watch = async (count) => {
		const before = await received();
		await until(
			async () => {
				const [rows, drawn] = await page.locator(".events").evaluate((e) => [Number(e.dataset.rows), e.querySelectorAll("tr").length]);
				assert.ok(rows <= ROWS_MAX && drawn < 200, `${rows} rows in memory, ${drawn} in the page`);
				most = Math.max(most, rows);
				return received();
			},
			(n) => n >= before + count,
			`${count} more events`,
		);
	};
	try {
		await watch(2 * ROWS_MAX);
		const first = await heapOf(page);
		await watch(4 * ROWS_MAX);
		await grows(page, await lastOf(page));
		const second = await heapOf(page);
		console.log(`web_follow: at most ${most} rows; ${(first / 1e6).toFixed(1)} MB, then ${(second / 1e6).toFixed(1)} MB`);
		assert.ok(second < first + 16e6, "the page does not grow");
	} finally {
		process.kill(-load.pid);
	}
	await pressed(page, true);
}

/** The device goes; when it is back it makes another recording. Who follows is led to that, and others have a link. */
async function checkGone(page) {
	deviceDo("stop");
	await page.getByText("the device is away").waitFor();
	await web.keep(page, "log-follow-away");
	deviceDo("start", "--start");
	const next = await until(getDevice, (d) => d.run && d.run !== device.run && d.online, "another recording");
	await page.waitForURL(new RegExp(`run=${next.run}`));
	await pressed(page, true);
	await grows(page, 0);
	await grows(page, await lastOf(page));
	const old = await web.open(`#log?run=${device.run}`);
	await old.getByRole("link", { name: `recording ${next.run}` }).click();
	await old.waitForURL(new RegExp(`run=${next.run}`));
	await pressed(old, true);
	await grows(old, 0);
}

const page = await web.open(`#log?run=${device.run}`);
await checkFollows(page);
await checkEndsAndResumes(page);
await checkFilter(page);
await checkWindow(page);
await checkBounded(page);
await checkGone(page);
await web.finish();
