// SPDX-License-Identifier: MIT
// web_vm: virtual machines over time, their tables and their flame graph. What is to be seen is worked out here from the
// collector's answers, apart from the page's own code.
import assert from "node:assert/strict";

import { addressHas, lengthText, params, percent, start, until } from "./page.mjs";
import { Recorder } from "./recorder.mjs";

const web = await start();
const { machines: run, before } = web.data.runs;
const CAPTION = 22; /* pixels of a machine's name, and of a row */
const LANE = 30;
const CLASSES = ["unknown", "guest", "vmm-kernel", "vmm-user", "steal", "waiting", "halt", "halt-polling", "asleep"];
const FROM = 7_000_000_000;
const TO = FROM + 30_000_000;
const GLIDE_MS = 1500; /* by then a picture is at rest that nobody moves any more */

const rows = (page) => page.locator(".vm-rows[data-pending='0']");
const tip = (page) => page.getByRole("tooltip");
const api = (path) => web.api(`runs/${run}/vm/${path}`);
const body = (page, name) => page.getByRole("table", { name }).locator("tbody tr:not([aria-hidden])");

async function open(query = "", options = {}) {
	const page = await web.open(`#vm?run=${run}${query}`, options);
	await rows(page).waitFor();
	return page;
}

const name = (vm) => ({ 4100: "shop", 4200: "batch" })[vm];

/** Where a moment of a row is on the screen: captions and rows stand in the order of machines, then physical CPUs. */
async function placeOf(page, lane, ns, from = FROM, to = TO) {
	const slices = await api(`slices?from_ns=${from}&to_ns=${to}&width=4000`);
	const order = slices.vcpus.toSorted((a, b) => a.vm - b.vm || a.vcpu - b.vcpu);
	let y = 0;
	let vm = null;
	const tops = new Map();
	for (const v of order) {
		if (v.vm !== vm) y += CAPTION;
		vm = v.vm;
		tops.set(`t${v.tid}`, y);
		y += LANE;
	}
	y += CAPTION;
	for (const c of slices.cpus) {
		tops.set(`c${c.cpu}`, y);
		y += LANE;
	}
	const box = await page.locator(".vm-rows").boundingBox();
	return { x: box.x + ((ns - from) / (to - from)) * box.width, y: box.y + tops.get(lane) + LANE / 2 };
}

/** The longest piece of a class in the window, with its row. */
async function longest(cls, from = FROM, to = TO) {
	const slices = await api(`slices?from_ns=${from}&to_ns=${to}&width=4000`);
	const all = slices.vcpus.flatMap((v) =>
		v.spans
			.filter(([, , c]) => CLASSES[c] === cls)
			.map(([start, length, , cpu, what]) => ({ v, start: slices.from_ns + start, length, cpu, what })),
	);
	const best = all.toSorted((a, b) => b.length - a.length)[0];
	assert.ok(best, `there is ${cls} in the window`);
	return { ...best, task: slices.tasks[best.what], place: slices.places[best.what] };
}

async function checkMachines() {
	const page = await open();
	const { machines } = await api("report?by=function");
	assert.equal(machines.length, 2);
	const table = body(page, "Machines and virtual CPUs");
	await table.nth(5).waitFor();
	const texts = await table.allTextContents();
	const expected = machines
		.toSorted((a, b) => a.vm - b.vm)
		.flatMap((m) => [m, ...m.vcpus.toSorted((a, b) => a.vcpu - b.vcpu)]);
	expected.forEach((m, i) => {
		for (const cls of ["guest", "vmm-kernel", "vmm-user", "steal", "waiting", "halt"])
			assert.ok(texts[i].includes(percent(m.classes_ns[cls] / m.wall_ns)), `${cls} in ${texts[i]}`);
	});
	const names = await page.locator(".row-name").allTextContents();
	const wanted = ["shop (4100)", "vCPU 0", "vCPU 1", "batch (4200)", "vCPU 0", "vCPU 1"];
	assert.deepEqual(names, [...wanted, "Physical CPUs", "CPU 0", "CPU 1"]);
	assert.ok(Number(await rows(page).getAttribute("data-pieces")) > 1000);
	await web.keep(page, "vm");
	await page.context().close();
}

async function checkPieces() {
	const page = await open(`&from=${FROM}&to=${TO}`);
	const guest = await longest("guest");
	const at = await placeOf(page, `t${guest.v.tid}`, guest.start + guest.length / 2);
	await page.mouse.move(at.x, at.y);
	await tip(page).filter({ hasText: guest.place.function }).waitFor();
	const text = await tip(page).textContent();
	assert.ok(text.includes(guest.place.process) && text.includes(lengthText(guest.length)), text);
	for (const cls of ["halt", "waiting"]) {
		const piece = await longest(cls);
		const place = await placeOf(page, `t${piece.v.tid}`, piece.start + piece.length / 2);
		await page.mouse.move(place.x, place.y);
		await tip(page).locator("strong", { hasText: cls }).waitFor();
	}
	await page.context().close();
}

/** A click on what was stolen says who had the CPU, and shows it where that one was. */
async function checkSteal() {
	const page = await open(`&from=${FROM}&to=${TO}`);
	const steal = await longest("steal");
	const at = await placeOf(page, `t${steal.v.tid}`, steal.start + steal.length / 2);
	await page.mouse.click(at.x, at.y);
	const chosen = page.getByLabel("What is selected");
	await chosen.getByText("steal", { exact: true }).waitFor();
	const { task } = steal;
	const culprit = task.vcpu === null ? `${task.comm} (${task.tid})` : `vCPU ${name(task.pid)}/${task.vcpu}`;
	await chosen.getByText(culprit, { exact: true }).waitFor();
	await chosen.getByText(lengthText(steal.length), { exact: true }).waitFor();
	const rowsOfIt = [`c${steal.cpu}`, ...(task.vcpu === null ? [] : [`t${task.tid}`])].join();
	await page.locator(`.vm-rows[data-culprits="${rowsOfIt}"]`).waitFor();
	await page.setViewportSize({ width: 1400, height: 640 });
	await page.locator(`.vm-rows[data-pending='0'][data-culprits="${rowsOfIt}"]`).waitFor();
	await web.keep(page, "vm-steal");
	await page.reload();
	await chosen.getByText(culprit, { exact: true }).waitFor();
	await chosen.getByRole("button", { name: `Show CPU ${steal.cpu}` }).click();
	await page.waitForFunction((cpu) => decodeURIComponent(location.hash).includes(`.c${cpu}@`), steal.cpu);
	await chosen.getByText(`CPU ${steal.cpu}`).first().waitFor();
	await chosen.getByRole("button", { name: "Close the selection" }).click();
	await chosen.waitFor({ state: "detached" });
	await page.context().close();
}

async function checkMovement() {
	const page = await open();
	const box = await page.locator(".vm-rows").boundingBox();
	const span = async () => {
		const canvas = page.locator(".vm-rows");
		return Number(await canvas.getAttribute("data-to")) - Number(await canvas.getAttribute("data-from"));
	};
	const whole = await span();
	await page.mouse.move(box.x + box.width / 2, box.y + 40);
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -600);
	await page.keyboard.up("Control");
	await until(span, (n) => n < 0.7 * whole, "the wheel zooms");
	await page.waitForFunction(() => /from=\d+/.test(location.hash) && /to=\d+/.test(location.hash));
	await rows(page).waitFor();
	const [from, to] = ["from", "to"].map((k) => Number(params(page).get(k)));
	await page.reload();
	await rows(page).waitFor();
	assert.ok(Math.abs((await span()) - (to - from)) < 10, "a link shows the same");
	await page.keyboard.down("d");
	await page.waitForFunction((old) => Number(document.querySelector(".vm-rows").dataset.from) > old + 1000, from);
	await page.keyboard.up("d");
	await page.locator(".vm-rows").focus();
	await page.keyboard.press("0");
	await until(span, (n) => n >= whole - 2, "0 shows all");
	await addressHas(page, "from", "");
	await page.context().close();
}

async function checkKeys() {
	const page = await open(`&from=${FROM}&to=${TO}`);
	await page.locator(".vm-rows").focus();
	await page.keyboard.press("ArrowDown");
	const spoken = page.locator(".vm-board .spoken");
	await spoken.filter({ hasText: "shop (4100) · vCPU 0" }).waitFor();
	const first = await spoken.textContent();
	await page.keyboard.press("ArrowRight");
	await page.waitForFunction((old) => document.querySelector(".vm-board .spoken").textContent !== old, first);
	await page.keyboard.press("ArrowDown");
	await spoken.filter({ hasText: "shop (4100) · vCPU 1" }).waitFor();
	await page.keyboard.press("m");
	await page.waitForFunction(() => location.hash.includes("mark="));
	await page.keyboard.press("Escape");
	await addressHas(page, "mark", "");
	await addressHas(page, "sel", "");
	await page.keyboard.press("?");
	await page.getByRole("dialog").getByText("mark the piece").waitFor();
	await page.context().close();
}

/** Numbers of a marked range are those of the same range at the collector. */
async function checkRange() {
	const page = await open();
	const ruler = await page.locator(".vm-ruler canvas").boundingBox();
	await page.mouse.move(ruler.x + ruler.width * 0.2, ruler.y + 10);
	await page.mouse.down();
	await page.mouse.move(ruler.x + ruler.width * 0.4, ruler.y + 10, { steps: 5 });
	await page.mouse.up();
	await page.waitForFunction(() => /mark=\d+-\d+/.test(location.hash));
	const [from, to] = params(page).get("mark").split("-");
	const { machines } = await api(`report?by=function&from_ns=${from}&to_ns=${to}`);
	const batch = machines.find((m) => m.vm === 4200);
	const row = body(page, "Machines and virtual CPUs").filter({ hasText: "batch" });
	await row.filter({ hasText: percent(batch.classes_ns.steal / batch.wall_ns) }).waitFor();
	await page.getByRole("button", { name: "Unmark" }).click();
	await addressHas(page, "mark", "");
	await page.context().close();
}

async function checkTables() {
	const page = await open("&tab=guests");
	for (const by of ["function", "process"]) {
		await page.getByRole("combobox", { name: /^by/ }).selectOption(by);
		const answer = (await api(`report?by=${by}&limit=2000`))[by];
		const table = body(page, "What ran in guests");
		await page.locator(`table[aria-rowcount="${answer.rows.length}"]`).waitFor();
		const most = answer.rows.toSorted((a, b) => b.true_ns - a.true_ns)[0];
		const row = table.first();
		await row.filter({ hasText: most[by] }).waitFor();
		const text = await row.textContent();
		for (const field of ["true_ns", "error_ns", "apparent_ns", "steal1_ns", "steal2_ns"])
			assert.ok(text.includes(lengthText(most[field])), `${field} in ${text}`);
	}
	const steal = await api("steal");
	await page.getByRole("button", { name: "Stolen by" }).click();
	const worst = steal.culprits.toSorted((a, b) => b.steal_ns + b.waiting_ns - a.steal_ns - a.waiting_ns)[0];
	const culprit = await body(page, "Who had the CPU instead").first().textContent();
	assert.ok(culprit.includes(`${name(worst.vm)}/${worst.vcpu}`), culprit);
	assert.ok(culprit.includes(lengthText(worst.steal_ns)) && culprit.includes(lengthText(worst.waiting_ns)), culprit);
	await page.getByRole("button", { name: "Exits" }).click();
	const exits = body(page, "Why guests were left");
	await exits.first().waitFor();
	const dearest = steal.exits.toSorted((a, b) => b.kernel_ns + b.user_ns - a.kernel_ns - a.user_ns)[0];
	const exit = await exits.first().textContent();
	assert.ok(exit.includes(dearest.exit) && exit.includes(dearest.exits.toLocaleString("en-US")), exit);
	await page.context().close();
}

async function checkGraph() {
	const page = await open("&tab=graph");
	await page.locator(".flame canvas[data-drawn]").waitFor();
	const { machines, function: guest } = await api("report?by=function&limit=2000");
	const wall = machines.reduce((ns, m) => ns + m.wall_ns, 0);
	const box = await page.locator(".flame").boundingBox();
	await page.mouse.move(box.x + 20, box.y + 10);
	await tip(page).getByText(lengthText(wall)).waitFor();
	await page.getByLabel("Find functions").fill("compress (511)");
	const own = guest.rows.filter((r) => r.process === "compress (511)").reduce((ns, r) => ns + r.apparent_ns, 0);
	await page.locator(".found-text", { hasText: percent(own / wall) }).waitFor();
	await page.getByLabel("Find functions").fill("");
	await page.getByLabel("with idle time").uncheck();
	await addressHas(page, "idle", "0");
	const idle = ["halt", "halt-polling", "asleep", "unknown"];
	const busy = wall - machines.reduce((ns, m) => ns + idle.reduce((n, c) => n + m.classes_ns[c], 0), 0);
	await page.mouse.move(box.x + 60, box.y + 300);
	await page.mouse.move(box.x + 20, box.y + 10);
	await tip(page).getByText(lengthText(busy)).waitFor();
	await web.keep(page, "vm-flame");
	await page.context().close();
}

async function checkWays() {
	const page = await web.open(`#vm?run=${before}`);
	await addressHas(page, "run", String(run));
	await rows(page).waitFor();
	await page.getByRole("link", { name: "As a profile of the host" }).click();
	await page.locator("main[data-view=profile]").waitFor();
	await addressHas(page, "run", String(run));
	await page.context().close();
}

async function checkLooks() {
	const query = `&tab=legend&from=${FROM}&to=${TO}`;
	const page = await open(query, { colorScheme: "dark", locale: "ja-JP" });
	await page.getByText("実行可能なのに、別のタスクが CPU を使用").waitFor();
	assert.equal(await page.locator(".vm-legend [data-class]").count(), CLASSES.length);
	await web.keep(page, "vm-dark");
	await page.context().close();
	const small = await open("", { viewport: { width: 420, height: 800 } });
	const wide = await small.evaluate(() => document.documentElement.scrollWidth > innerWidth);
	assert.ok(!wide, "nothing is wider than a small screen");
	await small.context().close();
}

const spanOf = async (page) => {
	const canvas = page.locator(".vm-rows");
	const [from, to] = await Promise.all(["data-from", "data-to"].map((k) => canvas.getAttribute(k)));
	return { from: Math.round(Number(from)), to: Math.round(Number(to)) };
};

/** The end that the collector knows is in sight, and the table below is about what is in sight. */
async function checkEnd(page, grown, length) {
	const { profile } = await web.api(`runs/${grown}`);
	await until(
		() => spanOf(page),
		(s) => s.to === profile.to_ns,
		"the end is in sight",
	);
	await rows(page).waitFor();
	const { from, to } = await spanOf(page);
	assert.ok(Math.abs(to - from - length) < 2, "it stays as long as it was");
	const { machines } = await web.api(`runs/${grown}/vm/report?by=function&from_ns=${from}&to_ns=${to}`);
	for (const m of machines.filter((x) => x.wall_ns)) {
		const row = body(page, "Machines and virtual CPUs").filter({ hasText: name(m.vm) });
		await row.filter({ hasText: percent(m.classes_ns.guest / m.wall_ns) }).first().waitFor();
	}
	return to;
}

/** From the end into the past. */
async function moveBack(page, end) {
	await page.keyboard.down("a");
	await until(
		() => spanOf(page),
		(s) => s.to < end - 1000,
		"it moves back",
	);
	await page.keyboard.up("a");
}

/** Whoever follows while the picture still moves is led to the end, and stays there. */
async function checkHaste(page, end) {
	await moveBack(page, end);
	await page.keyboard.press("l");
	await addressHas(page, "follow", "1");
	await page.waitForTimeout(GLIDE_MS);
	assert.equal((await spanOf(page)).to, end, "the end is still in sight");
}

/** A run that grows: its end stays in sight, until somebody moves away or it is over. */
async function checkFollow() {
	const recorder = new Recorder(web.data.work);
	let left = await recorder.send(20);
	const isNew = ({ runs }) => runs.find((r) => r.device === "host" && !r.ended && r.events > 0);
	const grown = isNew(await until(() => web.api("runs"), isNew, "the recording is there")).run;
	const { profile } = await web.api(`runs/${grown}`);
	const length = 200_000_000;
	const page = await web.open(`#vm?run=${grown}&from=${profile.from_ns}&to=${profile.from_ns + length}`);
	await rows(page).waitFor();
	const follow = page.getByRole("button", { name: "Follow" });
	left = await recorder.send(Math.ceil(left / 4));
	await follow.click();
	await addressHas(page, "follow", "1");
	const first = await checkEnd(page, grown, length);
	left = await recorder.send(Math.ceil(left / 3));
	const second = await checkEnd(page, grown, length);
	assert.ok(second > first, "it has moved on");
	await web.keep(page, "vm-follow");

	await page.locator(".vm-rows").focus();
	await moveBack(page, second);
	await addressHas(page, "follow", "");
	await page.waitForFunction((end) => Number(new URLSearchParams(location.hash.split("?")[1]).get("to")) < end, second);
	const resting = params(page).get("to");
	left = await recorder.send(Math.ceil(left / 2));
	const { profile: more } = await web.api(`runs/${grown}`);
	assert.ok(more.to_ns > second);
	await page.keyboard.press("l");
	const third = await checkEnd(page, grown, length);
	await page.locator("button[aria-pressed=true]", { hasText: "Follow" }).waitFor();
	assert.equal(params(page).get("to"), resting, "what is followed is not written into the address");
	await checkHaste(page, third);

	await recorder.send(left);
	await recorder.end();
	const last = await checkEnd(page, grown, length);
	await addressHas(page, "follow", "");
	await follow.waitFor({ state: "detached" });
	await addressHas(page, "to", String(last));
	await page.context().close();
}

await checkMachines();
await checkPieces();
await checkSteal();
await checkMovement();
await checkKeys();
await checkRange();
await checkTables();
await checkGraph();
await checkWays();
await checkLooks();
await checkFollow();
await web.finish();
console.log("web_vm: all is as it should be");
