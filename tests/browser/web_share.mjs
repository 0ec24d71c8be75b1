// SPDX-License-Identifier: MIT
// web_share: what can be taken away: the link, every export of exactly the range, checked by the real program, commands
// that are run, and Perfetto's page, which a stand-in here plays: nothing goes out before the click.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";

import { start } from "./page.mjs";

const web = await start();
const { runs, kiseki, work } = web.data;

function shell(command) {
	const run = spawnSync("bash", ["-c", `set -o pipefail; kiseki() { "$KISEKI" "$@"; }; ${command}`], {
		env: { ...process.env, KISEKI: kiseki },
		maxBuffer: 1 << 28,
		cwd: work,
	});
	assert.equal(run.status, 0, `${command}: ${run.stderr}`);
	return run.stdout;
}

const dialog = (page) => page.getByRole("dialog", { name: "Share" });

async function middle(run) {
	const t = await web.api(`runs/${run}/timeline?width=1&tasks=0`);
	const length = t.run_to_ns - t.run_from_ns;
	return { from: t.run_from_ns + Math.round(length / 4), to: t.run_from_ns + Math.round((3 * length) / 4) };
}

async function openShare(run, range) {
	const page = await web.open(`#log?run=${run}${range ? `&from=${range.from}&to=${range.to}` : ""}`);
	await page.getByRole("button", { name: "Share" }).click();
	await dialog(page).locator("[data-format]").first().waitFor();
	return page;
}

async function download(page, format) {
	const [file] = await Promise.all([
		page.waitForEvent("download"),
		dialog(page).locator(`[data-format="${format}"]`).click(),
	]);
	const path = `${work}/${file.suggestedFilename()}`;
	copyFileSync(await file.path(), path);
	return { path, name: file.suggestedFilename() };
}

async function checkLink(page) {
	await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
	await dialog(page).getByRole("button", { name: "Copy link" }).click();
	await dialog(page).getByRole("button", { name: "Copied" }).waitFor();
	assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
}

async function checkExports(page, range) {
	const { formats } = await web.api("formats");
	const wanted = formats.filter((f) => f.kinds.includes("sched"));
	const names = await dialog(page).locator("[data-format]").evaluateAll((l) => l.map((a) => a.dataset.format));
	assert.deepEqual(names, wanted.map((f) => f.name));
	for (const f of wanted) {
		const { path, name } = await download(page, f.name);
		assert.ok(name.startsWith("trace-") && name.includes(f.ending), name);
		assert.ok(readFileSync(path).length > 100, f.name);
	}
	const lines = readFileSync(`${work}/trace-${runs.board}.ndjson`, "utf8").trim().split("\n").map((l) => JSON.parse(l));
	const events = lines.filter((i) => i.cpu !== undefined);
	assert.ok(events.length > 10 && events.every((e) => e.ns >= range.from && e.ns < range.to), "exactly the range");
	const totals = JSON.parse(shell(`kiseki info --json trace-${runs.board}.ksk`));
	assert.ok(JSON.stringify(totals).includes(String(events.length)), "the file has as many");
	shell(`kiseki check trace-${runs.board}.ksk`);
	const switches = events.filter((e) => e.kind === "switch").length;
	const read = shell(`trace-cmd report -i trace-${runs.board}.dat`).toString();
	assert.equal(read.match(/ sched_switch: /g)?.length, switches, "trace-cmd finds them all");
}

async function checkCommands(page) {
	const commands = await dialog(page).locator(".command code").allTextContents();
	assert.equal(commands.length, 4);
	const before = readFileSync(`${work}/trace-${runs.board}.pftrace`);
	for (const command of commands) shell(command);
	assert.ok(readFileSync(`${work}/board-7-${runs.board}.pftrace`).equals(before), "the command writes the same bytes");
	await web.keep(page, "share");
}

const STAND_IN = `<!doctype html><title>waits</title><script>
addEventListener("message", async (e) => {
	if (e.data === "PING") e.source.postMessage("PONG", e.origin);
	if (!e.data.perfetto) return;
	const hash = await crypto.subtle.digest("SHA-256", e.data.perfetto.buffer);
	const hex = [...new Uint8Array(hash)].map((b) => b.toString(16).padStart(2, "0")).join("");
	document.title = JSON.stringify({ hex, title: e.data.perfetto.title });
});
</script>`;

async function checkPerfetto(page) {
	const asked = [];
	await page.context().route("https://ui.perfetto.dev/**", (route) => {
		asked.push(route.request().url());
		return route.fulfill({ contentType: "text/html", body: STAND_IN });
	});
	assert.match(await dialog(page).textContent(), /nothing is sent until you click/);
	const [other] = await Promise.all([
		page.waitForEvent("popup"),
		dialog(page).getByRole("button", { name: "Open in Perfetto" }).click(),
	]);
	await other.waitForFunction(() => document.title.startsWith("{"));
	const got = JSON.parse(await other.title());
	const file = `board-7-${runs.board}.pftrace`;
	const sum = shell(`sha256sum ${file}`).toString().split(" ")[0];
	assert.equal(got.hex, sum, "Perfetto gets the bytes of the export");
	assert.match(got.title, /board-7/);
	await dialog(page).getByText("Perfetto has it").waitFor();
	assert.deepEqual(asked, ["https://ui.perfetto.dev/"]);
}

async function checkOthers() {
	const func = await openShare(runs.func);
	const names = await dialog(func).locator("[data-format]").evaluateAll((l) => l.map((a) => a.dataset.format));
	for (const name of ["folded", "speedscope", "pprof"]) assert.ok(names.includes(name), name);
	const { path } = await download(func, "folded");
	assert.match(readFileSync(path, "utf8"), /^\S.* \d+$/m);
	const boot = await openShare(runs.boot_small);
	const commands = await dialog(boot).locator(".command code").allTextContents();
	for (const command of commands) shell(command);
	assert.match(readFileSync(`${work}/board-7-${runs.boot_small}.html`, "utf8"), /<html/);
	const hostile = await openShare(runs.hostile);
	for (const command of await dialog(hostile).locator(".command code").allTextContents()) shell(command);
	const fleet = await web.open("#devices");
	await fleet.keyboard.press("x");
	await dialog(fleet).getByText("Choose a recording").waitFor();
}

const range = await middle(runs.board);
const page = await openShare(runs.board, range);
await checkLink(page);
await checkExports(page, range);
await checkCommands(page);
await checkPerfetto(page);
await checkOthers();
await web.finish();
