// SPDX-License-Identifier: MIT
// instructions: who told which device what, when, and what came of it; the latest first.
import { useEffect, useMemo, useState } from "preact/hooks";

import { devices } from "../../api/devices";
import { getJson, isAbort } from "../../api/request";
import type { Instructions } from "../../api/schema";
import { address, addressOf, setParams } from "../../app/address";
import { formatMoment } from "../../parts/format";
import { Name } from "../../parts/name";
import { Problem } from "../../parts/problem";
import { Table, type Column } from "../../parts/table";
import { plain } from "../../parts/text";
import { language } from "../../words/dictionary";
import { formatValue } from "../fleet/instruction";
import { say } from "./words";

type Instruction = Instructions["instructions"][number];
const PAGE = 200;

interface History {
	readonly rows: readonly Instruction[];
	readonly next: number | null;
	readonly error: unknown;
	readonly waiting: boolean;
}

const NOTHING: History = { rows: [], next: null, error: null, waiting: true };

/** What was told, and a way to get older ones. */
function useHistory(device: string, round: number): History & { readonly older: () => void } {
	const [history, setHistory] = useState<History>(NOTHING);
	const load = (before: number | null, abort?: AbortSignal): void => {
		getJson<Instructions>("instructions", { device, limit: PAGE, before }, abort).then(
			(page) =>
				setHistory((old) => ({
					rows: before === null ? page.instructions : [...old.rows, ...page.instructions],
					next: page.next,
					error: null,
					waiting: false,
				})),
			(error: unknown) => {
				if (!isAbort(error)) setHistory((old) => ({ ...old, error, waiting: false }));
			},
		);
	};
	useEffect(() => {
		const abort = new AbortController();
		load(null, abort.signal);
		return () => abort.abort();
	}, [device, round]);
	return { ...history, older: () => load(history.next) };
}

function saidOf(i: Instruction): string {
	return Object.entries(i.config)
		.map(([field, value]) => `${field}=${plain(formatValue(value))}`)
		.join(" ");
}

function columnsOf(): readonly Column<Instruction>[] {
	return [
		{ id: "when", head: say("when"), cell: (i) => formatMoment(i.at), order: (i) => i.number },
		{ id: "device", head: say("device"), cell: (i) => <Name text={i.device} />, order: (i) => i.device },
		{ id: "verb", head: say("verb"), cell: (i) => say(i.verb), order: (i) => i.verb },
		{ id: "said", head: say("said"), cell: (i) => <bdi title={saidOf(i)}>{saidOf(i)}</bdi> },
		{
			...{ id: "outcome", head: say("outcome") },
			cell: (i) => (
				<span class={`outcome ${i.outcome}`} title={plain(i.text)}>
					{say(i.outcome)}
					{i.text && (
						<>
							{": "}
							<bdi>{plain(i.text)}</bdi>
						</>
					)}
				</span>
			),
			order: (i) => i.outcome,
		},
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

export function InstructionList() {
	const device = address.value.params.get("device") ?? "";
	const [round, setRound] = useState(0);
	const history = useHistory(device, round);
	const columns = useMemo(columnsOf, [language.value]);
	return (
		<>
			<div class="bar">
				<label>
					{say("device")}{" "}
					<select value={device} onChange={(e) => setParams({ device: e.currentTarget.value || null }, true)}>
						<option value="">{say("allDevices")}</option>
						{devices.value.map((d) => (
							<option key={d.id} value={d.id}>
								{plain(d.name)}
							</option>
						))}
					</select>
				</label>
				<button type="button" onClick={() => setRound(round + 1)}>
					{say("refresh")}
				</button>
				{history.next !== null && (
					<button type="button" onClick={history.older}>
						{say("older")}
					</button>
				)}
			</div>
			{history.error ? <Problem error={history.error} retry={() => setRound(round + 1)} /> : null}
			{!history.waiting && !history.error && !history.rows.length ? (
				<p class="quiet">
					{say("noInstructions")} <a href={addressOf("fleet")}>{say("toDevices")}</a>
				</p>
			) : (
				<Table label={say("instructions")} columns={columns} rows={history.rows} id={(i) => i.number} />
			)}
		</>
	);
}
