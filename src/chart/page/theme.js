// SPDX-License-Identifier: MIT
// theme: the colours of the page around the chart, from its style sheet, and those of signs, which come with the data.
import { DISK, RUNNABLE, RUNNING, SLEEPING, STOPPED, UNKNOWN, ZOMBIE } from "./model.js";

/**
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Context2D} Context2D
 * @typedef {import("./types.js").Sign} Sign
 * @typedef {import("./types.js").Theme} Theme
 */

const FACE = "system-ui, 'DejaVu Sans', sans-serif";

/** What the style sheet says now. @param {HTMLElement} root @returns {Theme} */
export function readTheme(root) {
	const style = getComputedStyle(root), read = (/** @type {string} */ name) => style.getPropertyValue("--kc-" + name).trim();
	return {
		back: read("back"), line: read("line"), text: read("text"), soft: read("soft"), faint: read("faint"),
		accent: read("accent"), row: read("row"), hit: read("hit"), fork: read("fork"), frame: read("frame"),
		dark: read("scheme") === "dark", font: "12px " + FACE, bold: "600 12px " + FACE, small: "11px " + FACE, fills: new Map(),
	};
}

/** @type {string[]} */
const signOfState = [];
signOfState[RUNNING] = "running";
signOfState[RUNNABLE] = "runnable";
signOfState[DISK] = "disk-wait";
signOfState[SLEEPING] = "sleeping";
signOfState[STOPPED] = "stopped";
signOfState[ZOMBIE] = "zombie";
signOfState[UNKNOWN] = "unknown";

/** @param {number} state */
export function stateSign(state) {
	return signOfState[state];
}

/** @param {number} level of a kernel message */
export function messageSign(level) {
	return level <= 3 ? "failure" : level === 4 ? "warning" : "message";
}

const NO_SIGN = { key: "", group: "", shape: "box", colour: "#808080", glyph: "", text: "" };

/** @param {Chart} chart @param {string} key @returns {Sign} */
export function signOf(chart, key) {
	return chart.signs.get(key) ?? NO_SIGN;
}

/** A sign's colour for lines and words: on a dark page half way to white. @param {Chart} chart @param {string} key */
export function lineColour(chart, key) {
	const { colour } = signOf(chart, key);
	if (!chart.theme.dark)
		return colour;
	return "#" + [1, 3, 5].map(i => Math.round((parseInt(colour.slice(i, i + 2), 16) + 255) / 2).toString(16).padStart(2, "0")).join("");
}

/** Free memory is nearly white, which would be glaring on a dark page. @param {Chart} chart @param {string} key */
export function fadeOf(chart, key) {
	return key === "memory-free" && chart.theme.dark ? .16 : 1;
}

/** @param {HTMLCanvasElement} canvas */
export function contextOf(canvas) {
	const ctx = canvas.getContext("2d");
	if (!ctx)
		throw new Error("this browser has no canvas");
	return ctx;
}

/** @param {Context2D} ctx @param {Sign} sign */
function makeHatch(ctx, sign) {
	const tile = document.createElement("canvas"), c = contextOf(tile);
	tile.width = tile.height = 6;
	c.fillStyle = sign.colour;
	c.globalAlpha = .22;
	c.fillRect(0, 0, 6, 6);
	c.globalAlpha = .85;
	c.strokeStyle = sign.colour;
	c.lineWidth = 1.6;
	c.beginPath();
	for (const d of [-6, 0, 6]) {
		const [from, to] = sign.key === "unknown" ? [0, 6] : [6, 0];
		c.moveTo(d, from);
		c.lineTo(d + 6, to);
	}
	c.stroke();
	return ctx.createPattern(tile, "repeat");
}

/** A sign's colour, or its hatch. @param {Chart} chart @param {Context2D} ctx @param {string} key */
export function fillOf(chart, ctx, key) {
	const sign = signOf(chart, key);
	if (sign.shape !== "hatch")
		return sign.colour;
	const fill = chart.theme.fills.get(key) ?? makeHatch(ctx, sign);
	if (fill)
		chart.theme.fills.set(key, fill);
	return fill ?? sign.colour;
}
