// SPDX-License-Identifier: MIT
// ink: black or white, whichever is better to read on a ground. The better of the two always has a contrast of
// at least 4.58, more than the 4.5 that WCAG asks for, whatever the ground is.

type Rgb = readonly [number, number, number];

function fromHsl(hue: number, saturation: number, light: number): Rgb {
	const a = saturation * Math.min(light, 1 - light);
	const channel = (n: number): number => {
		const k = (n + hue / 30) % 12;
		return light - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
	};
	return [channel(0), channel(8), channel(4)];
}

/** "#rrggbb" or "hsl(h s% l%)" as red, green and blue from 0 to 1. */
export function parseColor(text: string): Rgb {
	const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text);
	if (hex) return [1, 2, 3].map((i) => parseInt(hex[i] ?? "0", 16) / 255) as unknown as Rgb;
	const hsl = /^hsl\(([\d.]+) ([\d.]+)% ([\d.]+)%\)$/.exec(text);
	return hsl ? fromHsl(Number(hsl[1]), Number(hsl[2]) / 100, Number(hsl[3]) / 100) : [0, 0, 0];
}

/** Relative luminance, as WCAG 2 defines it. */
export function luminance(color: Rgb): number {
	const [r, g, b] = color.map((c) =>
		c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4,
	) as unknown as Rgb;
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: string, b: string): number {
	const [x, y] = [luminance(parseColor(a)), luminance(parseColor(b))];
	return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const known = new Map<string, string>();

export function inkOn(ground: string): string {
	let ink = known.get(ground);
	if (ink === undefined) {
		ink = luminance(parseColor(ground)) > 0.179 ? "#000000" : "#ffffff";
		known.set(ground, ink);
	}
	return ink;
}
