// SPDX-License-Identifier: MIT
// frame: what is around every view: its tabs, the state of the connection, theme, language and help.
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary, useMemo, useState } from "preact/hooks";

import { connection } from "../api/devices";
import { reachable } from "../api/request";
import { Problem } from "../parts/problem";
import { address, addressOf, openView } from "./address";
import { Help } from "./help";
import { useKeys, type Key } from "./keys";
import { LanguageSelect } from "./language";
import { Account } from "./login";
import { ShareDialog } from "./share";
import { say as sayShare } from "./share_words";
import { setTheme, theme, type Theme } from "./theme";
import { views, type View } from "./views";
import { say } from "./words";

const helpOpen = signal(false);
const shareOpen = signal(false);

function currentView(): View | undefined {
	const id = address.value.view;
	return id === "" ? views[0] : views.find((v) => v.id === id || v.also === id);
}

function Badge({ count }: { count: number }) {
	if (!count) return null;
	return (
		<>
			{" "}
			<span class="badge" role="status" aria-label={say("openAlerts", { n: count })}>
				{count}
			</span>
		</>
	);
}

function Tabs() {
	const current = currentView();
	return (
		<nav aria-label={say("views")}>
			{views.map((v) => (
				<a key={v.id} href={addressOf(v.id)} aria-current={v === current ? "page" : undefined}>
					{v.title()}
					<Badge count={v.badge?.() ?? 0} />
				</a>
			))}
		</nav>
	);
}

function Settings() {
	const themes: Record<Theme, string> = {
		auto: say("themeAuto"),
		light: say("themeLight"),
		dark: say("themeDark"),
	};
	return (
		<div class="settings">
			<span class={`link ${connection.value}`} role="status">
				{connection.value === "live" ? say("live") : say("connecting")}
			</span>
			<button type="button" title={sayShare("shareHint")} onClick={() => (shareOpen.value = true)}>
				{sayShare("share")}
			</button>
			<select
				aria-label={say("theme")}
				value={theme.value}
				onChange={(e) => setTheme(e.currentTarget.value as Theme)}
			>
				{Object.entries(themes).map(([id, text]) => (
					<option key={id} value={id}>
						{text}
					</option>
				))}
			</select>
			<LanguageSelect />
			<Account />
			<button
				type="button"
				title={say("help")}
				aria-label={say("help")}
				onClick={() => (helpOpen.value = true)}
			>
				?
			</button>
		</div>
	);
}

/** The view's code, loaded once; a view that throws is replaced by what it said. */
function Shown({ view }: { view: View }) {
	const [Body, setBody] = useState<{ readonly id: string; readonly component: ComponentType } | null>(null);
	const [problem, setProblem] = useState<unknown>(null);
	const [thrown, reset] = useErrorBoundary();
	useEffect(() => {
		let wanted = true;
		setProblem(null);
		view.load().then(
			(module) => wanted && setBody({ id: view.id, component: module.default }),
			(error: unknown) => wanted && setProblem(error),
		);
		return () => {
			wanted = false;
		};
	}, [view]);
	if (thrown || problem)
		return <Problem error={thrown ?? problem} retry={thrown ? reset : () => location.reload()} />;
	if (!Body || Body.id !== view.id) return <p class="quiet">{say("loading")}</p>;
	return <Body.component />;
}

export function Frame() {
	const view = currentView();
	const keys = useMemo<readonly Key[]>(
		() => [
			...views.map((v) => ({
				keys: [v.key],
				what: () => say("keyView", { name: v.title() }),
				run: () => openView(v.id),
			})),
			{ keys: ["x"], what: () => sayShare("keyShare"), run: () => (shareOpen.value = true) },
			{ keys: ["?"], what: () => say("keyHelp"), run: () => (helpOpen.value = true) },
		],
		[],
	);
	useKeys(keys);
	useEffect(() => {
		document.title = view ? `${view.title()} – Kiseki` : "Kiseki";
	});
	const lost = connection.value === "lost" || !reachable.value;
	return (
		<>
			<a
				class="skip"
				href="#content"
				onClick={(e) => (e.preventDefault(), document.getElementById("content")?.focus())}
			>
				{say("skip")}
			</a>
			<header>
				<strong class="brand">Kiseki</strong>
				<Tabs />
				<Settings />
			</header>
			{lost && (
				<p class="banner" role="alert">
					{say("lost")}
				</p>
			)}
			<main id="content" tabIndex={-1} data-view={view?.id}>
				{view ? (
					<Shown key={view.id} view={view} />
				) : (
					<p>
						{say("noView", { name: address.value.view })} <a href="#">{say("toFirst")}</a>
					</p>
				)}
			</main>
			{shareOpen.value && <ShareDialog close={() => (shareOpen.value = false)} />}
			{helpOpen.value && <Help close={() => (helpOpen.value = false)} />}
		</>
	);
}
