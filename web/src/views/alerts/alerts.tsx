// SPDX-License-Identifier: MIT
// alerts: what is out of line with its own past now, and what was: what, how much, since when, on which device, and the way
// to the flame graph of what changed.
//
// In the address: `which` (open, past), `q` what is searched for, `alert` the number of the one whose details are open.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { alertList, countOpen, isUnwatched, refreshAlerts, type Alert } from "../../api/alerts";
import { address, addressOf, setParams } from "../../app/address";
import { useKeys, type Key } from "../../app/keys";
import { Command } from "../../parts/copy";
import { CLOCK, formatLength, formatMoment } from "../../parts/format";
import { Name } from "../../parts/name";
import { Problem } from "../../parts/problem";
import { Table, type Column } from "../../parts/table";
import { plain } from "../../parts/text";
import "../../style/figures.css";
import {
	chooseAlerts,
	describeEnd,
	describeKind,
	factorOf,
	formatAmount,
	isOpen,
	lengthOf,
	linkOf,
	WHICH,
	type Which,
} from "./alert_lines";
import "./alerts.css";
import { language } from "../../words/dictionary";
import { say } from "./words";

const SEARCH_ID = "alert-search";
const NOW_MS = 10_000;

const get = (key: string): string => address.value.params.get(key) ?? "";
const currentWhich = (): Which => WHICH.find((w) => w === get("which")) ?? "all";

function setWhich(which: Which): void {
	setParams({ which: which === "all" ? null : which }, true);
}

/** The seconds of now, so that what goes on gets longer. */
function useNow(): number {
	const [now, setNow] = useState(() => Date.now() / 1000);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now() / 1000), NOW_MS);
		return () => clearInterval(timer);
	}, []);
	return now;
}

function moment(seconds: number): string {
	return formatMoment(new Date(1000 * seconds).toISOString());
}

function StateMark({ alert: a }: { alert: Alert }) {
	return (
		<span class={`alert-state ${isOpen(a) ? "open" : "past"}`}>
			{say(isOpen(a) ? "nowText" : "endedText")}
		</span>
	);
}

function Amount({ alert: a }: { alert: Alert }) {
	const factor = factorOf(a);
	return (
		<span class="amount">
			{formatAmount(a, a.usual)} → <strong>{formatAmount(a, a.value)}</strong>{" "}
			{factor !== null && (
				<span class="change more">▲ {say("factor", { n: factor.toFixed(factor >= 10 ? 0 : 2) })}</span>
			)}
		</span>
	);
}

function columnsOf(nowS: number): readonly Column<Alert>[] {
	return [
		{ id: "state", head: say("state"), cell: (a) => <StateMark alert={a} /> },
		{
			id: "what",
			head: say("what"),
			cell: (a) => (
				<>
					<strong>
						<Name text={a.name} />
					</strong>{" "}
					<small class="object">{describeKind(a, plain(a.scope))}</small>
				</>
			),
		},
		{ id: "change", head: say("change"), cell: (a) => <Amount alert={a} /> },
		{ id: "device", head: say("where"), cell: (a) => <Name text={a.device} /> },
		{ id: "since", head: say("since"), cell: (a) => moment(a.since_s) },
		{
			id: "length",
			head: say("length"),
			numeric: true,
			cell: (a) => formatLength(1e9 * Math.round(lengthOf(a, nowS))),
		},
		{
			id: "diff",
			head: "",
			hint: say("diffHint"),
			cell: (a) => (
				<a
					href={linkOf(a, nowS)}
					title={say("diffHint")}
					data-alert={a.number}
					onClick={(e) => e.stopPropagation()}
				>
					{say("diff")}
				</a>
			),
		},
	];
}

function Fact({ name, text }: { name: string; text: string }) {
	return (
		<>
			<dt>{name}</dt>
			<dd>
				<Name text={text} />
			</dd>
		</>
	);
}

function Details({ alert: a, nowS }: { alert: Alert; nowS: number }) {
	const close = (): void => setParams({ alert: null }, true);
	return (
		<aside class="details" aria-label={a.name}>
			<div class="details-head">
				<h2>
					<Name text={a.name} />
				</h2>
				<button type="button" aria-label={say("close")} title={say("close")} onClick={close}>
					×
				</button>
			</div>
			<p class="now">
				<StateMark alert={a} /> {describeKind(a, plain(a.scope))}
			</p>
			<p class="now">
				<Amount alert={a} />
			</p>
			<p>
				<a class="button" href={linkOf(a, nowS)} title={say("diffHint")}>
					{say("diff")}
				</a>
			</p>
			<dl class="facts">
				<Fact name={say("where")} text={a.device} />
				{a.object && <Fact name={say("object")} text={a.object} />}
				<Fact name={say("since")} text={moment(a.since_s)} />
				<Fact name={say("length")} text={formatLength(1e9 * Math.round(lengthOf(a, nowS)))} />
				{describeEnd(a) && <Fact name={say("end")} text={describeEnd(a) ?? ""} />}
				<Fact name={say("known")} text={formatLength(1e9 * (a.told_s - a.since_s + 60))} />
				<Fact name={say("peak")} text={formatAmount(a, a.peak)} />
				{a.cause && <Fact name={say("cause")} text={a.cause} />}
				{a.build && <Fact name={say("build")} text={a.build} />}
				<Fact name={say("number")} text={String(a.number)} />
				<Fact name={say("text")} text={a.text} />
			</dl>
			<p class="ways">
				<a href={addressOf("fleet", { devices: a.id, last: "24h" })}>{say("trend")}</a>{" "}
				<a href={addressOf("devices", { device: a.id })}>{say("devicePage")}</a>
			</p>
		</aside>
	);
}

function Empty({ any }: { any: boolean }) {
	const filtered = any && (get("q") !== "" || currentWhich() !== "all");
	if (filtered)
		return (
			<p class="quiet">
				{currentWhich() === "open" && get("q") === "" ? say("none") : say("noneFits")}{" "}
				<button type="button" onClick={() => setParams({ q: null, which: null }, true)}>
					{say("showAll")}
				</button>
			</p>
		);
	return (
		<div class="quiet">
			<p>
				<strong>{say("none")}</strong>
			</p>
			<p>{say("noneEver")}</p>
			<Command text={`kiseki-agent profile --all --collector ${location.hostname}:7077`} />
		</div>
	);
}

function Bar({ alerts }: { alerts: readonly Alert[] }) {
	const which = currentWhich();
	return (
		<div class="bar">
			<div class="choice-row" role="group" aria-label={say("which")}>
				{WHICH.map((w) => (
					<button key={w} type="button" aria-pressed={which === w} onClick={() => setWhich(w)}>
						{say(w)}
					</button>
				))}
			</div>
			<input
				id={SEARCH_ID}
				type="search"
				aria-label={say("search")}
				placeholder={say("searchHint")}
				value={get("q")}
				onInput={(e) => setParams({ q: e.currentTarget.value || null })}
				onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
			/>
			<strong role="status">{say("openCount", { n: countOpen(alerts) })}</strong>
			<span class="quiet-note">
				{say("refreshed", { time: new Date(alertList.value.atMs).toLocaleTimeString(language.value, CLOCK) })}
			</span>
		</div>
	);
}

function keysOf(now: { readonly current: readonly Alert[] }): readonly Key[] {
	const next = (w: Which): Which => WHICH[(WHICH.indexOf(w) + 1) % WHICH.length] ?? "all";
	return [
		{ keys: ["/"], what: () => say("keySearch"), run: () => document.getElementById(SEARCH_ID)?.focus() },
		{ keys: ["t"], what: () => say("keyWhich"), run: () => setWhich(next(currentWhich())) },
		{ keys: ["escape"], what: () => say("keyClose"), run: () => setParams({ alert: null }, true) },
		{
			keys: ["g"],
			what: () => say("keyOpen"),
			run: () => {
				const alert = now.current.find((a) => String(a.number) === get("alert"));
				if (alert) location.hash = linkOf(alert, Date.now() / 1000);
			},
		},
	];
}

function Unwatched() {
	return (
		<div class="quiet">
			<p>{say("unwatched")}</p>
			<p>{say("unwatchedHow")}</p>
			<Command text="kiseki serve --workers 2" />
		</div>
	);
}

export default function Alerts() {
	const { alerts, error } = alertList.value;
	const now = useNow();
	const known = useRef<readonly Alert[]>([]);
	known.current = alerts ?? [];
	useKeys(useMemo(() => keysOf(known), []));
	useEffect(() => void refreshAlerts(), []);
	const minute = Math.floor(now / 10);
	const columns = useMemo(() => columnsOf(now), [minute, say("what")]);
	if (isUnwatched(error)) return <Unwatched />;
	if (error && !alerts) return <Problem error={error} retry={() => void refreshAlerts()} />;
	if (!alerts) return <p class="quiet">{say("loading")}</p>;
	const shown = chooseAlerts(alerts, currentWhich(), get("q"));
	const opened = alerts.find((a) => String(a.number) === get("alert"));
	const choose = (a: Alert): void =>
		setParams({ alert: a.number === opened?.number ? null : a.number }, true);
	return (
		<div class="alerts">
			<Bar alerts={alerts} />
			<div class="alerts-body">
				{shown.length > 0 ? (
					<Table
						label={say("list")}
						columns={columns}
						rows={shown}
						id={(a) => a.number}
						select={choose}
						selected={opened?.number ?? null}
					/>
				) : (
					<div class="table">
						<Empty any={alerts.length > 0} />
					</div>
				)}
				{opened && <Details alert={opened} nowS={now} />}
			</div>
		</div>
	);
}
