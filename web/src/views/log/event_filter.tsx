// SPDX-License-Identifier: MIT
// event_filter: which events are listed. The keys of the address are those of the API, so what the collector says
// about a wrong one is understood.
import { useEffect, useState } from "preact/hooks";

import type { EventFilter } from "../../api/events";
import { address, setParams } from "../../app/address";
import { parseMoment } from "../../app/moment";
import { EVENTS } from "../devices/instruction";
import { say } from "./words";

const SETTLED_MS = 400;

function get(key: string): string {
	return address.value.params.get(key) ?? "";
}

export function filterOf(): EventFilter {
	return { cpu: get("cpu"), pid: get("pid"), comm: get("comm"), event: get("event") };
}

/** A text that is asked for when nobody has typed for a moment, or at once by Enter. */
function Settled({ name, hint, first }: { name: "cpu" | "pid" | "comm"; hint: string; first?: boolean }) {
	const kept = get(name);
	const [text, setText] = useState(kept);
	useEffect(() => setText(kept), [kept]);
	useEffect(() => {
		if (text === kept) return undefined;
		const timer = setTimeout(() => setParams({ [name]: text.trim() || null, ev: null }), SETTLED_MS);
		return () => clearTimeout(timer);
	}, [text]);
	return (
		<input
			type="search"
			aria-label={hint}
			placeholder={hint}
			data-filter={name}
			data-first={first}
			value={text}
			onInput={(e) => setText(e.currentTarget.value)}
			onKeyDown={(e) => {
				if (e.key === "Enter") setParams({ [name]: text.trim() || null, ev: null });
				if (e.key === "Escape") e.currentTarget.blur();
			}}
		/>
	);
}

function Kinds() {
	const chosen = get("event")
		.split(",")
		.filter((k) => k !== "");
	const turn = (kind: string, on: boolean): void => {
		const next = EVENTS.filter((k) => (k === kind ? on : chosen.includes(k)));
		setParams({ event: next.join(",") || null, ev: null });
	};
	return (
		<details class="menu">
			<summary>
				{say("kinds")}: {chosen.length ? chosen.join(", ") : say("allKinds")}
			</summary>
			<div class="menu-body">
				{EVENTS.map((kind) => (
					<label key={kind}>
						<input
							type="checkbox"
							checked={chosen.includes(kind)}
							onChange={(e) => turn(kind, e.currentTarget.checked)}
						/>{" "}
						{kind}
					</label>
				))}
			</div>
		</details>
	);
}

export function FilterBar() {
	const f = filterOf();
	const any = f.cpu || f.pid || f.comm || f.event;
	const selected = parseMoment(get("sel"))?.pid ?? null;
	return (
		<span class="filter" role="search" aria-label={say("filter")}>
			<Settled name="comm" hint={say("fComm")} first />
			<Settled name="pid" hint={say("fPid")} />
			<Settled name="cpu" hint={say("fCpu")} />
			<Kinds />
			{selected !== null && f.pid !== String(selected) && (
				<button
					type="button"
					title={say("onlyHint")}
					onClick={() => setParams({ pid: selected, ev: null }, true)}
				>
					{say("only", { pid: selected })}
				</button>
			)}
			{any && (
				<button
					type="button"
					onClick={() => setParams({ cpu: null, pid: null, comm: null, event: null, ev: null }, true)}
				>
					{say("clearFilter")}
				</button>
			)}
		</span>
	);
}
