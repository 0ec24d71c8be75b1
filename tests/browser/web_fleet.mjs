// SPDX-License-Identifier: MIT
// web_fleet: alerts and the fleet, beside two devices of which one got slower in the twentieth minute: from the alert to the
// flame graph of what changed; lists, comparisons, a function over time, labels, the pipeline. What is to be seen is worked out
// here from the collector's answers, apart from the page's own code.
import assert from "node:assert/strict";

import { addressHas, params, percent, start, until } from "./page.mjs";

const web = await start();
const MINUTES = 26;
const work = await until(() => web.api("work"), (w) => w.waiting === 0 && w.minutes >= 2 * MINUTES && w.pace.holds, "all minutes");
/* Another device in the store is wild, and has alerts that are over. */
const ofBox = (a) => a.device === "box-1";
const { alerts } = await until(() => web.api("alerts"), (a) => a.alerts.some(ofBox), "an alert");
const alert = alerts.find(ofBox);
const since = alert.since_s - 20 * 60;
const WHOLE = `since=${since}&until=${since + MINUTES * 60}`;
const ASKED = `from=@${since}&to=@${since + MINUTES * 60}`;

const drawn = (page) => page.locator(".flame canvas[data-drawn]").waitFor();
const rowsOf = (page, name) => page.getByRole("table", { name }).locator("tbody tr:not([aria-hidden])");
const rowOf = (page, name, text) => rowsOf(page, name).filter({ has: page.locator("bdi.name", { hasText: new RegExp(`^${text}$`) }) });
const trendPoints = (page) => page.locator(".trend svg[data-points]").getAttribute("data-points").then(Number);
const change = (a, b) => `${b > a ? "▲ +" : "▼ −"}${percent(Math.abs(b - a))}`;

/** What the collector says of a function on both sides. */
function sharesOf(diff, name) {
	const row = diff.changes.find((c) => c.name === name);
	return [row.before.self.ns / diff.before.all.ns, row.after.self.ns / diff.after.all.ns];
}

async function checkAlerts() {
	assert.deepEqual([alert.kind, alert.device, alert.name, alert.until_s], ["function", "box-1", "copy", null]);
	const page = await web.open("#devices");
	const tab = page.locator("nav a", { hasText: "Alerts" });
	const open = (await web.api("alerts?open=1")).alerts.length;
	await tab.locator(".badge", { hasText: new RegExp(`^${open}$`) }).waitFor();
	await page.keyboard.press("!");
	const row = rowOf(page, "Alerts", "copy");
	await row.waitFor();
	const text = await row.textContent();
	for (const words of ["now", "function in server", "box-1", `${percent(alert.usual)} → ${percent(alert.value)}`])
		assert.ok(text.includes(words), `${words} in ${text}`);
	await row.focus();
	await page.keyboard.press("Enter");
	const details = page.getByRole("complementary");
	await details.getByText(alert.text).waitFor();
	await web.keep(page, "alerts");
	await page.reload();
	await details.waitFor();
	for (const [which, n] of [["past", 0], ["open", 1], ["all", 1]]) {
		await page.getByRole("group", { name: "Which" }).getByRole("button", { name: which }).click();
		await page.getByRole("button", { name: which, pressed: true }).waitFor();
		assert.equal(await row.count(), n, which);
	}
	await page.keyboard.press("/");
	await page.keyboard.type("no such thing");
	await page.getByText("No alert is like this.").waitFor();
	await page.getByRole("button", { name: "Show all" }).click();
	await row.waitFor();
	return page;
}

/** The way that an alert is for: what it says, a click, what changed. */
async function checkWay(page) {
	await rowOf(page, "Alerts", "copy").getByRole("link", { name: "What changed" }).click();
	await page.locator('main[data-view="fleet"]').waitFor();
	await drawn(page);
	const p = params(page);
	assert.equal(p.get("devices"), alert.id);
	assert.equal(Number(p.get("since")), alert.since_s);
	assert.equal(Number(p.get("baseuntil")), alert.since_s);
	assert.ok(Number(p.get("until")) >= alert.since_s + 300, "all that is known by now");
	const diff = await web.api(
		`fleet/diff?devices=${alert.id}&from=@${p.get("since")}&to=@${p.get("until")}` +
			`&with_from=@${p.get("basesince")}&with_to=@${p.get("baseuntil")}&limit=0`,
	);
	const [before, after] = sharesOf(diff, "copy");
	assert.ok(after > 1.2 * before, `${before} → ${after}`);
	await page.locator(".found-text", { hasText: "functions: 1" }).waitFor();
	assert.equal(await trendPoints(page), diff.before.minutes + diff.after.minutes);
	assert.equal(await page.locator(".trend .band").count(), 2, "both times");
	await page.keyboard.press("n");
	const spoken = page.locator(".spoken", { hasText: `copy: ${percent(before)} → ${percent(after)}, ${change(before, after)}` });
	await spoken.waitFor();
	await web.keep(page, "fleet-alert");
	await page.reload();
	await spoken.waitFor();
	const link = await web.open(alert.link.slice(1));
	await drawn(link);
	await link.locator(".trend", { hasText: "copy" }).waitFor();
	await link.context().close();
	await page.goBack();
	await page.locator('main[data-view="alerts"]').waitFor();
	await page.context().close();
}

async function checkLists() {
	const page = await web.open(`#fleet?${WHOLE}`);
	const top = await web.api(`fleet/top?${ASKED}`);
	assert.equal(top.basis.devices, 2);
	await page.locator(".basis", { hasText: `devices: 2, minutes of devices: ${top.basis.minutes}` }).waitFor();
	const names = await rowsOf(page, "function").locator("td:first-child > bdi.name").allTextContents();
	assert.deepEqual(names, top.rows.map((r) => r.name));
	for (const r of top.rows) {
		const text = await rowOf(page, "function", r.name).textContent();
		assert.ok(text.includes(percent(r.self.ns / top.basis.all.ns)), text);
	}
	await page.locator('.spark path[d^="M"]').nth(top.rows.length - 1).waitFor();
	await rowOf(page, "function", "copy").click();
	await addressHas(page, "name", "copy");
	await page.locator(".trend svg[data-points]").waitFor();
	assert.equal(await trendPoints(page), MINUTES);
	await web.keep(page, "fleet-lists");
	await page.keyboard.press("q");
	await page.locator(".trend").waitFor({ state: "detached" });
	await page.getByRole("button", { name: "process", exact: true }).click();
	await rowOf(page, "process", "server").waitFor();
	await page.goBack();
	await page.keyboard.press("t");
	await drawn(page);
	await page.keyboard.press("ArrowDown");
	await page.locator(".spoken", { hasText: /^server: .*100\.0 %/ }).waitFor();
	await page.context().close();
}

/** What is counted are cycles, and no time is made of them. */
async function checkCycles() {
	const page = await web.open(`#fleet?${WHOLE}`);
	await rowOf(page, "function", "copy").waitFor();
	await page.getByLabel("Facts of").selectOption("cycles");
	await addressHas(page, "kind", "cycles");
	const top = await web.api(`fleet/top?${ASKED}&kind=cycles`);
	assert.equal(top.basis.devices, 1);
	const count = (n) => `${n.toLocaleString("en-US")} cycles`;
	await page.locator(".basis", { hasText: `devices: 1, minutes of devices: ${top.basis.minutes}, ${count(top.basis.all.ns)}` }).waitFor();
	const copy = top.rows.find((r) => r.name === "copy");
	const text = await rowOf(page, "function", "copy").textContent();
	for (const words of [count(copy.self.ns), percent(copy.self.ns / top.basis.all.ns)]) assert.ok(text.includes(words), `${words} in ${text}`);
	await web.keep(page, "fleet-cycles");
	await page.context().close();
}

/** Which device it was; a click on one looks into it. */
async function checkByDevice() {
	const page = await web.open(`#fleet?${WHOLE}`);
	await page.getByRole("group", { name: "by" }).getByRole("button", { name: "device", exact: true }).click();
	await addressHas(page, "by", "device");
	const top = await web.api(`fleet/top?${ASKED}&by=device`);
	assert.deepEqual(top.rows.map((r) => r.name).sort(), ["box-1", "box-2"]);
	for (const r of top.rows) await rowOf(page, "device", r.name).filter({ hasText: percent(r.self.ns / top.basis.all.ns) }).waitFor();
	assert.equal(await page.getByRole("columnheader", { name: "over time" }).count(), 0);
	await web.keep(page, "fleet-by-device");
	await rowOf(page, "device", "box-2").click();
	await addressHas(page, "devices", "box-2");
	await rowOf(page, "function", "copy").waitFor();
	await page.locator(".basis", { hasText: /\bdevices: 1, minutes/ }).waitFor();
	/* Stacks do not say of which device they are. */
	await page.goto(`${web.url}#fleet?${WHOLE}&by=device&process=serv*`);
	await rowOf(page, "function", "copy").waitFor();
	assert.equal(await page.getByRole("group", { name: "by" }).getByRole("button", { name: "device", exact: true }).count(), 0);
	await page.context().close();
}

async function checkProcess() {
	const page = await web.open(`#fleet?${WHOLE}&process=serv*`);
	await rowOf(page, "function", "copy").waitFor();
	const top = await web.api(`fleet/top?${ASKED}`);
	const copy = top.rows.find((r) => r.name === "copy");
	assert.ok((await rowOf(page, "function", "copy").textContent()).includes(percent(copy.self.ns / top.basis.all.ns)));
	await page.getByLabel("process").first().fill("nobody");
	await page.keyboard.press("Enter");
	await page.getByText("Nothing here is like that.").waitFor();
	await page.context().close();
}

async function checkCompare() {
	const page = await web.open(`#fleet?${WHOLE}&devices=box-1`);
	await rowOf(page, "function", "copy").waitFor();
	await page.getByLabel("Compare with").selectOption("other devices");
	await page.getByRole("combobox", { name: "Other devices", exact: true }).fill("box-2");
	await page.keyboard.press("Enter");
	const diff = await web.api(`fleet/diff?${ASKED}&devices=box-1&with_devices=box-2`);
	const [before, after] = sharesOf(diff, "copy");
	await rowOf(page, "function", "copy").filter({ hasText: change(before, after) }).waitFor();
	const first = rowsOf(page, "function").first();
	assert.ok((await first.textContent()).startsWith("copy"), "what grew most comes first");
	await rowOf(page, "function", "copy").click();
	await page.locator('.trend path.others[d^="M"]').waitFor({ state: "attached" });
	await web.keep(page, "fleet-compare");
	/* The last six minutes against the six before: by the key. */
	await page.goto(`${web.url}#fleet?since=${alert.since_s}&until=${alert.since_s + 360}&devices=box-*,box-9`);
	await page.locator(".basis", { hasText: /\bdevices: 2, minutes/ }).waitFor();
	await page.keyboard.press("c");
	await addressHas(page, "base", "before");
	await rowOf(page, "function", "copy").filter({ hasText: "▲" }).waitFor();
	await page.keyboard.press("c");
	await addressHas(page, "base", "");
	await page.context().close();
}

async function checkLabels() {
	const page = await web.open(`#fleet?${WHOLE}&tab=devices`);
	const row = rowOf(page, "Devices and labels", "box-1");
	await row.getByRole("button", { name: "Labels of box-1" }).click();
	const dialog = page.getByRole("dialog");
	const field = (name) => dialog.getByRole("textbox", { name });
	const save = () => dialog.getByRole("button", { name: "Save" }).click();
	await field("Key").fill("no key");
	await field("Value").fill("1.5");
	web.expect(/status of 400/);
	await save();
	await dialog.getByRole("alert").filter({ hasText: "'no key' is no key of a label" }).waitFor();
	await field("Key").fill("build");
	await dialog.getByRole("button", { name: "Add a label" }).click();
	await field("Key").last().fill("env");
	await field("Value").last().fill("prod");
	await save();
	await dialog.waitFor({ state: "detached" });
	await row.locator(".chip", { hasText: "env=prod" }).waitFor();
	assert.deepEqual((await web.api("devices/box-1/labels")).labels, { build: "1.5", env: "prod" });
	await web.keep(page, "fleet-labels");
	await row.locator(".chip", { hasText: "build=1.5" }).click();
	await addressHas(page, "devices", "build=1.5");
	assert.equal(await rowsOf(page, "Devices and labels").count(), 1);
	await page.getByRole("button", { name: "Lists" }).click();
	await page.locator(".basis", { hasText: /\bdevices: 1, minutes/ }).waitFor();
	await page.goBack();
	await row.getByRole("button", { name: "Labels of box-1" }).click();
	await dialog.getByRole("button", { name: "Remove env" }).click();
	await save();
	await dialog.waitFor({ state: "detached" });
	await until(() => web.api("devices/box-1/labels"), (l) => !("env" in l.labels), "the label goes");
	await page.context().close();
}

async function checkPipeline() {
	const page = await web.open("#fleet?tab=pipeline");
	const section = page.getByRole("region", { name: "Does one machine keep up?" });
	await section.getByText("Keeps up").waitFor();
	const text = await section.textContent();
	const { pace } = work;
	assert.ok(pace.holds && pace.t1_s === 60, JSON.stringify(pace));
	for (const words of ["1 min 0.0 s", `up to ${pace.hosts_max.toLocaleString("en-US")} hosts`, `${work.minutes}`])
		assert.ok(text.includes(words), `${words} in ${text}`);
	await rowOf(page, "By device", "box-1").filter({ hasText: "0.0 %" }).waitFor();
	const { uncovered } = await web.api("work?uncovered=100");
	assert.equal(await rowsOf(page, "By device").count(), uncovered.devices.length);
	await web.keep(page, "fleet-pipeline");
	await page.context().close();
}

async function checkEmpty() {
	const page = await web.open("#fleet?since=600000000&until=600003600");
	await page.getByText("Nothing is known of these devices at this time.").waitFor();
	await page.getByText("kiseki-agent profile --all --collector").waitFor();
	await web.keep(page, "fleet-empty");
	await page.getByRole("button", { name: "Look at the last 7 days" }).click();
	await rowOf(page, "function", "copy").waitFor();
	await page.locator("#fleet-devices").fill("nothing-*");
	await page.keyboard.press("Enter");
	await page.getByText("No device is like this.").waitFor();
	await page.context().close();
}

async function checkLooks() {
	const dark = { viewport: { width: 400, height: 800 }, colorScheme: "dark", locale: "ja-JP" };
	for (const [hash, words, shot] of [
		[`#fleet?${WHOLE}&tab=graph&name=copy&base=before`, "直前の時間", "fleet-narrow"],
		["#alerts", "変化の内訳", "alerts-narrow"],
	]) {
		const page = await web.open(hash, dark);
		await page.getByText(words).first().waitFor({ state: "attached" });
		if (hash.startsWith("#fleet")) await drawn(page);
		await web.keep(page, shot);
		const wide = await page.evaluate(() => document.documentElement.scrollWidth);
		assert.ok(wide <= 400, `${hash} is ${wide} wide`);
		await page.context().close();
	}
}

const page = await checkAlerts();
await checkWay(page);
await checkLists();
await checkCycles();
await checkByDevice();
await checkProcess();
await checkCompare();
await checkLabels();
await checkPipeline();
await checkEmpty();
await checkLooks();
await web.finish();
