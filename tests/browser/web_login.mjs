// SPDX-License-Identifier: MIT
// web_login: the page of a collector with keys: a login that is wrong, one that is right, what each role is offered, and
// how a login ends: by hand, and by somebody who takes it away (data.kiseki, in data.work).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";

import { start } from "./page.mjs";

const PASSWORD = "correct horse";
const web = await start();

const open = (hash = "") => web.open(hash, { ignoreHTTPSErrors: true });

async function enter(page, user, password = PASSWORD) {
  await page.getByLabel("User").fill(user);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

async function logIn(user, hash = "") {
  const page = await open(hash);
  await page.locator('main[data-view="login"]').waitFor();
  await enter(page, user);
  await page.locator("header .account", { hasText: user }).waitFor();
  return page;
}

function keys(...words) {
  const run = spawnSync(
    web.data.kiseki,
    ["keys", ...words, "--dir", `${web.data.work}/data/keys`],
    {
      input: "another horse\n",
    },
  );
  assert.equal(run.status, 0, String(run.stderr));
}

async function checkLogin() {
  web.expect(/401/);
  const page = await open("#timeline");
  await page.locator('main[data-view="login"]').waitFor();
  assert.equal(
    await page.locator("nav").count(),
    0,
    "there is a page for strangers",
  );
  await web.keep(page, "login");
  await enter(page, "view-user", "wrong password");
  await page.getByText("The name or the password is wrong.").waitFor();
  assert.equal(await page.getByLabel("Password").inputValue(), "");
  await page.getByLabel("Language").selectOption("ja");
  await page.getByRole("button", { name: "ログイン" }).waitFor();
  await web.keep(page, "login_japanese");
  await page.getByLabel("言語").selectOption("en");
  await enter(page, "view-user");
  await page.locator('main[data-view="timeline"]').waitFor();
  await page.locator(".link.live").waitFor();
  const cookies = await page.context().cookies();
  const cookie = cookies.find((c) => c.name === "__Host-kiseki");
  assert.ok(
    cookie.secure && cookie.httpOnly && cookie.sameSite === "Strict",
    JSON.stringify(cookie),
  );
  assert.equal(await page.evaluate(() => document.cookie), "");
}

async function checkRoles() {
  for (const [user, offered] of [
    ["view-user", false],
    ["control-user", true],
    ["admin-user", true],
  ]) {
    const page = await logIn(user, "#devices");
    await page
      .locator(".devices-view-list")
      .getByText("board-7")
      .first()
      .click();
    await page.locator("aside").waitFor();
    for (const name of ["Start…", "Stop…", "Configure…", "Group…"].map((n) =>
      n.replace("…", ""),
    ))
      assert.equal(
        (await page.getByRole("button", { name }).count()) > 0,
        offered,
        `${user}: ${name}`,
      );
    if (user === "view-user") await web.keep(page, "login_view");
  }
}

/** What changes something has its proof with it. */
async function checkChange() {
  const page = await logIn("control-user", "#devices");
  await page.locator(".devices-view-list").getByText("board-7").first().click();
  await page.locator("aside").getByRole("button", { name: "Group" }).click();
  await page.getByRole("dialog").locator("input").fill("rack 9");
  await page.getByRole("dialog").locator("button.primary").click();
  await page.locator("aside").getByText("rack 9").waitFor();
}

async function checkEnds() {
  const page = await logIn("admin-user");
  const cookies = await page.context().cookies();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.locator('main[data-view="login"]').waitFor();
  await page.context().addCookies(cookies); // played again
  await page.reload();
  await page.locator('main[data-view="login"]').waitFor();
  /* Somebody is removed while he looks. */
  const other = await logIn("control-user", "#devices");
  await other.locator(".link.live").waitFor();
  keys("user", "remove", "control-user");
  await other.locator('main[data-view="login"]').waitFor();
  keys("user", "passwd", "view-user");
  const last = await open();
  await enter(last, "view-user", "another horse");
  await last.locator("header .account", { hasText: "view-user" }).waitFor();
}

await checkLogin();
await checkRoles();
await checkChange();
web.expect(/ERR_|Failed to load resource/);
await checkEnds();
await web.finish();
