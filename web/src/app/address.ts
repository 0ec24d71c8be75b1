// SPDX-License-Identifier: MIT
// address: what is shown, as the part of the address behind '#': "#VIEW?key=value&…".
//
// It is the only place where the state of a view is kept, so a link shows the same to somebody else and
// the browser's "back" works. Keys that several views share mean the same everywhere: `run` (its number, or
// several with commas), `from` and `to` (nanoseconds of the run's clock), `mark` and `sel`, the range and the moment that
// are chosen (moment.ts). They stay when the view changes; all others belong to their view and go.
import { computed, signal, type ReadonlySignal } from "@preact/signals";

export interface Address {
	readonly view: string;
	readonly params: ReadonlyMap<string, string>;
}

export type Changes = Readonly<Record<string, string | number | null>>;

/** Keys that stay when another view is opened. */
export const SHARED: ReadonlySet<string> = new Set(["run", "from", "to", "mark", "sel"]);

export function parseAddress(hash: string): Address {
	const text = hash.replace(/^#/, "");
	const cut = text.indexOf("?");
	const view = cut < 0 ? text : text.slice(0, cut);
	const params = new Map<string, string>();
	for (const [key, value] of new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1))) params.set(key, value);
	return { view, params };
}

export function formatAddress(a: Address): string {
	const params = new URLSearchParams([...a.params].sort(([x], [y]) => (x < y ? -1 : x > y ? 1 : 0)));
	const text = params.toString();
	return `#${a.view}${text ? `?${text}` : ""}`;
}

function withChanges(params: ReadonlyMap<string, string>, changes: Changes): Map<string, string> {
	const next = new Map(params);
	for (const [key, value] of Object.entries(changes))
		if (value === null) next.delete(key);
		else next.set(key, String(value));
	return next;
}

export const address = signal<Address>(parseAddress(globalThis.location?.hash ?? ""));

function show(next: Address, remember: boolean): void {
	const text = formatAddress(next);
	if (text === formatAddress(address.value)) return;
	if (remember) history.pushState(null, "", text);
	else history.replaceState(null, "", text);
	address.value = next;
}

/** The address of another view with this one's shared keys: for links. */
export function addressOf(view: string, changes: Changes = {}): string {
	const shared = new Map([...address.value.params].filter(([key]) => SHARED.has(key)));
	return formatAddress({ view, params: withChanges(shared, changes) });
}

export function openView(view: string, changes: Changes = {}): void {
	show(parseAddress(addressOf(view, changes)), true);
}

/** Changes keys of the view that is shown. `remember`: the browser's "back" undoes it. */
export function setParams(changes: Changes, remember = false): void {
	show({ view: address.value.view, params: withChanges(address.value.params, changes) }, remember);
}

/** One key as a signal; "" if it is not there. */
export function param(key: string): ReadonlySignal<string> {
	return computed(() => address.value.params.get(key) ?? "");
}

/** A key that is a time in nanoseconds; null if it is not there or none. */
export function parseTime(text: string): number | null {
	return /^\d{1,19}$/.test(text) ? Number(text) : null;
}

export function followAddress(): void {
	globalThis.addEventListener("hashchange", () => (address.value = parseAddress(location.hash)));
	globalThis.addEventListener("popstate", () => (address.value = parseAddress(location.hash)));
}
