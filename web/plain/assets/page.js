// SPDX-License-Identifier: MIT
"use strict";
// Everything that comes from a device is put in as text, never as markup.
const rows = new Map(), body = document.getElementById("devices"), note = document.getElementById("note");
const formats = ["ksk", "perfetto", "ftrace", "csv"];
const cell = (tr, text, name) => { const td = tr.insertCell(); td.textContent = text; td.className = name || ""; return td; };
function link(td, text, href) {
	const a = document.createElement("a");
	a.textContent = text; a.href = href;
	td.append(a, " ");
}
// Whether a device has a boot chart; asked again when the page is loaded again.
const boots = new Map();
const findBoot = base => fetch(base + "/runs?kind=boot&limit=1").then(r => r.json()).then(r => r.runs.length > 0, () => false);
function show(d) {
	let tr = rows.get(d.id);
	if (!tr) { tr = body.insertRow(); rows.set(d.id, tr); }
	tr.textContent = "";
	const lost = Object.values(d.status.lost).reduce((a, b) => a + b, 0), r = d.received;
	const base = "/api/v1/devices/" + encodeURIComponent(d.id);
	link(cell(tr, ""), d.name, base);
	cell(tr, d.state, d.state).title = d.status.text;
	cell(tr, d.status.source || "–");
	cell(tr, r.events_per_s.toLocaleString(), "n");
	cell(tr, r.events ? (r.bytes / r.events).toFixed(2) : "–", "n");
	cell(tr, r.events.toLocaleString(), "n");
	cell(tr, lost.toLocaleString(), lost ? "n failed" : "n");
	cell(tr, d.status.spool_size ? Math.round(100 * d.status.spool_used / d.status.spool_size) + " %" : "–", "n");
	const td = cell(tr, "");
	for (const f of formats) link(td, f, base + "/export?format=" + f);
	link(td, "report", base + "/report/sched");
	link(td, "ledger", base + "/ledger");
	if (!boots.has(d.id)) boots.set(d.id, findBoot(base));
	boots.get(d.id).then(has => { if (has && td.isConnected) link(td, "boot", base + "/boot.html"); });
}
const live = new EventSource("/api/v1/live");
live.addEventListener("state", e => { show(JSON.parse(e.data)); note.textContent = rows.size + (rows.size === 1 ? " device" : " devices"); });
live.onopen = () => { if (!rows.size) note.textContent = "No device has come yet. On each: kiseki-agent --collector HOST:7077 --start"; };
live.onerror = () => { note.textContent = "The collector does not answer; trying again."; };
