// SPDX-License-Identifier: MIT
// request: how the page asks its collector. Nothing else in the page fetches.
//
// A refusal is a Refused with the collector's own line; a collector that does not answer is an Unreachable, and
// `reachable` says so to the frame until an answer comes again. Requests that nobody waits for any more are
// given up through their AbortSignal: those end with an AbortError, which nobody shows.
import { signal } from "@preact/signals";

const API = "api/v1/";

export class Refused extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

export class Unreachable extends Error {}

export const reachable = signal(true);

const UNAUTHORIZED = 401;
let proof: string | null = null;
let unknown: (() => void) | null = null;

/** What the collector wants to see where something is changed (api/me.ts). */
export function setProof(text: string | null): void {
	proof = text;
}

/** Called when the collector does not know any more who asks. */
export function whenUnknown(then: () => void): void {
	unknown = then;
}

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export function urlOf(path: string, query: Query = {}): string {
	const params = new URLSearchParams();
	for (const [key, value] of Object.entries(query))
		if (value !== null && value !== undefined && value !== "") params.set(key, String(value));
	const text = params.toString();
	return `${API}${path}${text ? `?${text}` : ""}`;
}

export function isAbort(e: unknown): boolean {
	return e instanceof DOMException && e.name === "AbortError";
}

async function refusal(response: Response): Promise<Refused> {
	const text = await response.text();
	try {
		const document = JSON.parse(text) as { error?: unknown };
		if (typeof document.error === "string") return new Refused(response.status, document.error);
	} catch {
		// Not the collector's own words; the status has to do.
	}
	return new Refused(response.status, `${response.status} ${response.statusText}`);
}

async function ask(url: string, init: RequestInit): Promise<Response> {
	let response: Response;
	try {
		response = await fetch(url, init);
	} catch (e) {
		if (isAbort(e)) throw e;
		reachable.value = false;
		throw new Unreachable("the collector does not answer");
	}
	reachable.value = true;
	if (response.status === UNAUTHORIZED) unknown?.();
	if (!response.ok) throw await refusal(response);
	return response;
}

export async function getJson<T>(path: string, query: Query = {}, abort?: AbortSignal): Promise<T> {
	const response = await ask(urlOf(path, query), abort ? { signal: abort } : {});
	return (await response.json()) as T;
}

export async function getBytes(path: string, query: Query = {}, abort?: AbortSignal): Promise<Uint8Array> {
	const response = await ask(urlOf(path, query), abort ? { signal: abort } : {});
	return new Uint8Array(await response.arrayBuffer());
}

export async function post<T>(path: string, body: unknown): Promise<T> {
	const response = await ask(urlOf(path), {
		method: "POST",
		headers: { "Content-Type": "application/json", ...(proof ? { "Kiseki-Csrf": proof } : {}) },
		body: JSON.stringify(body),
	});
	return (await response.json()) as T;
}
