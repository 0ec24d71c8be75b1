// SPDX-License-Identifier: MIT
// text: names from devices as they may be shown. A process can call itself anything: control bytes, characters
// that turn the direction of the rest of the line, nothing at all. All of those become visible marks, so that
// what is on the screen is what was recorded and no name can pretend to be something else.

const HIDDEN =
	/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu;

function mark(c: string): string {
	const code = c.codePointAt(0) ?? 0;
	if (code < 0x20) return String.fromCodePoint(0x2400 + code);
	return code === 0x7f ? "\u2421" : `\u27e8${code.toString(16).toUpperCase()}\u27e9`;
}

/** A name with nothing hidden in it; isolated, so that right-to-left letters turn nothing outside it. */
export function plain(name: string): string {
	return name.replace(HIDDEN, mark);
}

/** The same, and never empty. */
export function nameOf(comm: string, pid: number): string {
	return comm === "" ? `pid ${pid}` : plain(comm);
}

/** Cut to fit, with an ellipsis; never inside a character. */
export function shorten(text: string, max: number): string {
	const letters = [...text];
	return letters.length <= max ? text : `${letters.slice(0, Math.max(max - 1, 0)).join("")}…`;
}
