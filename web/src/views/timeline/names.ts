// SPDX-License-Identifier: MIT
// names: names of tasks as small numbers, so that a tile of a hundred thousand slices holds numbers only, and the
// colour of a name is one look into a table. The table of colours is made anew when the theme changes.
import { dark } from "../../app/theme";
import { colorOfName } from "../../parts/palette";

const ids = new Map<string, number>();
const texts: string[] = [];
let colours = new Uint32Array(64);
let made = 0;
let madeDark = false;

export function nameId(text: string): number {
	let id = ids.get(text);
	if (id === undefined) {
		id = texts.length;
		ids.set(text, id);
		texts.push(text);
	}
	return id;
}

export function nameText(id: number): string {
	return texts[id] ?? "";
}

/** Bytes in memory are red, green, blue, opacity: as one number of a little-endian machine. */
export function pack(r: number, g: number, b: number): number {
	return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}

function channel(h: number, s: number, l: number, n: number): number {
	const k = (n + h / 30) % 12;
	return Math.round(255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
}

/** "#rrggbb" or "hsl(H S% L%)", the two forms of the palette. */
export function parseColour(css: string): number {
	const hex = /^#([0-9a-f]{6})$/i.exec(css);
	if (hex?.[1]) {
		const n = parseInt(hex[1], 16);
		return pack(n >> 16, (n >> 8) & 0xff, n & 0xff);
	}
	const hsl = /^hsl\((\d+) (\d+)% (\d+)%\)$/.exec(css);
	if (!hsl) return pack(128, 128, 128);
	const [h, s, l] = [Number(hsl[1]), Number(hsl[2]) / 100, Number(hsl[3]) / 100];
	return pack(channel(h, s, l, 0), channel(h, s, l, 8), channel(h, s, l, 4));
}

/** Between two colours; share 1 is the first. */
export function mix(a: number, b: number, share: number): number {
	const part = (shift: number): number =>
		Math.round(((a >>> shift) & 0xff) * share + ((b >>> shift) & 0xff) * (1 - share));
	return pack(part(0), part(8), part(16));
}

export function cssOf(colour: number): string {
	return `rgb(${colour & 0xff} ${(colour >>> 8) & 0xff} ${(colour >>> 16) & 0xff})`;
}

/** Colours of all names, by their numbers. */
export function nameColours(): Uint32Array {
	if (madeDark !== dark.value) made = 0;
	madeDark = dark.value;
	if (colours.length < texts.length) {
		const larger = new Uint32Array(2 * texts.length);
		larger.set(colours);
		colours = larger;
	}
	for (; made < texts.length; made++) colours[made] = parseColour(colorOfName(texts[made] ?? ""));
	return colours;
}
