// SPDX-License-Identifier: MIT
// page: the collector's page in a real browser, for tests of its views.
//
//	import { start } from "./page.mjs";
//	const web = await start();               // arguments: MODULES URL SHOTS [JSON]
//	const page = await web.open("#devices");
//	await web.keep(page, "devices");           // a screenshot, kept
//	await web.finish();                      // fails if a page had a problem
//
// A page that logs an error or a warning, throws, opens a dialog of the browser's or asks anybody but its
// collector has a problem. What a test provokes it names: web.expect(/pattern/). Nothing waits for a time.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const TIMEOUT_MS = 60000;
const FLAGS = ["--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"];

class Web {
	constructor(browser, url, shots, data) {
		Object.assign(this, { browser, url, shots, data, problems: [], expected: [] });
	}

	/** A problem that is wanted. */
	expect(pattern) {
		this.expected.push(pattern);
	}

	note(text) {
		if (!this.expected.some((p) => p.test(text))) this.problems.push(text);
	}

	watch(page, origin) {
		page.setDefaultTimeout(TIMEOUT_MS);
		page.on("console", (m) => ["error", "warning"].includes(m.type()) && this.note(m.text()));
		page.on("pageerror", (e) => this.note(`${e.message}\n${e.stack}`));
		page.on("dialog", (d) => (this.note(`a dialog: ${d.message()}`), d.dismiss()));
		page.on("request", (r) => {
			const u = new URL(r.url());
			if (u.origin !== origin && !["data:", "blob:"].includes(u.protocol)) this.note(`asks for ${r.url()}`);
		});
	}

	/** A new page in a context of its own: options are those of playwright, e.g. colorScheme, viewport. */
	async open(hash = "", options = {}) {
		const context = await this.browser.newContext({
			viewport: { width: 1400, height: 900 },
			locale: "en-US",
			timezoneId: "UTC",
			acceptDownloads: true,
			...options,
		});
		const page = await context.newPage();
		this.watch(page, new URL(this.url).origin);
		await page.goto(this.url + hash);
		await page.locator("main[data-view]").waitFor();
		return page;
	}

	keep(page, name) {
		return page.screenshot({ path: `${this.shots}/${name}.png` });
	}

	api(path) {
		return fetch(`${this.url}api/v1/${path}`).then((r) => (assert.ok(r.ok, `${path}: ${r.status}`), r.json()));
	}

	async finish() {
		await this.browser.close();
		assert.deepEqual(this.problems, [], "the pages had problems");
	}
}

export async function start() {
	const [modules, url, shots, data] = process.argv.slice(2);
	const { chromium } = createRequire(modules + "/node_modules/")("playwright-core");
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM,
		timeout: 120000,
		args: [...FLAGS, ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
	});
	return new Web(browser, url, shots, data ? JSON.parse(data) : {});
}

/** What the address of a page has behind its view. */
export const params = (page) => new URLSearchParams(new URL(page.url()).hash.split("?")[1]);

/** Waits until the address has a value ("" for none) under a key. */
export const addressHas = (page, key, value) =>
	page.waitForFunction(
		([k, v]) => (new URLSearchParams(location.hash.split("?")[1]).get(k) ?? "") === v,
		[key, value],
	);

/** A share and a length of time as the page writes them. */
export function percent(share) {
	const n = 100 * share;
	return `${n.toFixed(n >= 10 || n === 0 ? 1 : 2)} %`;
}
export function lengthText(ns) {
	if (ns === 0) return "0";
	const [scale, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([s]) => ns >= s);
	const n = ns / scale;
	return scale === 1 ? `${ns} ns` : `${n.toFixed(n >= 100 ? 0 : n >= 10 ? 1 : 2)} ${unit}`;
}

/** Waits until an asked-for value is what it should be: for what is behind the page. */
export async function until(ask, ok, what) {
	const end = Date.now() + TIMEOUT_MS;
	for (;;) {
		const value = await ask();
		if (ok(value)) return value;
		assert.ok(Date.now() < end, `${what}: still ${JSON.stringify(value)}`);
		await new Promise((done) => setTimeout(done, 100));
	}
}
