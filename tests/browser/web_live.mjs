// SPDX-License-Identifier: MIT
// web_live: the timeline of a device that is traced right now: it is followed, a program that is started here and now
// comes into the picture, and a movement by hand ends it. How long that took is printed, not checked: machines that
// test are busy.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";

import { start, until } from "./page.mjs";

const web = await start();
/* More events than a tile takes: the page then asks for its overview. A busy machine has them. */
web.expect(/status of 413/);
const device = await until(
	() => web.api("devices").then((d) => d.devices.find((x) => x.name === web.data.device)),
	(d) => d?.run && d.received.events > 0,
	"the device traces",
);
const run = device.run;
const page = await web.open(`#timeline?run=${run}`);
await page.waitForFunction(() => Number(document.querySelector("canvas.rows")?.dataset.rows) > 0);
const follow = page.getByRole("button", { name: "Follow" });
await page.locator("button[aria-pressed]:not(:disabled)", { hasText: "Follow" }).click();
await page.waitForFunction(() => location.hash.includes("follow=1"));
const first = await page.evaluate(() => kiseki.end());
await page.waitForFunction((end) => kiseki.end() > end + 1e9, first);
const { from, to } = await page.evaluate(() => kiseki.view());
await page.waitForFunction((end) => kiseki.view().to > end, to);
assert.ok(Math.abs((await page.evaluate(() => kiseki.view().to - kiseki.view().from)) - (to - from)) < 2, "it keeps its zoom");

const program = `${web.data.work}/kiseki-live`;
copyFileSync("/bin/sleep", program);
const began = Date.now();
const child = spawn(program, ["1000"], { stdio: "ignore" });
try {
	await page.waitForFunction((id) => kiseki.rows().includes(id), `${run}.t${child.pid}`);
	console.log(`web_live: a new program was in the picture after ${Date.now() - began} ms`);
} finally {
	child.kill();
}
await page.getByLabel("Filter rows").fill("kiseki-live");
await page.locator(`.row-name[data-row="${run}.t${child.pid}"]`, { hasText: "kiseki-live" }).waitFor();
await web.keep(page, "timeline-live");

const box = await page.locator("canvas.rows").boundingBox();
await page.mouse.move(box.x + 300, box.y + 20);
await page.mouse.down();
await page.mouse.move(box.x + 400, box.y + 20, { steps: 4 });
await page.mouse.up();
await page.locator('button[aria-pressed="false"]', { hasText: "Follow" }).waitFor();
assert.equal(await follow.isDisabled(), false);
await web.finish();
