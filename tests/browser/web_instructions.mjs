// SPDX-License-Identifier: MIT
// web_instructions: what a real device was told while it was away, frozen or about to die, and what became of that, in a
// page that was opened before and is never loaded again.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";

import { start, until } from "./page.mjs";

const web = await start();
const NAME = web.data.device;
const getDevice = () => web.api(`devices/${NAME}`);
function deviceDo(...what) {
	assert.equal(spawnSync(web.data.agent, what, { stdio: "inherit" }).status, 0, what.join(" "));
}
const rows = (page) => page.getByRole("table", { name: "Instructions" }).locator("tbody tr");

/** The latest instructions are these, told in this order, the latest first: "verb outcome". */
async function shows(page, ...wanted) {
	await page.waitForFunction(
		(list) => {
			const seen = [...document.querySelectorAll("main table tbody tr.choice")].map(
				(r) => `${r.cells[2].textContent} ${r.querySelector("[data-outcome]").dataset.outcome}`,
			);
			return list.every((text, i) => seen[i] === text);
		},
		wanted,
	);
}

/** Tells the marked device by the dialog; gives what became of it, and leaves the dialog open. */
async function tell(page, key, while_waiting = async () => undefined) {
	await page.keyboard.press(key);
	await page.locator("dialog button.primary").click();
	await while_waiting();
	const outcome = page.locator("dialog [data-fate]:not([data-fate=waiting])").first();
	await outcome.waitFor();
	return outcome.getAttribute("data-fate");
}

const closeDialog = async (page) => {
	await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
	await page.getByRole("dialog").waitFor({ state: "detached" });
};

/** As a program does that does not want to wait long. */
async function post(verb, body, timeoutMs) {
	const answer = await fetch(`${web.url}api/v1/devices/${NAME}/${verb}?timeout_ms=${timeoutMs}`, {
		method: "POST",
		body: JSON.stringify(body),
	});
	assert.equal(answer.status, 200);
	return (await answer.json()).results[0];
}

async function checkDeferred(fleet, log) {
	deviceDo("stop");
	await until(getDevice, (d) => !d.online, "the device has gone");
	await fleet.locator("tr[data-device]", { hasText: NAME }).locator("input[type=checkbox]").check();
	await fleet.locator("tr[data-device]", { hasText: NAME }).locator(".state.offline").waitFor();
	assert.equal(await tell(fleet, "p"), "later");
	await web.keep(fleet, "devices-later");
	await closeDialog(fleet);
	await shows(log, "stop deferred");
	await rows(log).first().filter({ hasText: "it is told when it connects" }).waitFor();
	assert.equal(await tell(fleet, "t"), "later");
	await shows(log, "start deferred", "stop replaced");
	await log.getByText("1 wait for their device").waitFor();
	await rows(log).first().click();
	const details = log.getByRole("complementary");
	await details.getByText("tells it as soon as the device connects").waitFor();
	assert.equal(await details.locator(".command code").textContent(), `kiseki start ${NAME}`);
	await web.keep(log, "log-deferred");
	/* It comes back, and is not told by its command line to trace. */
	deviceDo("start");
	await shows(log, "start done", "stop replaced");
	await details.getByText("The device has done it.").waitFor();
	await until(getDevice, (d) => d.online && d.state === "tracing", "the device traces as it was told");
	await log.keyboard.press("Escape");
	await details.waitFor({ state: "detached" });
	await fleet.getByRole("dialog").getByRole("link", { name: "See in the log" }).click();
	await fleet.waitForURL(/#log\?.*tab=instructions/);
	await shows(fleet, "start done", "stop replaced");
	await fleet.goBack();
	await fleet.locator("tr[data-device]", { hasText: NAME }).waitFor();
}

/** It is connected and says nothing; later it does what it was told. */
async function checkLate(fleet, log) {
	await fleet.locator("tr[data-device]", { hasText: NAME }).locator("input[type=checkbox]").check();
	deviceDo("freeze");
	const fate = await tell(fleet, "p", async () => {
		await shows(log, "stop sent");
		await rows(log).first().filter({ hasText: "answer is waited for" }).waitFor();
	});
	assert.equal(fate, "late");
	await shows(log, "stop timed_out", "start done");
	await rows(log).first().filter({ hasText: "did not answer within 5000 ms" }).filter({ hasText: "Look at the device" }).waitFor();
	await rows(log).first().click();
	await log.getByRole("complementary").getByText("The device is connected but did not answer in time.").waitFor();
	await web.keep(log, "log-timed-out");
	deviceDo("thaw");
	await shows(log, "stop done", "start done");
	await until(getDevice, (d) => d.state === "idle", "the device has stopped");
	await log.keyboard.press("Escape");
	await closeDialog(fleet);
}

/** Each late answer is that of its own instruction. */
async function checkEachItsOwn(log) {
	deviceDo("freeze");
	assert.equal((await post("configure", { source: "driver" }, 100)).code, 110);
	assert.equal((await post("start", {}, 100)).code, 110);
	await shows(log, "start timed_out", "configure timed_out", "stop done");
	deviceDo("thaw");
	/* It takes note of a source that it does not have, and refuses to start with it. */
	await shows(log, "start failed", "configure done", "stop done");
	await rows(log).first().filter({ hasText: "failed: cannot" }).filter({ hasText: "Change what failed" }).waitFor();
}

/** It never answers: it dies, and is told again when it is there again; the collector ends meanwhile, too. */
async function checkDies(log) {
	await post("configure", { source: "tracefs" }, 5000);
	deviceDo("freeze");
	assert.equal((await post("stop", {}, 100)).code, 110);
	await shows(log, "stop timed_out");
	deviceDo("crash");
	await until(getDevice, (d) => !d.online, "the device has gone");
	web.expect(/ERR_|Failed to load|status of/);
	for (const verb of ["stop", "start"]) assert.equal(spawnSync(web.data.control, [verb]).status, 0);
	await shows(log, "stop timed_out");
	deviceDo("start");
	await shows(log, "stop done");
	await until(getDevice, (d) => d.online && d.state === "idle", "the device does not trace");
}

async function checkNarrow() {
	const page = await web.open("#log?tab=instructions", { viewport: { width: 400, height: 800 }, colorScheme: "dark", locale: "ja-JP" });
	await page.locator("main table tbody tr.choice").first().click();
	await page.getByRole("complementary").waitFor();
	await web.keep(page, "log-instructions-narrow");
	assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 400);
	assert.match(page.url(), /told=\d+/);
	const again = await web.open(new URL(page.url()).hash);
	await again.getByRole("complementary").waitFor();
}

await until(() => web.api("devices"), (d) => d.devices.some((x) => x.name === NAME && x.state === "tracing"), "the device traces");
const log = await web.open("#log?tab=instructions");
const fleet = await web.open("#devices");
await checkDeferred(fleet, log);
await checkLate(fleet, log);
await checkEachItsOwn(log);
await checkDies(log);
await checkNarrow();
await web.finish();
