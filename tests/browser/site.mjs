// SPDX-License-Identifier: MIT
// site: the documentation in a browser, from files: nothing is fetched from elsewhere, no page is wider than a phone, it is dark where the
// reader wants it dark, it can be read without scripts, and the search finds.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [modules, url] = process.argv.slice(2);
const { chromium } = createRequire(modules + "/node_modules/")("playwright-core");
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM,
	timeout: 120000,
	args: ["--disable-gpu", "--disable-dev-shm-usage", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
});
const problems = [];

async function open(path, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
	const page = await context.newPage();
	page.on("console", (m) => ["error", "warning"].includes(m.type()) && problems.push(m.text()));
	page.on("pageerror", (e) => problems.push(e.message));
	page.on("request", (r) => r.url().startsWith("file:") || problems.push(`asks for ${r.url()}`));
	await page.goto(url + path);
	return page;
}

const PAGES = [
	"index.html",
	"README.ja.html",
	"docs/guide/first-board.html",
	"docs/reports.html",
	"docs/format/wire.html",
	"docs/api/reference.html",
	"docs/man/kiseki-serve.1.html",
];

for (const path of PAGES) {
	const page = await open(path, { viewport: { width: 360, height: 740 }, javaScriptEnabled: false });
	const wide = await page.locator("html").evaluate((e) => e.scrollWidth);
	assert.ok(wide <= 360, `${path} is ${wide} wide on a phone`);
	await page.getByRole("link", { name: "Contents" }).click();
	assert.ok(await page.getByRole("navigation", { name: "All pages" }).isVisible());
	assert.equal(
		await page.locator("#search input").count(),
		0,
		"without scripts there is no field that does nothing",
	);
	await page.context().close();
}

const ground = (page) => page.locator("body").evaluate((e) => getComputedStyle(e).backgroundColor);
const light = await open("docs/tour.html", { colorScheme: "light" });
const dark = await open("docs/tour.html", { colorScheme: "dark" });
assert.notEqual(await ground(light), await ground(dark));

await light.keyboard.press("/");
await light.keyboard.type("perf_event_paranoid");
await light.locator("#search li a", { hasText: "Troubleshooting" }).first().waitFor();
await light.getByRole("searchbox").fill("rings bpffs");
await light.locator("#search li a").first().click();
await light.waitForURL(/docs\/troubleshooting\.html#/);
await light.keyboard.press("/");
await light.keyboard.type("no page has this wordlessness");
await light.getByText("Nothing has all of these words.").waitFor();

await browser.close();
assert.deepEqual(problems, [], "the pages had problems");
console.log(`${PAGES.length} pages in a browser`);
