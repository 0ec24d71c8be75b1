// SPDX-License-Identifier: MIT
// number: numbers as people read them, which is the same in every language.
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

/** A moment, with as many decimals as a step of the axis needs, rounded as boot_heading.c does. @param {number} ns */
export function formatTime(ns, step = MS) {
	const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9))), unit = 10 ** (9 - digits);
	return (ns < 0 ? "−" : "") + (Math.round(Math.abs(ns) / unit) * unit / 1e9).toFixed(digits) + " s";
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
