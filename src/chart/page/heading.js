// SPDX-License-Identifier: MIT
// heading: what a chart says above its rows, in the chart's language: of which machine it is, how it was made, when the
// target was there, and what is missing.
//
// The same rules as in src/chart/boot_heading.c; its English is what the data has, and the same as this one.
import { formatTime } from "./number.js";
import { reasonOf } from "./reason.js";

/**
 * @typedef {import("./types.js").Boot} Boot
 * @typedef {import("./types.js").Fact} Fact
 * @typedef {import("./types.js").Say} Say
 * @typedef {Pick<import("./types.js").Chart, "language" | "say">} Speaker
 */

const NOTES = 12; // BOOT_HEADING_NOTES_MAX

/** @param {Say} say @param {Boot} boot */
export function titleOf(say, boot) {
	return say("title", { device: boot.device || say("someMachine") });
}

// --- facts ---

/** @param {Boot} boot */
function dateOf(boot) {
	const ns = boot.realtime_ns + boot.from_ns;
	return boot.realtime_ns && ns >= 0 ? new Date(Math.floor(ns / 1e9) * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC" : "";
}

/** @param {Say} say @param {Boot} boot */
function methodOf(say, boot) {
	const told = boot.has_events ? say("told") : "", ms = Number((boot.interval_ns / 1e6).toPrecision(6));
	if (boot.is_exact)
		return ms ? say("methodExactEvery", { ms }) : say("methodExact");
	return ms ? say("methodSampledEvery", { ms, told }) : say("methodSampled", { told });
}

/** @param {Say} say @param {Boot} boot */
function targetOf(say, boot) {
	const time = formatTime(boot.target_ns - boot.base);
	return !boot.target_ns ? "" : boot.target ? say("targetAfter", { name: boot.target, time }) : say("after", { time });
}

/** @param {Say} say @param {Boot} boot @returns {Fact[]} */
export function factsOf(say, boot) {
	const { base, cpus } = boot, count = say(cpus === 1 ? "oneCpu" : "cpus", { n: cpus });
	const extent = { from: formatTime(boot.from_ns - base), to: formatTime(boot.to_ns - base), n: boot.processes.length };
	/** @type {Fact[]} */
	const all = [
		["target", targetOf(say, boot)], ["kernel", boot.kernel], ["machine", boot.machine || cpus ? [boot.machine, count].filter(Boolean).join(", ") : ""],
		["release", boot.release], ["commandLine", boot.command_line], ["recorded", dateOf(boot)], ["method", methodOf(say, boot)],
		["extent", say("extentOf", extent)], ["origin", boot.origin],
	];
	return all.filter(([, text]) => text);
}

// --- what is missing ---

/** @param {Boot} boot @param {string[]} columns */
function hasAny(boot, columns) {
	return columns.some(c => boot.points[c].some(v => v > 0));
}

/** Why, where there are several, of the first kind of them. @param {Speaker} chart @param {Boot} boot */
function gapsNote(chart, { gaps }) {
	const n = gaps.length, length = formatTime(gaps.reduce((sum, g) => sum + g.to_ns - g.from_ns, 0));
	if (!n)
		return "";
	const { say } = chart, first = reasonOf(chart, gaps[0].why), why = gaps.some(g => g.why !== gaps[0].why) ? say("andOthers", { why: first }) : first;
	return say(n === 1 ? "noteGap" : "noteGaps", { n, length, why });
}

/** @param {Say} say @param {Boot} boot */
function rowsNote(say, boot) {
	const rows = [
		boot.points.ns.length < 2 ? say("noCpu") : "", boot.disks.length ? "" : say("noDisks"),
		hasAny(boot, ["memory_used_kib", "memory_free_kib"]) ? "" : say("noMemory"),
		hasAny(boot, ["cpu_some_ns", "io_some_ns", "memory_some_ns", "irq_some_ns"]) ? "" : say("noPressure"),
	].filter(Boolean);
	return rows.length ? say("noteRows", { rows: rows.join(say("comma")) }) : "";
}

/** One sentence each. @param {Speaker} chart @param {Boot} boot */
export function notesOf(chart, boot) {
	const { say } = chart;
	return [
		boot.is_cut ? say("noteCut", { time: formatTime(boot.to_ns - boot.base) }) : "",
		boot.target && !boot.target_ns ? say("noteTarget", { name: boot.target }) : "",
		!boot.has_events && !boot.is_exact ? say("noteNotTold") : "",
		boot.is_exact && !boot.tells_interrupts ? say("noteInterrupts") : "",
		gapsNote(chart, boot), rowsNote(say, boot),
		...boot.marks.filter(m => m.type === "missing").map(m => reasonOf(chart, m.text)),
	].filter(Boolean).slice(0, NOTES);
}
