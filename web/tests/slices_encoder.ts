// SPDX-License-Identifier: MIT
// slices_encoder: writes what docs/format/slices.md says, by hand, for tests of who reads it.

export type SliceSpec = readonly [kind: number, task: number, length: number];
export type SpanSpec = readonly [state: number, length: number, cpu?: number];

export interface SlicesSpec {
	readonly from: number;
	readonly to: number;
	readonly final?: boolean;
	readonly tasks: readonly { readonly pid: number; readonly tgid?: number; readonly comm: string }[];
	readonly cpus: readonly (readonly SliceSpec[])[];
	readonly spans: readonly (readonly SpanSpec[])[];
	/** at, waker (-1: none), woken, cpu, ran (-1: never) */
	readonly wakeups?: readonly (readonly [number, number, number, number, number])[];
	/** cpu, from, length, events, cause */
	readonly losses?: readonly (readonly [number, number, number, number, number])[];
}

export class Writer {
	readonly bytes: number[] = [];
	number(n: number): void {
		for (; n >= 128; n = Math.floor(n / 128)) this.bytes.push((n % 128) | 128);
		this.bytes.push(n);
	}
	signed(n: number): void {
		this.number(n < 0 ? -2 * n - 1 : 2 * n);
	}
	text(s: string): void {
		const bytes = new TextEncoder().encode(s);
		this.number(bytes.length);
		this.bytes.push(...bytes);
	}
}

export function encodeSlices(spec: SlicesSpec): Uint8Array {
	const w = new Writer();
	w.bytes.push(...new TextEncoder().encode("KSL1"));
	for (const n of [spec.from, spec.to, spec.final === false ? 0 : 1, spec.cpus.length, spec.tasks.length])
		w.number(n);
	for (const t of spec.tasks) {
		w.signed(t.pid);
		w.signed(t.tgid ?? -1);
		w.number(0);
		w.text(t.comm);
	}
	for (const slices of spec.cpus) {
		w.number(slices.length);
		for (const [kind, task, length] of slices) [task * 8 + kind, length].forEach((n) => w.number(n));
	}
	for (const spans of spec.spans) {
		w.number(spans.length);
		for (const [state, length, cpu] of spans) {
			w.number(state);
			if (state === 1) w.number(cpu ?? 0);
			w.number(length);
		}
	}
	w.number(spec.wakeups?.length ?? 0);
	let before = 0;
	for (const [at, waker, woken, cpu, ran] of spec.wakeups ?? []) {
		[at - before, waker + 1, woken, cpu, ran < 0 ? 0 : ran - at + 1].forEach((n) => w.number(n));
		before = at;
	}
	w.number(spec.losses?.length ?? 0);
	for (const loss of spec.losses ?? []) loss.forEach((n) => w.number(n));
	return Uint8Array.from(w.bytes);
}

/** A thousand nanoseconds: "a" runs, is preempted by "b", which wakes "c"; then something is lost. */
export function example(from = 4096, final = true): SlicesSpec {
	return {
		from,
		to: from + 1000,
		final,
		tasks: [
			{ pid: 10, tgid: 10, comm: "a" },
			{ pid: 11, tgid: 10, comm: "b" },
			{ pid: 12, comm: "c" },
		],
		cpus: [
			[
				[0, 0, 300],
				[0, 1, 200],
				[0, 0, 100],
				[2, 0, 400],
			],
			[
				[1, 0, 450],
				[4, 2, 550],
			],
		],
		spans: [
			[
				[1, 300, 0],
				[3, 200],
				[1, 100, 0],
				[0, 400],
			],
			[
				[4, 300],
				[1, 200, 0],
				[4, 500],
			],
			[
				[4, 400],
				[2, 50],
				[1, 550, 1],
			],
		],
		wakeups: [
			[250, -1, 1, 0, 300],
			[400, 1, 2, 1, 450],
		],
		losses: [[0, 600, 400, 77, 1]],
	};
}
