// SPDX-License-Identifier: MIT
// web_frames: how soon the timeline is there and how smoothly it moves, by the browser's own clock.
//
//	web_frames.mjs MODULES URL SECONDS [SHOT.png]
//
// Prints one JSON document. The first picture is there when the canvas says that nothing of it is missing any
// more; the time is performance.now() of the page, which counts from the navigation. Frames are counted by
// requestAnimationFrame while keys are held and the wheel turns: a frame that took long to make is seen as
// a long way to the next one. Memory is what the page's process has of its own (Pss of smaps_rollup).
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, url, seconds, shot] = process.argv.slice(2);
const { chromium } = createRequire(modules + "/node_modules/")("playwright-core");
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM,
	args: ["--disable-gpu", "--disable-dev-shm-usage", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
});

/** Runs in the page before its own code. */
function watch() {
	globalThis.bench = { first: 0, stamps: [] };
	const look = (now) => {
		const canvas = document.querySelector('canvas[data-pending="0"]');
		if (!bench.first && canvas && Number(canvas.dataset.rows) > 0) bench.first = performance.now();
		bench.stamps.push(now);
		requestAnimationFrame(look);
	};
	requestAnimationFrame(look);
}

async function open(context) {
	const page = await context.newPage();
	await page.addInitScript(watch);
	await page.goto(url);
	await page.waitForFunction(() => bench.first > 0, undefined, { timeout: 120000 });
	return page;
}

/** Frames while `move` goes on. */
async function frames(page, move) {
	await page.evaluate(() => (bench.stamps = []));
	await move();
	const stamps = await page.evaluate(() => bench.stamps);
	const ways = stamps.slice(1).map((t, i) => t - stamps[i]);
	const sorted = ways.toSorted((a, b) => a - b);
	return {
		frames: ways.length,
		per_s: ways.length / ((stamps.at(-1) - stamps[0]) / 1000),
		p95_ms: sorted[Math.floor(0.95 * sorted.length)],
		longest_ms: sorted.at(-1),
	};
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function hold(page, key) {
	await page.keyboard.down(key);
	await pause(1000 * Number(seconds));
	await page.keyboard.up(key);
}

async function wheel(page, dy) {
	await page.mouse.move(900, 400);
	await page.keyboard.down("Control");
	for (let i = 0; i < 20 * Number(seconds); i++) {
		await page.mouse.wheel(0, dy);
		await pause(50);
	}
	await page.keyboard.up("Control");
}

async function drag(page) {
	await page.mouse.move(700, 400);
	await page.mouse.down();
	for (let i = 0; i < 20 * Number(seconds); i++) {
		await page.mouse.move(700 + 300 * Math.sin(i / 8), 400);
		await pause(50);
	}
	await page.mouse.up();
}

async function memory() {
	const session = await browser.newBrowserCDPSession();
	const { processInfo } = await session.send("SystemInfo.getProcessInfo");
	const sizes = processInfo
		.filter((p) => p.type === "renderer")
		.map((p) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${p.id}/smaps_rollup`, "utf8"))[1]));
	return Math.max(...sizes) * 1024;
}

const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
const page = await open(context);
const result = { first_ms: await page.evaluate(() => bench.first), moves: {} };
result.again_ms = await (async () => {
	const second = await open(context);
	const ms = await second.evaluate(() => bench.first);
	await second.close();
	return ms;
})();
await page.bringToFront();
await page.locator("canvas").first().hover();
result.moves["zoom in (w)"] = await frames(page, () => hold(page, "w"));
result.moves["pan right (d)"] = await frames(page, () => hold(page, "d"));
result.moves["pan left (a)"] = await frames(page, () => hold(page, "a"));
result.moves["zoom out (s)"] = await frames(page, () => hold(page, "s"));
result.moves["wheel in"] = await frames(page, () => wheel(page, -120));
result.moves.drag = await frames(page, () => drag(page));
result.moves["wheel out"] = await frames(page, () => wheel(page, 120));
result.memory_bytes = await memory();
if (shot) await page.screenshot({ path: shot });
await browser.close();
console.log(JSON.stringify(result, null, 1));
