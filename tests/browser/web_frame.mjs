// SPDX-License-Identifier: MIT
// web_frame: what is around the views: tabs, keys, help, themes, languages, addresses that lead nowhere, the
// security policy, and a collector that goes away and comes back (data.kill and data.start are signalled
// through tests/system/web.sh: see there).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";

import { start } from "./page.mjs";

const web = await start();

async function checkTabs() {
	const page = await web.open();
	const tabs = page.locator("nav a");
	const names = await tabs.allTextContents();
	assert.ok(names.length >= 1 && names[0] === "Devices", names.join());
	for (const [i, name] of names.entries()) {
		await tabs.nth(i).click();
		await page.locator("nav a[aria-current]", { hasText: name }).waitFor();
		await page.waitForFunction((n) => document.title.startsWith(n), name);
	}
	await page.keyboard.press("1");
	await page.locator('main[data-view="devices"]').waitFor();
	await page.goBack();
	await page.waitForFunction((n) => document.querySelector("nav a[aria-current]").textContent === n, names.at(-1));
	await page.goto(web.url + "#nowhere");
	await page.getByText("There is no view “nowhere”.").waitFor();
}

async function checkHelp() {
	const page = await web.open();
	await page.locator("nav a").first().waitFor();
	await page.keyboard.press("?");
	const dialog = page.getByRole("dialog");
	await dialog.waitFor();
	assert.match(await dialog.textContent(), /open view: Devices/);
	await web.keep(page, "help");
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
}

async function checkLooks() {
	const page = await web.open("", { colorScheme: "dark" });
	const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
	assert.equal(await theme(), "dark", "as the system has it");
	await page.getByLabel("Theme").selectOption("light");
	await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
	await page.getByLabel("Language").selectOption("ja");
	await page.locator("nav a", { hasText: "デバイス" }).waitFor();
	await page.reload();
	await page.locator("nav a", { hasText: "デバイス" }).waitFor();
	assert.equal(await theme(), "light", "and it is kept");
	assert.equal(await page.evaluate(() => document.documentElement.lang), "ja");
	await web.keep(page, "japanese");
}

async function checkPolicy() {
	const response = await fetch(web.url);
	const policy = response.headers.get("content-security-policy");
	assert.match(policy, /default-src 'none'/);
	assert.match(policy, /worker-src 'self'/);
	assert.ok(!policy.includes("unsafe"), policy);
	const page = await web.open();
	web.expect(/Content Security Policy/);
	const ran = await page.evaluate(() => {
		const script = document.createElement("script");
		script.textContent = "window.ran = true";
		document.body.append(script);
		return window.ran === true;
	});
	assert.equal(ran, false, "an inline script runs");
}

async function checkLost() {
	const page = await web.open();
	await page.locator(".link.live").waitFor();
	web.expect(/Failed to load resource|ERR_/);
	for (const [signal, state] of [["stop", "lost"], ["start", "live"]]) {
		const run = spawnSync(web.data.control, [signal], { stdio: "inherit" });
		assert.equal(run.status, 0, `the collector's ${signal}`);
		await page.locator(`.link.${state}`).waitFor();
		assert.equal(await page.locator(".banner").count(), state === "lost" ? 1 : 0);
		await web.keep(page, `connection-${state}`);
	}
}

await checkTabs();
await checkHelp();
await checkLooks();
await checkPolicy();
await checkLost();
await web.finish();
