// SPDX-License-Identifier: MIT
// web_devices: the view of all devices, beside a real agent that traces this machine: what it says of it, marks,
// groups, search, and start, stop and configure with what became of them.
import assert from "node:assert/strict";

import { start, until } from "./page.mjs";

const web = await start();
const NAME = web.data.device;

const rowOf = (page) => page.locator("tr[data-device]", { hasText: NAME });
const device = () => web.api(`devices/${NAME}`);

/** Through the dialog: asks, confirms, and gives what became of it. */
async function confirm(page) {
	await page.locator("dialog button.primary").click();
	const outcome = page.locator("dialog [data-fate]");
	await page.locator("dialog [data-fate]:not([data-fate=waiting])").first().waitFor();
	const fate = await outcome.first().getAttribute("data-fate");
	return { fate, text: await outcome.first().textContent() };
}

const closeDialog = async (page) => {
	await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
	await page.getByRole("dialog").waitFor({ state: "detached" });
};

async function checkRow(page) {
	await rowOf(page).locator(".state.tracing").waitFor();
	await until(device, (d) => d.received.events > 0 && d.clock, "the agent sends events");
	await rowOf(page).locator(".of-size", { hasText: /\d\.\d\d/ }).waitFor();
	await rowOf(page).locator('.spark polyline[points*=" "]').waitFor({ state: "attached" });
	const text = await rowOf(page).textContent();
	assert.match(text, /127\.0\.0\.1:\d+/, "the link");
	assert.match(text, /µs|ms|ns/, "the error of its clock");
	await rowOf(page).locator(".of-cost", { hasText: /\d %/ }).waitFor();
	await web.keep(page, "devices");
}

async function checkSearch(page) {
	const search = page.getByRole("searchbox", { name: "Search" });
	await page.keyboard.press("/");
	await page.keyboard.type("nothing like this");
	await page.getByText("No device is like this.").waitFor();
	await page.getByRole("button", { name: "Show all devices" }).click();
	await search.fill("TRACING this");
	await rowOf(page).waitFor();
	assert.match(page.url(), /q=TRACING/);
	await search.fill("");
}

async function checkDetails(page) {
	await rowOf(page).focus();
	await page.keyboard.press("Enter");
	const details = page.getByRole("complementary");
	await details.waitFor();
	const d = await device();
	for (const words of [d.kernel, d.machine, d.agent, d.id, "tracefs"])
		assert.ok((await details.textContent()).includes(words), words);
	const run = details.locator(`li[data-run="${d.run}"]`);
	await run.waitFor();
	const ways = await run.locator("a").evaluateAll((list) => list.map((a) => a.getAttribute("href")));
	assert.deepEqual(ways, ["timeline", "latency", "log"].map((v) => `#${v}?run=${d.run}`));
	await web.keep(page, "devices-details");
	const again = await web.open(new URL(page.url()).hash);
	await again.getByRole("complementary").waitFor();
	await again.close();
	await page.keyboard.press("Escape");
	await details.waitFor({ state: "detached" });
}

async function checkGroup(page) {
	await rowOf(page).locator("input[type=checkbox]").check();
	await page.getByRole("toolbar").getByRole("button", { name: "Group…" }).click();
	const hostile = "rack <b>1</b>\u202e";
	await page.getByRole("dialog").getByRole("combobox").fill(hostile);
	await page.getByRole("button", { name: "Save" }).click();
	await page.getByRole("dialog").waitFor({ state: "detached" });
	const heading = page.locator("tr.group", { hasText: "rack <b>1</b>⟨202E⟩" });
	await heading.waitFor();
	assert.equal((await device()).group, hostile);
	await page.getByRole("combobox", { name: "Group" }).selectOption({ label: "(no group)" });
	await rowOf(page).waitFor({ state: "detached" });
	await page.goBack();
	await rowOf(page).waitFor();
	await web.keep(page, "devices-group");
}

async function checkStop(page) {
	await page.keyboard.press("p");
	await page.getByRole("dialog", { name: "Stop tracing on 1 device" }).waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });
	assert.equal((await device()).state, "tracing", "nothing happens without a confirmation");
	await page.keyboard.press("p");
	assert.equal((await confirm(page)).fate, "done");
	await closeDialog(page);
	await rowOf(page).locator(".state.idle").waitFor();
	await until(device, (d) => d.state === "idle", "the device has stopped");
}

async function checkConfigure(page) {
	const before = (await device()).run;
	await page.keyboard.press("c");
	const field = (name) => page.locator(`[data-field=${name}]`);
	const primary = page.locator("dialog button.primary");
	assert.ok(await primary.isDisabled(), "nothing is chosen yet");
	await field("comm").getByRole("combobox").selectOption("only");
	assert.ok(await primary.isDisabled(), "and nothing is said which");
	await field("comm").getByRole("textbox").fill("node, kworker/*");
	await field("events").getByRole("combobox").selectOption("only");
	assert.equal(
		await page.locator("dialog .command code").textContent(),
		`kiseki configure ${NAME} --events switch,waking --comm 'node,kworker/*'`,
	);
	await web.keep(page, "devices-configure");
	assert.equal((await confirm(page)).fate, "done");
	await closeDialog(page);
	const d = await device();
	assert.deepEqual(d.config.comm, ["node", "kworker/*"]);
	assert.deepEqual(d.config.events, ["switch", "waking"]);
	await page.keyboard.press("t");
	assert.equal((await confirm(page)).fate, "done");
	await closeDialog(page);
	await rowOf(page).locator(".state.tracing").waitFor();
	await until(device, (now) => now.run !== null && now.run !== before, "it records anew");
}

async function checkRefusal(page) {
	await page.keyboard.press("c");
	await page.locator("[data-field=source] select").selectOption("driver");
	const { fate, text } = await confirm(page);
	assert.equal(fate, "failed");
	assert.match(text, /failed – cannot/, "in the device's own words");
	await web.keep(page, "devices-refused");
	await closeDialog(page);
	await page.keyboard.press("c");
	await page.locator("[data-field=pid] select").selectOption("only");
	await page.locator("[data-field=pid] input").fill("x");
	web.expect(/status of 400/);
	assert.match((await confirm(page)).text, /pid/, "in the collector's own words");
	await closeDialog(page);
}

async function checkHistory(page) {
	await page.goto(`${web.url}#log?tab=instructions`);
	const rows = page.getByRole("table", { name: "Instructions" }).locator("tbody tr");
	await rows.filter({ hasText: "driver" }).filter({ hasText: "failed: cannot" }).waitFor();
	for (const words of ["stop", "start", "comm=node,kworker/*"]) await rows.filter({ hasText: words }).first().waitFor();
	await web.keep(page, "log-instructions");
}

async function checkNarrow() {
	const page = await web.open("#devices", { viewport: { width: 400, height: 800 }, colorScheme: "dark", hasTouch: true });
	await rowOf(page).tap();
	await page.getByRole("complementary").waitFor();
	await web.keep(page, "devices-narrow");
	const wide = await page.evaluate(() => document.documentElement.scrollWidth);
	assert.ok(wide <= 400, `the page is ${wide} wide`);
}

const page = await web.open("#devices");
await checkRow(page);
await checkSearch(page);
await checkDetails(page);
await checkGroup(page);
await checkStop(page);
await checkConfigure(page);
await checkRefusal(page);
await checkHistory(page);
await checkNarrow();
await web.finish();
