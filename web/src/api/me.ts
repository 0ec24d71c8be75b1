// SPDX-License-Identifier: MIT
// me: who looks at the page, and what he may. A collector without keys knows nobody, and everybody may everything.
//
// Logging in and out loads the page anew, so that nothing of one user is there for the next. So does a login that has ended,
// as soon as the collector refuses something for it.
import { signal } from "@preact/signals";

import { getJson, post, setProof, whenUnknown } from "./request";
import type { Me } from "./schema";

export type Role = Me["role"];

const RANKS: readonly Role[] = ["nobody", "view", "control", "admin"];

/** null: not known yet. */
export const me = signal<Me | null>(null);

export function mayBe(role: Role, needed: Role): boolean {
	return RANKS.indexOf(role) >= RANKS.indexOf(needed);
}

/** What is not allowed is not offered; who tries it all the same is refused by the collector. */
export function may(needed: Role): boolean {
	return mayBe(me.value?.role ?? "nobody", needed);
}

/** Has the login ended? Then there is nothing to show here. */
export async function checkMe(): Promise<void> {
	if (!me.value?.user) return;
	const now = await getJson<Me>("me");
	if (!now.user) location.reload();
}

export async function loadMe(): Promise<void> {
	me.value = await getJson<Me>("me");
	setProof(me.value.csrf ?? null);
	whenUnknown(() => void checkMe().catch(() => undefined));
}

export async function logIn(user: string, password: string): Promise<void> {
	await post<Me>("login", { user, password });
	location.reload();
}

export async function logOut(): Promise<void> {
	await post("logout", {});
	location.reload();
}
