// SPDX-License-Identifier: MIT
// chart_host: a page of somebody else's that has two charts in it, and the server that it comes from.
import { readFileSync } from "node:fs";

/** The script as a part of another page, which has the strictest of policies: modules, and one style sheet. */
const HOST = `<!doctype html><html lang="en"><head><title>host</title><link rel="stylesheet" href="style.css"><link rel="stylesheet" href="host.css"></head>
<body><div id="one"></div><div id="two"></div><script type="module" src="host.js"></script></body></html>`;
const HOST_STYLE = "html, body { margin: 0; height: 100% } #one, #two { height: 50% }";
const HOST_SCRIPT = `import { mount } from "./mount.js";
const before = new Set(Object.getOwnPropertyNames(window)), said = [];
const data = name => fetch(name).then(r => r.json());
const one = mount(document.getElementById("one"), await data("plain.json"), { header: false, panel: false, onSelect: p => said.push(p) });
const two = mount(document.getElementById("two"), await data("two.json"));
const globals = Object.getOwnPropertyNames(window).filter(n => !before.has(n));
document.body.charts = { one, two, said, globals };`;

/** Answers for a server that has the modules and the data of two charts. */
export async function serve(page, { plain, two }) {
	const files = { "/": HOST, "/host.css": HOST_STYLE, "/host.js": HOST_SCRIPT, "/plain.json": JSON.stringify(plain), "/two.json": JSON.stringify(two) };
	const types = { js: "text/javascript", css: "text/css", json: "application/json" };
	await page.route("http://host.test/**", route => {
		const { pathname } = new URL(route.request().url());
		route.fulfill({
			body: files[pathname] ?? readFileSync(new URL("../../src/chart/page" + pathname, import.meta.url), "utf8"),
			contentType: types[pathname.split(".")[1]] ?? "text/html",
			headers: { "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; require-trusted-types-for 'script'" },
		});
	});
}
