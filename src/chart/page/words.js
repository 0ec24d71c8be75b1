// SPDX-License-Identifier: MIT
// words: numbers as people read them.
import { MS } from "./model.js";

/** A length of time: "12.3 ms". @param {number} ns */
export function formatLength(ns) {
	const size = Math.abs(ns);
	if (size >= 10e9)
		return (ns / 1e9).toFixed(1) + " s";
	if (size >= 1e9)
		return (ns / 1e9).toFixed(2) + " s";
	if (size >= 1e6)
		return (ns / 1e6).toFixed(size >= 1e8 ? 0 : 1) + " ms";
	return (ns / 1e3).toFixed(size >= 1e5 ? 0 : 1) + " µs";
}

/** @param {number} ns */
export function formatDelta(ns) {
	return ns ? (ns < 0 ? "−" : "+") + formatLength(Math.abs(ns)) : "±0";
}

/** A moment, with as many decimals as a step of the axis needs. @param {number} ns */
export function formatTime(ns, step = MS) {
	const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9)));
	return (ns / 1e9).toFixed(digits).replace("-", "−") + " s";
}

/** @param {number} n */
export function formatBytes(n) {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let i = 0;
	while (n >= 1000 && i < units.length - 1) {
		n /= 1000;
		i++;
	}
	return (i && n < 10 ? n.toFixed(1) : n.toFixed(0)) + " " + units[i];
}

/** @param {import("./types.js").Process} p */
export function formatExit(p) {
	if (p.is_alive)
		return "still there at the end";
	if (p.exit_code < 0)
		return "ended, exit code not known";
	return p.exit_code & 0x7f ? "killed by signal " + (p.exit_code & 0x7f) : "exit code " + (p.exit_code >> 8 & 0xff);
}

/** @param {import("./types.js").Process} p */
export function nameOf(p) {
	return p.comm + " [" + p.pid + "]";
}
