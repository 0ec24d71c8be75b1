// SPDX-License-Identifier: MIT
// web_timeline: the timeline: a known event and its details, movement by keys, wheel, drag and touch, ranges, search,
// filter, pinned rows, addresses, losses, hostile names, several devices, functions, looks.
//
// tests/data/ftrace_6.18.txt has, on CPU 1: rcu_preempt (pid 15), woken at 1810.781333 s, runs from 1810.781346 s to
// 1810.781355 s. The canvas says in data-… what it shows, and window.kiseki where something is.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { start, until as wait } from "./page.mjs";

const web = await start();
const { board, hostile, lossy, kernel } = web.data.runs;
const US = 1000;
const AT = 1810781346 * US;
const NEAR = `run=${board}&from=${AT - 60 * US}&to=${AT + 60 * US}`;

const canvas = (page) => page.locator("canvas.rows");
const view = (page) => page.evaluate(() => kiseki.view());
const length = (v) => v.to - v.from;
const fact = (page, name) => page.locator(`[data-fact="${name}"]`);
const hash = async (page, key) => (await page.evaluate((k) => new URLSearchParams(location.hash.split("?")[1]).get(k), key)) ?? "";

/** Nothing of the picture is missing, and it has been drawn. */
async function complete(page) {
	await page.waitForFunction(() => {
		const { dataset } = document.querySelector("canvas.rows") ?? {
			dataset: {},
		};
		return dataset.pending === "0" && Number(dataset.rows) > 0;
	});
}

async function open(address, options) {
	const page = await web.open(`#timeline?${address}`, options);
	await complete(page);
	return page;
}

/** Waits until the view fulfils something, given what it was. */
const until = (page, test, old) =>
	wait(
		() => view(page),
		(v) => test(v, old),
		"the view",
	);

function colourAt(page, at) {
	return page.evaluate(({ x, y }) => {
		const c = document.querySelector("canvas.rows");
		const box = c.getBoundingClientRect();
		const [r, g, b] = c.getContext("2d").getImageData(x - box.left, y - box.top, 1, 1).data;
		return `#${[r, g, b].map((n) => n.toString(16).padStart(2, "0")).join("")}`;
	}, at);
}

async function find(page, text) {
	await page.keyboard.press("/");
	await page.getByRole("searchbox").fill(text);
	await page.getByRole("searchbox").press("Enter");
	await page.getByRole("searchbox").press("Escape");
}

async function checkKnownEvent() {
	const page = await open(NEAR, { colorScheme: "light" });
	assert.equal(await canvas(page).getAttribute("data-kinds"), "detail");
	await find(page, "rcu_preempt");
	const row = `${board}.t15`;
	await page.locator(`.row-name.chosen[data-row="${row}"]`).waitFor();
	const at = await page.evaluate((a) => kiseki.locate(a), {
		row,
		ns: AT + 4 * US,
	});
	await page.mouse.click(at.x, at.y);
	await page.waitForFunction(() => document.querySelector('[data-fact="length"]')?.textContent === "9.00 µs");
	assert.equal(await fact(page, "task").textContent(), "rcu_preempt");
	assert.equal(await fact(page, "pid").textContent(), "15");
	assert.equal(await fact(page, "state").textContent(), "running");
	assert.equal(await fact(page, "cpu").textContent(), "1");
	assert.equal(await fact(page, "waited").textContent(), "13.0 µs");
	assert.match(await fact(page, "wall").textContent(), /^\d\d:\d\d:\d\d\.\d+ ±/);
	await page.mouse.move(5, 5);
	assert.equal(await colourAt(page, { x: at.x, y: at.y }), "#1e7d34", "running is green");
	await web.keep(page, "timeline-event");
	return page;
}

/** What led there, by the collector, as lines and with the same names. */
async function checkChain(page) {
	const chain = await web.api(`runs/${board}/chain?pid=15&at_ns=${AT + 4 * US}`);
	assert.ok(chain.steps.length >= 1, JSON.stringify(chain));
	await page
		.locator(".chain ol li")
		.nth(chain.steps.length - 1)
		.waitFor();
	assert.equal(await page.locator(".chain ol li").count(), chain.steps.length);
	assert.match(await page.locator(".chain ol li").first().textContent(), /rcu_preempt 15/);
}

async function checkArrowKeys(page) {
	const sel = await hash(page, "sel");
	await page.keyboard.press("ArrowRight");
	await page.waitForFunction((old) => !location.hash.includes(encodeURIComponent(old)), sel);
	const [row, ns] = (await hash(page, "sel")).split("@");
	assert.equal(row, `${board}.t15`);
	assert.equal(Number(ns), AT + 9 * US, "the next slice begins where this one ends");
	assert.match(await page.locator(".spoken").textContent(), /rcu_preempt 15, .*without work/);
	await page.keyboard.press("ArrowLeft");
	await page.waitForFunction(() => document.querySelector('[data-fact="state"]')?.textContent === "running");
	await page.keyboard.press("ArrowDown");
	await page.waitForFunction((r) => !new URLSearchParams(location.hash.split("?")[1]).get("sel").startsWith(r), `${row}@`);
	await page.keyboard.press("ArrowUp");
	await page.waitForFunction((r) => new URLSearchParams(location.hash.split("?")[1]).get("sel").startsWith(r), `${row}@`);
}

async function checkMovement(page) {
	const box = await canvas(page).boundingBox();
	const hold = async (key, test) => {
		const old = await view(page);
		await page.keyboard.down(key);
		await until(page, test, old);
		await page.keyboard.up(key);
	};
	const near = length(await view(page));
	await page.keyboard.press("0");
	await until(page, (v, o) => v.to - v.from > 10 * o, near);
	await page.mouse.move(box.x + box.width / 2, box.y + box.height - 5);
	await hold("w", (v, o) => v.to - v.from < (o.to - o.from) / 2);
	await hold("d", (v, o) => v.from > o.from + (o.to - o.from) / 4);
	await hold("a", (v, o) => v.from < o.from);
	await hold("s", (v, o) => v.to - v.from > 1.2 * (o.to - o.from));
	let old = await view(page);
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -400);
	await page.keyboard.up("Control");
	await until(page, (v, o) => v.to - v.from < 0.9 * (o.to - o.from), old);
	await until(page, () => true, 0);
	old = await view(page);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width / 2 - 200, box.y + box.height - 5, {
		steps: 5,
	});
	await page.mouse.up();
	await until(page, (v, o) => v.from > o.from, old);
	await page.keyboard.press("f");
	await until(page, (v, at) => v.from > at - 20e3 && v.to < at + 40e3, AT);
}

async function checkRange(page) {
	await page.goto(`${web.url}#timeline?run=${board}`);
	await page.keyboard.press("0");
	await complete(page);
	const ruler = await page.locator("canvas.ruler").boundingBox();
	await page.mouse.move(ruler.x + 200, ruler.y + 10);
	await page.mouse.down();
	await page.mouse.move(ruler.x + 700, ruler.y + 10, { steps: 4 });
	await page.mouse.up();
	const table = page.getByRole("table", { name: /^Tasks in the range/ });
	await table.locator("tbody tr.choice").first().waitFor();
	const [from, to] = (await hash(page, "mark")).split("-");
	const report = await web.api(`runs/${board}/report/sched?from_ns=${from}&to_ns=${to}`);
	const first = report.tasks.toSorted((a, b) => b.cpu_ns - a.cpu_ns)[0];
	assert.match(await table.locator("tbody tr.choice").first().textContent(), new RegExp(`^${first.comm}${first.pid}`));
	await web.keep(page, "timeline-range");
	const worst = page.getByRole("table", { name: "Longest waits in the range" });
	await worst.locator("tbody tr.choice").first().click();
	await page.waitForFunction(() => new URLSearchParams(location.hash.split("?")[1]).has("sel"));
	await page.locator('[data-fact="task"]').waitFor();
	/* With Shift a drag among the rows marks, too. */
	const box = await canvas(page).boundingBox();
	const old = await hash(page, "mark");
	await page.keyboard.down("Shift");
	await page.mouse.move(box.x + 100, box.y + 30);
	await page.mouse.down();
	await page.mouse.move(box.x + 160, box.y + 30, { steps: 3 });
	await page.mouse.up();
	await page.keyboard.up("Shift");
	await page.waitForFunction((o) => new URLSearchParams(location.hash.split("?")[1]).get("mark") !== o, old);
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => !new URLSearchParams(location.hash.split("?")[1]).has("mark"));
}

async function checkRows(page) {
	const rows = () => page.evaluate(() => kiseki.rows());
	const all = await rows();
	await page.getByLabel("Filter rows").fill("sh,15");
	await page.waitForFunction((n) => kiseki.rows().length < n, all.length);
	const some = await rows();
	assert.ok(some.includes(`${board}.t15`) && some.includes(`${board}.c0`), some.join());
	await page.locator(`.row-name[data-row="${board}.t15"]`).hover();
	await page.getByRole("button", { name: /^Pin rcu_preempt/ }).click();
	await page.waitForFunction((id) => kiseki.rows()[0] === id, `${board}.t15`);
	await page.getByLabel("Filter rows").fill("");
	await page.waitForFunction((n) => kiseki.rows().length === n, all.length);
	assert.equal((await rows())[0], `${board}.t15`, "it stays at the top");
	await find(page, "no such task");
	await page.getByText("no match").waitFor();
}

async function checkAddress(page) {
	await page.goto(`${web.url}#timeline?${NEAR}&sel=${board}.t15@${AT + US}&pin=${board}.c1&filter=rcu`);
	await page.reload();
	await complete(page);
	await page.waitForFunction(() => document.querySelector('[data-fact="length"]')?.textContent === "9.00 µs");
	assert.deepEqual(await view(page), { from: AT - 60 * US, to: AT + 60 * US });
	assert.equal((await page.evaluate(() => kiseki.rows()))[0], `${board}.c1`);
	assert.equal(await page.getByLabel("Filter rows").inputValue(), "rcu");
	await page.keyboard.press("Escape");
	await page.getByText("Nothing is selected").waitFor();
	await page.goBack();
	await fact(page, "length").waitFor();
	await page.goto(`${web.url}#timeline?run=${board}&from=9&to=x&sel=<b>&pin=%00&mark=7-3`);
	await page.reload();
	await complete(page);
	await page.close();
}

async function checkLosses() {
	/* Its times are nonsense at the end, as those of damaged records can be. */
	const page = await open(`run=${lossy}`);
	await page.locator(".loss-note").waitFor();
	const run = await web.api(`runs/${lossy}/timeline?width=1`);
	const from = run.run_from_ns;
	await page.goto(`${web.url}#timeline?run=${lossy}&from=${from}&to=${from + 600e6}`);
	await until(page, (v, o) => v.from === o, from);
	await complete(page);
	await page.waitForFunction(() => Number(document.querySelector("canvas.rows").dataset.losses) > 1);
	assert.equal(await canvas(page).getAttribute("data-kinds"), "detail");
	await web.keep(page, "timeline-losses");
	await page.close();
}

async function checkHostile() {
	const page = await open(`run=${hostile}`);
	assert.equal(await page.locator("main img").count(), 0);
	assert.match(
		await page
			.locator(".picker option")
			.allTextContents()
			.then((l) => l.join()),
		/<img src=x onerror=alert\(1\)>⟨202E⟩␇"😀/,
	);
	await web.keep(page, "timeline-hostile");
	await page.close();
}

async function checkSeveral() {
	const page = await open(`run=${board}`);
	await page.getByLabel("Add device").selectOption(String(lossy));
	await page.waitForFunction((n) => kiseki.rows().includes(`${n}.d`), lossy);
	await complete(page);
	assert.equal(await hash(page, "run"), `${board},${lossy}`);
	assert.match(await page.locator(`.row-name[data-row="${lossy}.d"]`).textContent(), /clock/);
	await page.getByRole("button", { name: /^Hide threads of board-7/ }).click();
	await page.waitForFunction((id) => !kiseki.rows().includes(id), `${board}.c0`);
	await web.keep(page, "timeline-several");
	await page.getByRole("button", { name: "Remove lossy from the axis" }).click();
	await page.waitForFunction((id) => !kiseki.rows().includes(id), `${lossy}.d`);
	await page.close();
}

/** The name of a function under the pointer, somewhere in the lane below a row's states. */
async function functionIn(page, row, names) {
	const lane = await page.locator(`[data-row="${row}"]`).boundingBox();
	const box = await canvas(page).boundingBox();
	for (let x = 10; x < box.width; x += 15) {
		await page.mouse.move(box.x + x, lane.y + 26);
		await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
		const said = await page.locator(".tip bdi").allTextContents();
		const name = said.find((t) => names.has(t));
		if (name) return name;
	}
	return null;
}

/** Calls that the collector ties to a scheduler's run are under their threads. */
async function checkFunctions() {
	const { calls } = await web.api(`runs/${kernel}`);
	assert.ok(calls?.sched, "the calls have a run of the scheduler");
	const report = await web.api(`runs/${kernel}/calls/report?limit=1000`);
	const names = new Set(report.functions.map((f) => f.function));
	const { run, offset_ns } = calls.sched;
	const page = await open(`run=${run}&from=${calls.from_ns + offset_ns}&to=${calls.to_ns + offset_ns}`);
	await page.waitForFunction(() => [...document.querySelectorAll(".row-name.thread")].some((e) => e.clientHeight > 30));
	const rows = await page.locator(".row-name.thread").evaluateAll((l) => l.filter((e) => e.clientHeight > 30).map((e) => e.dataset.row));
	/* Nobody has moved the mouse: what is drawn now is what somebody sees who opens the link. */
	const colours = await coloursUnder(page, rows);
	assert.ok(colours.length > 1, "the lanes of functions have colours");
	assert.ok(!colours.includes("0,0,0"), "no lane is black in the first picture");
	const found = [];
	for (const row of rows) found.push(await functionIn(page, row, names));
	assert.ok(
		found.some((f) => f !== null),
		`no function under ${rows}`,
	);
	await web.keep(page, "timeline-functions");
	await page.close();
}

/** What colours there are below the states of the rows. */
async function coloursUnder(page, rows) {
	const box = await canvas(page).boundingBox();
	const seen = new Set();
	for (const row of rows) {
		const lane = await page.locator(`[data-row="${row}"]`).boundingBox();
		const found = await canvas(page).evaluate(
			(e, y) => {
				const ratio = e.width / e.clientWidth;
				const { data } = e.getContext("2d").getImageData(0, Math.round(y * ratio), e.width, 1);
				return [...new Set(Array.from({ length: e.width }, (_, x) => data.slice(4 * x, 4 * x + 3).join()))];
			},
			lane.y + 23 - box.y,
		);
		for (const colour of found) seen.add(colour);
	}
	return [...seen];
}

/** The link of the functions leads to the row that has them: it is chosen, and in sight. */
async function checkLink() {
	const page = await web.open(`#functions?run=${kernel}`);
	await page.locator(".summary a[data-ready]").click();
	await page.waitForFunction(() => /sel=\d+\.t\d+%2F0%40\d+/.test(location.hash));
	const [, row] = /sel=(\d+\.t\d+)%2F0%40/.exec(page.url());
	await page.locator(`[data-row="${row}"]`).waitFor();
	await page.locator(".timeline-panel", { hasText: "call of a function" }).waitFor();
	const lane = await page.locator(`[data-row="${row}"]`).boundingBox();
	const box = await canvas(page).boundingBox();
	assert.ok(lane.y >= box.y && lane.y + 20 <= box.y + box.height, `${row} is out of sight at ${lane.y}`);
	await page.close();
}

async function checkPictures() {
	const page = await open(NEAR);
	await page.getByRole("button", { name: "Share" }).click();
	for (const kind of ["SVG", "PNG"]) {
		const coming = page.waitForEvent("download");
		await page.getByRole("dialog").getByRole("button", { name: kind }).click();
		const bytes = readFileSync(await (await coming).path());
		if (kind === "PNG") assert.equal(bytes.subarray(1, 4).toString(), "PNG");
		else assert.match(bytes.toString(), /<svg[^]*<image [^]*rcu_preempt[^]*<\/svg>\s*$/);
	}
	await page.close();
}

async function checkLooks() {
	const dark = await open(NEAR, { colorScheme: "dark" });
	await dark.getByLabel("Language").selectOption("ja");
	await dark.getByRole("tab", { name: "凡例" }).click();
	await web.keep(dark, "timeline-dark");
	await dark.close();
	const narrow = await open(NEAR, {
		viewport: { width: 400, height: 800 },
		hasTouch: true,
		deviceScaleFactor: 2,
	});
	assert.ok((await narrow.evaluate(() => document.documentElement.scrollWidth)) <= 400, "nothing is cut off");
	const size = await canvas(narrow).evaluate((c) => c.width / c.getBoundingClientRect().width);
	assert.equal(Math.round(size), 2, "it is as sharp as the screen");
	await checkTouch(narrow);
	await web.keep(narrow, "timeline-narrow");
	await narrow.close();
}

async function checkTouch(page) {
	const box = await canvas(page).boundingBox();
	const cdp = await page.context().newCDPSession(page);
	const touch = (type, ...xs) =>
		cdp.send("Input.dispatchTouchEvent", {
			type,
			touchPoints: xs.map((x, id) => ({ x: box.x + x, y: box.y + 40, id })),
		});
	let old = await view(page);
	await touch("touchStart", 100, 150);
	for (let i = 1; i <= 8; i++) await touch("touchMove", 100 - 8 * i, 150 + 8 * i);
	await touch("touchEnd");
	await until(page, (v, o) => v.to - v.from < 0.8 * (o.to - o.from), old);
	old = await view(page);
	await touch("touchStart", 150);
	for (let i = 1; i <= 8; i++) await touch("touchMove", 150 - 10 * i);
	await touch("touchEnd");
	await until(page, (v, o) => v.from > o.from, old);
}

const page = await checkKnownEvent();
await checkChain(page);
await checkArrowKeys(page);
await checkMovement(page);
await checkRange(page);
await checkRows(page);
await checkAddress(page);
await checkLosses();
await checkHostile();
await checkSeveral();
await checkFunctions();
await checkLink();
await checkPictures();
await checkLooks();
await web.finish();
