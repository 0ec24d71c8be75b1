// SPDX-License-Identifier: MIT
// shell: words of a command line as a POSIX shell takes them. A name from a device can hold anything, and what is
// copied from the page is pasted into a shell: so whatever is not plainly harmless is quoted.

const HARMLESS = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function quoteShell(word: string): string {
	if (HARMLESS.test(word)) return word;
	/* Control characters and such cannot be seen in '…', and a line end would run what follows: those are written
	 * as $'…' has them, which bash, zsh, ksh and POSIX of 2024 know. */
	if (!/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u.test(word))
		return `'${word.replace(/'/g, `'\\''`)}'`;
	const bytes = [...new TextEncoder().encode(word)];
	const text = bytes.map((b) =>
		b === 0x27 || b === 0x5c
			? `\\${String.fromCharCode(b)}`
			: b >= 0x20 && b < 0x7f
				? String.fromCharCode(b)
				: `\\${b.toString(8).padStart(3, "0")}`,
	);
	return `$'${text.join("")}'`;
}
