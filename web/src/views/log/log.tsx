// SPDX-License-Identifier: MIT
// log: what was recorded, event by event; what is missing; and what devices were told.
//
// In the address: `tab` (events, ledger, instructions), `cpu` `pid` `comm` `event` what is listed, `ev` which event is
// chosen, `follow`, `device` whose instructions, `told` which of them, `sort`. The range is the timeline's.
import { useExtent } from "../../api/extent";
import { useGoingOn } from "../../api/going_on";
import { useRuns } from "../../api/runs";
import type { Run } from "../../api/schema";
import { address, addressOf } from "../../app/address";
import { say as sayFrame } from "../../app/words";
import { Problem } from "../../parts/problem";
import { RangeBar } from "../../parts/range_bar";
import { EventList } from "./event_list";
import { InstructionList } from "./instructions";
import { LedgerList } from "./ledger";
import "./log.css";
import { say } from "./words";

const TABS = ["events", "ledger", "instructions"] as const;
type Tab = (typeof TABS)[number];

function tabOf(): Tab {
	const text = address.value.params.get("tab");
	return TABS.find((t) => t === text) ?? "events";
}

function Tabs() {
	const current = tabOf();
	return (
		<div class="tabs" role="group" aria-label={say("tabs")}>
			{TABS.map((tab) => (
				<a
					key={tab}
					href={addressOf("log", { tab: tab === "events" ? null : tab })}
					aria-current={tab === current ? "page" : undefined}
				>
					{say(tab)}
				</a>
			))}
		</div>
	);
}

function OfRun({ run }: { run: Run }) {
	const sched = run.kinds.includes("sched");
	const extent = useExtent(sched ? run.run : null);
	const tab = tabOf();
	return (
		<>
			<RangeBar extent={tab === "events" ? extent.value : undefined}>
				<Tabs />
			</RangeBar>
			{extent.error ? <Problem error={extent.error} retry={extent.again} /> : null}
			{tab === "ledger" && (
				<LedgerList run={run} extent={extent.value} sort={address.value.params.get("sort") ?? ""} />
			)}
			{tab === "events" && sched && extent.value && (
				<EventList key={run.run} run={run} extent={extent.value} />
			)}
			{tab === "events" && !sched && <p class="quiet">{say("schedOnly")}</p>}
		</>
	);
}

function Runs() {
	const { runs, waiting, error } = useRuns(null);
	useGoingOn(runs);
	const run = runs[0];
	if (error) return <Problem error={error} />;
	if (run) return <OfRun run={run} />;
	return (
		<>
			<div class="bar">
				<Tabs />
			</div>
			<p class="quiet">{waiting ? sayFrame("loading") : sayFrame("noRuns")}</p>
		</>
	);
}

export default function Log() {
	if (tabOf() !== "instructions")
		return (
			<div class="log">
				<Runs />
			</div>
		);
	return (
		<div class="log">
			<div class="bar">
				<Tabs />
			</div>
			<InstructionList />
		</div>
	);
}
