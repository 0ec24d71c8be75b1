// SPDX-License-Identifier: MIT
// chart_words: the words of boot charts: the script's heading is the one that C has made, the browser's language decides,
// and in Japanese nothing stays English but what the recording says itself.
import assert from "node:assert/strict";

/** Everything that a chart says, except on its canvases; runs in the page. */
function saidIn(root) {
	const out = new Set(), texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	while (texts.nextNode())
		out.add(texts.currentNode.data.trim());
	for (const e of root.querySelectorAll("*"))
		for (const name of ["title", "aria-label", "placeholder"])
			out.add((e.getAttribute(name) ?? "").split("\n")[0]);
	return [...out];
}

/** What is drawn from now on; runs in the page. */
function listenToCanvas() {
	const plain = CanvasRenderingContext2D.prototype.fillText;
	document.body.drawnWords = new Set();
	CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
		document.body.drawnWords.add(String(text));
		return plain.call(this, text, ...at);
	};
}

/** A CPU, a pid, names of keys and a date are the same in every language. */
const SAME = /^(CPU|pid \d+|Enter|Esc|↑ ↓ Home End|[\d-]+ [\d:]+ UTC)$/;

/** Words of `said` that are English and of the chart's own, not of the recording. */
function ownWords(said, data) {
	const recorded = JSON.stringify(data.boots.map(b => b.boot));
	const isRecorded = text => {
		const bare = text.replace(/^◉ /, "").replace(/^\[(.*)\]$/, "$1").replace(/ \[\d+\]$/, "").replace(/…$/, "");
		return recorded.includes(JSON.stringify(bare).slice(1, -1));
	};
	return said.filter(t => /[a-z]{3}/i.test(t) && !SAME.test(t) && !isRecorded(t));
}

/** Brings up all that has words, and returns them by where they are. */
async function gather(page, { ask, drawn, pid, ms, two }) {
	await page.evaluate(listenToCanvas);
	await ask(page, "refresh");
	await drawn(page);
	await ask(page, "show", pid);
	await drawn(page);
	const at = await ask(page, "place", pid, ms * 1e6);
	await page.mouse.move(at.x, at.y);
	await page.locator(".kc-card").waitFor({ state: "visible" });
	const card = await page.locator(".kc-card").textContent();
	// The first row of the machine: above the others, or, of two boots, the first that scrolls.
	await page.locator(".kc-scroll").evaluate(e => { e.scrollTop = 0; });
	await drawn(page);
	const box = await page.locator(two ? ".kc-rows" : ".kc-head").boundingBox();
	await page.mouse.move(box.x + 600, box.y + 65);
	await page.waitForFunction(c => document.querySelector(".kc-card").textContent !== c, card);
	const machine = await page.locator(".kc-card").textContent();
	const said = await page.locator(".kiseki-chart").evaluate(saidIn);
	const canvas = await page.evaluate(() => [...document.body.drawnWords]);
	return { card, machine, said, canvas };
}

/** Title, facts and notes of a page, as the data has them from C. */
export async function checkHeading(page, data) {
	const texts = selector => page.locator(selector).allTextContents(), two = data.boots.length > 1;
	const [{ heading }] = data.boots;
	assert.equal(await page.locator(".kc-title").textContent(), heading.title + (two ? ", compared" : ""));
	if (!two) {
		const labels = await texts(".kc-facts dt"), facts = await texts(".kc-facts dd");
		assert.deepEqual(labels.map((l, i) => [l, facts[i]]), heading.facts);
	}
	const notes = data.boots.flatMap((b, i) => b.heading.notes.map(n => (two ? (i ? "Second: " : "First: ") : "") + n));
	assert.deepEqual(await texts(".kc-notes li"), notes);
}

/** The same chart in both languages: what both say, the recording has said. */
async function checkJapanese(tools, { name, pid, ms }) {
	const { open, keep, dataOf } = tools, data = dataOf(name);
	const english = await open(name, { locale: "de-DE" }), page = await open(name, { locale: "ja-JP", colorScheme: "dark" });
	assert.deepEqual(await english.evaluate(() => [document.documentElement.lang, document.getElementById("chart").lang]), ["en", "en"], "English without words of its own");
	assert.deepEqual(await page.evaluate(() => [document.documentElement.lang, document.getElementById("chart").lang]), ["ja", "ja"]);
	assert.match(await page.title(), /のブート/);
	const what = { ...tools, pid, ms, two: data.boots.length > 1 }, en = await gather(english, what), ja = await gather(page, what);
	for (const where of ["said", "canvas"]) {
		const both = new Set(en[where]);
		assert.ok(ownWords(en[where], data).length > 5, `English has words: ${where}`);
		assert.deepEqual(ownWords(ja[where].filter(t => both.has(t)), data), [], `English in Japanese, ${where} of ${name}`);
	}
	for (const words of [`pid ${pid}`, "時点", "生存期間", "親"])
		assert.ok(ja.card.includes(words), `${words} in: ${ja.card}`);
	assert.match(ja.machine, /～.*ユーザー.*実行可能/);
	for (const { key, text } of data.signs) {
		const shown = page.locator(`.kc-page-legend [data-sign="${key}"]`);
		if (await shown.count())
			assert.ok(/[ぁ-ヿ一-鿿]/.test(await shown.textContent()) && await shown.textContent() !== text, key);
	}
	await keep(page, name.replace(".html", "-ja"));
	await page.keyboard.press("Escape");
	await page.keyboard.press("?");
	await page.getByRole("dialog").getByText("キーと操作").waitFor();
	await keep(page, name.replace(".html", "-ja-keys"));
	await english.close();
	await page.close();
}

/** From one language to the other and back, with a search, a path and a process. */
async function checkSwitch({ open, ask }) {
	const page = await open("path.html"), said = () => page.locator(".kiseki-chart").evaluate(saidIn);
	await page.locator(".kc-search").fill("modprobe");
	await ask(page, "show", 262);
	const before = await said();
	await ask(page, "setLanguage", "ja");
	assert.equal(await page.locator(".kc-count").textContent(), "24 件");
	assert.match(await page.locator(".kc-said").textContent(), /^dd \[262\]、.*終了コード 0$/);
	assert.match(await page.locator(".kc-page-path h2").textContent(), /までのパス$/);
	assert.equal(await page.locator(".kc-search").inputValue(), "modprobe", "what was typed stays");
	assert.equal(await ask(page, "selected"), 262);
	await page.getByRole("toolbar", { name: "チャート" }).getByRole("button", { name: "クリティカルパス" }).waitFor();
	await ask(page, "setLanguage", "en");
	assert.deepEqual(await said(), before, "and back");
	await page.close();
}

/** `tools`: what chart.mjs has. */
export async function checkWords(tools) {
	await checkJapanese(tools, { name: "exact.html", pid: 262, ms: 5400 });
	await checkJapanese(tools, { name: "two.html", pid: 262, ms: 5400 });
	await checkSwitch(tools);
}
