// SPDX-License-Identifier: MIT
// chart: boot charts in a real browser.
//
//	chart.mjs MODULES CHARTS SHOTS
//
// CHARTS has what tests/system/boot_chart.sh made. Nothing waits for a time: what is to happen is waited for. A
// page that logs an error, opens a dialog or asks for anything but itself fails.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { serve } from "./chart_host.mjs";
import { checkHeading, checkWords } from "./chart_words.mjs";

const [modules, charts, shots] = process.argv.slice(2);
const { chromium } = createRequire(modules + "/node_modules/")("playwright-core");
const MS = 1e6;

const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM, timeout: 120000,
	args: ["--disable-gpu", "--disable-dev-shm-usage", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
});
const problems = [];

async function open(name, options = {}) {
	const url = pathToFileURL(`${charts}/${name}`).href;
	const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options });
	page.setDefaultTimeout(60000);
	page.on("console", m => ["error", "warning"].includes(m.type()) && problems.push(`${name}: ${m.text()}`));
	page.on("pageerror", e => problems.push(`${name}: ${e.message}`));
	page.on("dialog", d => { problems.push(`${name}: a dialog: ${d.message()}`); d.dismiss(); });
	page.on("request", r => r.url() !== url && problems.push(`${name}: asks for ${r.url()}`));
	await page.goto(url);
	if (!name.endsWith(".html"))
		return page;
	await page.waitForFunction(() => document.getElementById("chart").chart?.drawn() > 0);
	if (!options.locale)
		await checkHeading(page, dataOf(name));
	return page;
}

const keep = (page, name) => page.screenshot({ path: `${shots}/${name}.png` });
/** Asks the handle that mount() gave, which the page keeps at its element. */
const ask = (page, name, ...args) => page.evaluate(([n, a]) => document.getElementById("chart").chart[n](...a), [name, args]);
const view = page => ask(page, "view");
const isShown = async (page, name) => await page.locator(".kc-" + name).isVisible();

/** After whatever is under way was drawn. */
async function drawn(page) {
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Waits until the page says so; the test gets the handle, and what else it needs. */
const until = async (page, test, arg) => page.waitForFunction(test, [await page.evaluateHandle(() => document.getElementById("chart").chart), arg]);

async function colourAt(page, pid, ms) {
	await ask(page, "show", pid);
	await drawn(page);
	const at = await ask(page, "place", pid, ms * MS);
	return page.evaluate(pixelAt, at);
}

/** The colour of a pixel of the rows; runs in the page. */
function pixelAt({ x, y }) {
	const canvas = document.querySelector(".kc-rows"), box = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
	const one = document.createElement("canvas"), ctx = one.getContext("2d", { willReadFrequently: true });
	ctx.drawImage(canvas, Math.floor((x - box.left) * ratio), Math.floor((y - box.top) * ratio), 1, 1, 0, 0, 1, 1);
	const [r, g, b] = ctx.getImageData(0, 0, 1, 1).data;
	return "#" + [r, g, b].map(v => v.toString(16).padStart(2, "0")).join("");
}

const signsOf = text => new Set([...text.matchAll(/data-sign="([^"]+)"/g)].map(m => m[1]));
const read = name => readFileSync(`${charts}/${name}`, "utf8");
const dataOf = name => JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(read(name))[1]);

// --- the page ---

async function checkRows(page) {
	const svg = read("plain.svg"), rows = await ask(page, "rows");
	const pids = [...svg.matchAll(/class="process" data-pid="(\d+)"/g)].map(m => Number(m[1]));
	assert.deepEqual(rows.map(r => r.pid), pids, "the page has the rows of the SVG");
	assert.deepEqual(await ask(page, "machine"),
		["cpu", "mmcblk0", "memory", "pressure cpu", "pressure io", "pressure memory", "flags", "phases", "messages"]);
	const legend = new Set(await page.locator(".kc-page-legend [data-sign]").evaluateAll(l => l.map(e => e.dataset.sign)));
	for (const sign of signsOf(svg))
		assert.ok(legend.has(sign), `the page's legend explains ${sign}`);
	assert.ok(!legend.has("gap") && !legend.has("new") && !legend.has("runnable"), "and nothing that is not there");
	for (const words of ["panel.service after 7.800 s", "armv7l, 2 CPUs", "sampled every 20 ms", "init=/sbin/kiseki-boot"])
		assert.ok((await page.locator(".kc-facts").textContent()).includes(words), words);
}

async function checkColours(page) {
	const { ramp } = dataOf("plain.html");
	assert.equal(ramp[0], "#ffcb00");
	for (const [pid, ms, colour] of [[262, 5400, "#808080"], [262, 5680, "#404040"], [270, 5100, ramp[5]], [270, 5500, "#9575cd"], [1, 9000, "#d3d3d3"]])
		assert.equal(await colourAt(page, pid, ms), colour, `pid ${pid} at ${ms} ms`);
	await page.keyboard.press("Escape");
}

async function checkZoom(page) {
	const all = await view(page), length = v => v.to - v.from;
	await page.keyboard.press("+");
	const closer = await view(page);
	assert.ok(length(closer) < length(all), "+ zooms in");
	await page.keyboard.press("ArrowRight");
	assert.ok((await view(page)).from > closer.from, "and the arrow moves");
	await page.locator(".kc-fit").click();
	assert.deepEqual(await view(page), all, "Fit shows all");
	const box = await page.locator(".kc-head").boundingBox();
	await page.mouse.move(box.x + 700, box.y + 60);
	await page.mouse.wheel(0, -300);
	await until(page, ([chart, n]) => chart.view().to - chart.view().from < n * .9, length(all));
	await page.locator(".kc-fit").click();
	await page.mouse.move(box.x + 600, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + 700, box.y + 60, { steps: 4 });
	assert.ok(await isShown(page, "select"), "what is marked is shown");
	await page.mouse.up();
	await until(page, ([chart, n]) => chart.view().to - chart.view().from < n / 5, length(all));
	await page.locator(".kc-out").click();
	await page.locator(".kc-in").click();
	await page.keyboard.press("0");
	assert.deepEqual(await view(page), all);
}

async function checkSearch(page) {
	const find = async (text, count) => {
		await page.locator(".kc-search").fill(text);
		assert.equal(await ask(page, "found"), count, text);
	};
	await find("modprobe", 24);
	assert.equal(await page.locator(".kc-count").textContent(), "24 matches");
	await find("/fsck\\.ext4/", 1);
	await page.locator(".kc-search").press("Enter");
	assert.equal(await ask(page, "selected"), 201);
	assert.equal(await page.locator(".kc-count").textContent(), "1 of 1");
	await find("262", 1);
	await find("bs=1M", 1);
	await find("/[/", 0);
	assert.ok(await page.locator(".kc-search.kc-bad").count(), "a bad pattern is said");
	await find("no such thing", 0);
	await page.locator(".kc-search").fill("");
	await page.locator(".kc-search").press("Escape");
}

async function checkFold(page) {
	const rows = (await ask(page, "rows")).length;
	await ask(page, "show", 60);
	await drawn(page);
	const at = await ask(page, "place", 60, 0);
	await page.mouse.click(at.label, at.y);
	await until(page, ([chart, n]) => chart.rows().length === n, rows - 24);
	assert.equal((await ask(page, "rows")).find(r => r.pid === 60).folded, 24);
	await page.locator(".kc-foldall").click();
	assert.ok((await ask(page, "rows")).length < rows - 24);
	await page.locator(".kc-unfoldall").click();
	assert.equal((await ask(page, "rows")).length, rows);
	await page.locator(".kc-kernel").check();
	assert.equal((await ask(page, "rows")).length, rows + 5);
	await page.locator(".kc-kernel").uncheck();
	await page.locator(".kc-least").fill("50");
	const few = await ask(page, "rows");
	assert.equal(few.length + few.reduce((n, r) => n + r.folded, 0), rows, "nobody is lost");
	assert.ok(few.length < rows);
	await page.locator(".kc-least").fill("0");
	await page.locator(".kc-sort").selectOption("cpu");
	const cpu = new Map(dataOf("plain.html").boots[0].boot.processes.map(p => [p.pid, p.cpu_ns]));
	const sorted = (await ask(page, "rows")).map(r => cpu.get(r.pid));
	assert.deepEqual(sorted, [...sorted].sort((a, b) => b - a));
	await page.locator(".kc-sort").selectOption("tree");
	await page.keyboard.press("Escape");
}

/** The path that came with the page, which C has found, is the one that the page finds. */
async function checkPath(name) {
	const page = await open(name), given = await ask(page, "path");
	assert.ok(given.length > 2, "there is a path");
	assert.equal(await page.locator(".kc-page-path li").count(), given.length);
	await keep(page, name.replace(".html", ""));
	await page.locator(".kc-path").click();
	assert.equal(await ask(page, "path"), null);
	await page.locator(".kc-path").click();
	assert.deepEqual(await ask(page, "path"), given);
	const box = await page.locator(".kc-head").boundingBox();
	await page.mouse.click(box.x + 700, box.y + 10);
	await until(page, ([chart, n]) => chart.path() && chart.path().at(-1).to !== n, given.at(-1).to);
	const end = await ask(page, "place", 261, 5200 * MS);
	await ask(page, "show", 261);
	await drawn(page);
	const at = await ask(page, "place", 261, 5200 * MS);
	assert.ok(end.x === at.x);
	await page.mouse.click(at.x, at.y);
	await until(page, ([chart]) => chart.path().at(-1).pid === 261);
	await page.locator(".kc-page-path li button").first().click();
	assert.ok(await ask(page, "selected"));
	await page.close();
}

async function checkHover(page) {
	await ask(page, "show", 262);
	await drawn(page);
	const at = await ask(page, "place", 262, 5400 * MS);
	await page.mouse.move(at.x, at.y);
	await page.locator(".kc-card").waitFor({ state: "visible" });
	const card = await page.locator(".kc-card").textContent();
	for (const words of ["dd", "pid 262", "of=/tmp/x", "5.4", "parent", "[260]", "exit code 0", "zombie"])
		assert.ok(card.includes(words), `${words} in: ${card}`);
	await keep(page, "hover");
	const box = await page.locator(".kc-head").boundingBox();
	await page.mouse.move(box.x + 600, box.y + 50);
	await until(page, () => /user/.test(document.querySelector(".kc-card").textContent));
	await page.mouse.move(2, 2);
	await page.locator(".kc-card").waitFor({ state: "hidden" });
	await page.mouse.click(at.x, at.y);
	assert.equal(await ask(page, "selected"), 262);
	assert.ok((await page.locator(".kc-page-process").textContent()).includes("dd [262]"));
	await page.locator(".kc-tab-top").click();
	assert.ok(await page.locator(".kc-page-top tbody tr").count() > 10);
	await page.locator(".kc-tab-legend").click();
}

async function checkKeys(page) {
	await page.keyboard.press("Escape");
	await page.keyboard.press("Home");
	assert.equal(await ask(page, "selected"), 1);
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	assert.equal(await ask(page, "selected"), 60);
	await page.keyboard.press("Enter");
	assert.equal((await ask(page, "rows")).find(r => r.pid === 60).folded, 24);
	await page.keyboard.press("Enter");
	assert.ok((await page.locator(".kc-said").textContent()).includes("systemd-udevd"), "it is said aloud");
	await ask(page, "show", 241);
	await page.keyboard.press("f");
	assert.ok((await view(page)).from > 3900 * MS && (await view(page)).to < 4700 * MS, "F zooms to it");
	await page.keyboard.press("?");
	assert.ok(await isShown(page, "keys"));
	await page.keyboard.press("Escape");
	await page.locator(".kc-keys").waitFor({ state: "hidden" });
	await page.keyboard.press("l");
	await page.locator(".kc-panel").waitFor({ state: "hidden" });
	await page.keyboard.press("l");
	await page.keyboard.press("0");
}

async function checkPlain() {
	const page = await open("plain.html");
	await keep(page, "plain");
	for (const check of [checkRows, checkColours, checkZoom, checkSearch, checkFold, checkHover, checkKeys])
		await check(page);
	await page.emulateMedia({ colorScheme: "dark" });
	await drawn(page);
	assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
	await keep(page, "dark");
	await page.close();
}

// --- others ---

async function checkHost() {
	const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
	page.setDefaultTimeout(60000);
	page.on("console", m => ["error", "warning"].includes(m.type()) && !m.text().includes("favicon") && problems.push(`host: ${m.text()}`));
	page.on("pageerror", e => problems.push(`host: ${e.message}`));
	await serve(page, { plain: dataOf("plain.html"), two: dataOf("two.html") });
	await page.goto("http://host.test/");
	await page.waitForFunction(() => document.body.charts?.one.drawn() && document.body.charts.two.drawn());
	const get = test => page.evaluate(test), one = page.locator("#one"), two = page.locator("#two");
	assert.deepEqual(await get(() => document.body.charts.globals), [], "nothing is put into the window");
	assert.equal(await page.locator("[style*=expression], [onclick], script:not([src])").count(), 0);
	assert.ok(!await one.locator(".kc-facts").isVisible() && !await one.locator(".kc-panel").isVisible(), "without heading and panel");
	assert.ok(await two.locator(".kc-facts").isVisible() && await two.locator(".kc-panel").isVisible());
	assert.equal(new Set(await page.locator("[id]").evaluateAll(l => l.map(e => e.id))).size, await page.locator("[id]").count(), "no id twice");
	// Keys go to the one that has the focus.
	await one.locator(".kc-scroll").focus();
	await page.keyboard.press("Home");
	assert.deepEqual(await get(() => [document.body.charts.one.selected(), document.body.charts.two.selected()]), [1, null]);
	assert.deepEqual(await get(() => document.body.charts.said), [{ boot: 0, pid: 1 }]);
	// The page's own choice of light and dark, whatever the system says.
	const back = () => get(() => getComputedStyle(document.getElementById("one")).backgroundColor);
	const light = await back(), drawnBefore = await get(() => document.body.charts.one.drawn());
	await get(() => { document.documentElement.dataset.theme = "dark"; });
	await page.waitForFunction(n => document.body.charts.one.drawn() > n, drawnBefore);
	assert.notEqual(await back(), light);
	await keep(page, "host");
	await get(() => document.body.charts.two.destroy());
	assert.equal(await two.locator("*").count(), 0, "nothing is left of it");
	await one.locator(".kc-scroll").focus();
	await page.keyboard.press("ArrowDown");
	assert.ok(await get(() => document.body.charts.one.selected()) !== 1, "and the other one lives on");
	await page.close();
}

async function checkHostile() {
	const page = await open("hostile.html");
	assert.equal(await page.evaluate(() => document.scripts.length), 2);
	assert.equal(await page.locator("img").count(), 0);
	assert.ok((await page.title()).includes("</title><script>"));
	const names = (await ask(page, "rows")).map(r => r.comm);
	assert.ok(names.includes("</script><script"), names.join());
	assert.ok((await page.locator(".kc-notes").textContent()).includes("cut off"));
	await page.locator(".kc-search").fill("日本");
	assert.equal(await ask(page, "found"), 1);
	await page.locator(".kc-search").press("Enter");
	const legend = await page.locator(".kc-page-legend [data-sign]").evaluateAll(l => l.map(e => e.dataset.sign));
	assert.ok(legend.includes("gap") && legend.includes("missing") && legend.includes("kernel"), legend.join());
	await keep(page, "hostile");
	await page.close();
}

async function checkTwo() {
	const page = await open("two.html");
	const rows = await ask(page, "rows");
	assert.equal(rows.filter(r => r.pid === 1).length, 2);
	assert.ok((await page.locator(".kc-facts").textContent()).includes("in the second boot"));
	const legend = await page.locator(".kc-page-legend [data-sign]").evaluateAll(l => l.map(e => e.dataset.sign));
	for (const sign of ["new", "gone", "later", "ghost"])
		assert.ok(legend.includes(sign), sign);
	await keep(page, "two");
	await page.close();
}

async function checkLarge() {
	const page = await open("large.html");
	assert.ok((await ask(page, "rows")).length > 2000);
	await ask(page, "show", 2500);
	await page.keyboard.press("f");
	await drawn(page);
	await keep(page, "large");
	await page.close();
}

async function checkSvg(name) {
	const page = await open(name);
	assert.ok(await page.evaluate(() => document.querySelectorAll(".process").length) > 3);
	assert.equal(await page.evaluate(() => document.querySelectorAll("script, image, use, foreignObject").length), 0);
	const fill = selector => page.evaluate(s => { const e = document.querySelector(s); return e && getComputedStyle(e).fill; }, selector);
	assert.equal(await fill(".legend .r0"), "rgb(255, 203, 0)");
	assert.equal(await fill(".process .sleeping"), "rgb(211, 211, 211)");
	// No process is narrower than a pixel, and no name reaches into the plot.
	const narrow = await page.evaluate(() => [...document.querySelectorAll(".process")].filter(g => {
		const bars = [...g.querySelectorAll("path")].map(p => p.getBBox());
		return !bars.some(b => b.width >= 1);
	}).length);
	assert.equal(narrow, 0);
	const wide = await page.evaluate(() => [...document.querySelectorAll("text.label")].filter(t => t.getBBox().x + t.getBBox().width > 345).map(t => t.textContent));
	assert.deepEqual(wide, []);
	await keep(page, name.replace(".svg", "-svg"));
	await page.close();
}

async function checkRecorded(name) {
	const page = await open(name + ".html");
	const data = dataOf(name + ".html").boots[0].boot, rows = await ask(page, "rows");
	assert.equal(rows.length, data.processes.filter(p => !p.is_kernel).length);
	assert.ok(rows.some(r => data.processes.some(p => p.pid === r.pid && !p.is_kernel)));
	await keep(page, name);
	const given = await ask(page, "path");
	if (given) {
		await page.locator(".kc-path").click();
		await page.locator(".kc-path").click();
		assert.deepEqual(await ask(page, "path"), given, `the page finds the path of ${name} that C has found`);
	}
	await page.close();
	await checkSvg(name + ".svg");
}

await checkPlain();
await checkPath("path.html");
await checkPath("exact.html");
await checkHostile();
await checkTwo();
await checkHost();
await checkLarge();
await checkWords({ open, keep, ask, drawn, dataOf });
for (const name of ["plain.svg", "hostile.svg", "two.svg"])
	await checkSvg(name);
for (const name of ["script", "board", "recorded"])
	if (existsSync(`${charts}/${name}.html`))
		await checkRecorded(name);
await browser.close();
assert.deepEqual(problems, []);
console.log("boot_chart: all checks of the browser passed");
