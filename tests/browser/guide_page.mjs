// SPDX-License-Identifier: MIT
// guide_page: the page of a collector that somebody set up by the guide: the device is in the list, and traces.
import { start } from "./page.mjs";

const web = await start();
const page = await web.open("#devices");
await page.locator("tr[data-device]", { hasText: web.data.device }).locator(".state.tracing").waitFor();
await web.keep(page, "guide");
await web.finish();
console.log(`the page shows ${web.data.device}, tracing`);
