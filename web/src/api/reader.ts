// SPDX-License-Identifier: MIT
// reader: takes binary answers apart (docs/format/slices.md). Every length is checked against what is there
// before it is believed; a wrong one ends in Malformed, never in a loop or a giant array.

export class Malformed extends Error {}

export class Reader {
	private at = 0;
	private readonly text = new TextDecoder("utf-8");

	constructor(private readonly bytes: Uint8Array) {}

	get left(): number {
		return this.bytes.length - this.at;
	}

	/** An unsigned LEB128; exact up to 2^53. */
	number(): number {
		let value = 0;
		let scale = 1;
		for (let i = 0; i < 10; i++) {
			const byte = this.bytes[this.at++];
			if (byte === undefined) throw new Malformed("the answer ends within a number");
			value += (byte & 0x7f) * scale;
			if (byte < 0x80) return value;
			scale *= 128;
		}
		throw new Malformed("a number of the answer is too long");
	}

	/** A zigzag number: 0, -1, 1, -2, … */
	signed(): number {
		const n = this.number();
		return n % 2 ? -(n + 1) / 2 : n / 2;
	}

	/** A number of things, each of which takes at least `least` bytes. */
	count(least: number): number {
		const n = this.number();
		if (n * least > this.left) throw new Malformed("the answer says more than it holds");
		return n;
	}

	/** Bytes as text; what is no UTF-8 becomes U+FFFD. */
	string(): string {
		const n = this.count(1);
		const text = this.text.decode(this.bytes.subarray(this.at, this.at + n));
		this.at += n;
		return text;
	}

	magic(expected: string): void {
		for (const c of expected)
			if (this.bytes[this.at++] !== c.charCodeAt(0)) throw new Malformed(`the answer is not ${expected}`);
	}
}
