// SPDX-License-Identifier: MIT
// instructions: who told which device what, when, and what came of it, as it becomes known; the latest first.
import { useMemo } from "preact/hooks";

import { devices } from "../../api/devices";
import { address, addressOf, setParams } from "../../app/address";
import { useKeys, type Key } from "../../app/keys";
import { formatMoment } from "../../parts/format";
import { Name } from "../../parts/name";
import { Problem } from "../../parts/problem";
import { Table, type Column } from "../../parts/table";
import { plain } from "../../parts/text";
import { language } from "../../words/dictionary";
import { InstructionDetails, OutcomeText, saidOf } from "./instruction_details";
import { isOpen, useHistory, type History, type Instruction } from "./instruction_history";
import { say } from "./words";

function nextOf(i: Instruction): string {
	if (i.outcome === "sent") return say("sentNext");
	if (i.outcome === "deferred") return say("deferredNext");
	if (i.outcome === "timed_out") return say("timed_outNext");
	return i.outcome === "failed" ? say("failedNext") : "";
}

function columnsOf(): readonly Column<Instruction>[] {
	return [
		{ id: "when", head: say("when"), cell: (i) => formatMoment(i.at), order: (i) => i.number },
		{ id: "device", head: say("device"), cell: (i) => <Name text={i.device} />, order: (i) => i.device },
		{ id: "verb", head: say("verb"), cell: (i) => say(i.verb), order: (i) => i.verb },
		{
			...{ id: "outcome", head: say("outcome") },
			cell: (i) => <OutcomeText instruction={i} />,
			order: (i) => i.outcome,
		},
		{ id: "next", head: say("next"), cell: nextOf, order: nextOf },
		{ id: "said", head: say("said"), cell: (i) => <bdi title={saidOf(i)}>{saidOf(i)}</bdi> },
		{
			...{ id: "by", head: say("by") },
			cell: (i) => (
				<span title={plain(i.client)}>
					<bdi>{plain(i.from)}</bdi> <bdi class="fine">{plain(i.client)}</bdi>
				</span>
			),
			order: (i) => i.from,
		},
	];
}

function Bar({ device, history }: { device: string; history: History }) {
	const open = history.rows.filter(isOpen).length;
	return (
		<div class="bar">
			<label>
				{say("device")}{" "}
				<select
					value={device}
					onChange={(e) => setParams({ device: e.currentTarget.value || null, told: null }, true)}
				>
					<option value="">{say("allDevices")}</option>
					{devices.value.map((d) => (
						<option key={d.id} value={d.id}>
							{plain(d.name)}
						</option>
					))}
				</select>
			</label>
			<button type="button" onClick={history.again}>
				{say("refresh")}
			</button>
			{history.next !== null && (
				<button type="button" onClick={history.older}>
					{say("older")}
				</button>
			)}
			<span class="fine" role="status">
				{open > 0 ? say("waitingOnly", { count: open }) : ""}
			</span>
		</div>
	);
}

const KEYS: readonly Key[] = [
	{ keys: ["escape"], what: () => say("keyClose"), run: () => setParams({ told: null }) },
];

export function InstructionList() {
	const { params } = address.value;
	const device = params.get("device") ?? "";
	const history = useHistory(device);
	const columns = useMemo(columnsOf, [language.value]);
	const chosen = history.rows.find((i) => String(i.number) === params.get("told"));
	useKeys(KEYS);
	return (
		<>
			<Bar device={device} history={history} />
			{history.error ? <Problem error={history.error} retry={history.again} /> : null}
			{!history.waiting && !history.error && !history.rows.length ? (
				<p class="quiet">
					{say("noInstructions")} <a href={addressOf("devices")}>{say("toDevices")}</a>
				</p>
			) : (
				<div class="log-body">
					<Table
						label={say("instructions")}
						columns={columns}
						rows={history.rows}
						id={(i) => i.number}
						selected={chosen?.number ?? null}
						select={(i) => setParams({ told: i === chosen ? null : i.number })}
					/>
					{chosen && <InstructionDetails instruction={chosen} close={() => setParams({ told: null })} />}
				</div>
			)}
		</>
	);
}
