// SPDX-License-Identifier: MIT
// devices: all of them, what they do now, and what they are told.
//
// In the address: `q` what is searched for, `group` (given and empty: those in none), `device` whose details are open, `marks`,
// `sort` (a column, with '-' in front if it falls). Which dialog is open is not: a link must not
// put somebody one key away from stopping a fleet.
import { useMemo, useRef, useState } from "preact/hooks";

import { connection, deviceOf, devices } from "../../api/devices";
import type { Verb } from "../../api/instruct";
import { may } from "../../api/me";
import type { Device } from "../../api/schema";
import { address, setParams } from "../../app/address";
import { useKeys, type Key } from "../../app/keys";
import { Command } from "../../parts/copy";
import { formatOrder, parseOrder } from "../../parts/table";
import { plain } from "../../parts/text";
import { Details } from "./details";
import { DeviceTable } from "./device_table";
import "./devices.css";
import { choose, formatMarks, groupsOf, markOf, parseMarks } from "./device_lines";
import { GroupDialog } from "./group_dialog";
import { InstructDialog } from "./instruct_dialog";
import { say } from "./words";

interface Asked {
	readonly verb: Verb | "group";
	readonly devices: readonly Device[];
}

const VERBS = ["start", "stop", "configure", "group"] as const;

function get(key: string): string {
	return address.value.params.get(key) ?? "";
}

function setMarks(list: readonly Device[], on: boolean): void {
	const marks = new Set(parseMarks(get("marks")));
	for (const d of list)
		if (on) marks.add(markOf(d));
		else marks.delete(markOf(d));
	setParams({ marks: formatMarks(marks) || null });
}

function markedDevices(): readonly Device[] {
	const marks = parseMarks(get("marks"));
	return devices.value.filter((d) => marks.has(markOf(d)));
}

function shownDevices(): readonly Device[] {
	const group = address.value.params.get("group") ?? null;
	return choose(devices.value, { search: get("q"), group });
}

function GroupSelect({ groups }: { groups: readonly string[] }) {
	const chosen = address.value.params.get("group");
	if (!groups.length && chosen === undefined) return null;
	return (
		<select
			aria-label={say("group")}
			value={chosen === undefined ? "*" : `=${chosen}`}
			onChange={({ currentTarget: { value } }) =>
				setParams({ group: value === "*" ? null : value.slice(1) }, true)
			}
		>
			<option value="*">{say("allGroups")}</option>
			{groups.map((g) => (
				<option key={g} value={`=${g}`}>
					{plain(g)}
				</option>
			))}
			<option value="=">{say("noGroup")}</option>
		</select>
	);
}

function Bar({
	search,
	ask,
}: {
	search: { readonly current: HTMLInputElement | null };
	ask: (a: Asked) => void;
}) {
	const marked = markedDevices();
	return (
		<div class="bar">
			<input
				ref={search}
				type="search"
				aria-label={say("search")}
				placeholder={say("searchHint")}
				value={get("q")}
				onInput={(e) => setParams({ q: e.currentTarget.value || null })}
				onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
			/>
			<GroupSelect groups={groupsOf(devices.value)} />
			<span class="actions" role="toolbar" aria-label={say("marked", { count: marked.length })}>
				{(may("control") ? VERBS : []).map((verb) => (
					<button
						key={verb}
						type="button"
						disabled={!marked.length}
						onClick={() => ask({ verb, devices: marked })}
					>
						{verb === "group" ? say("setGroup") : say(verb)}
					</button>
				))}
				{marked.length > 0 && (
					<button type="button" class="plain" onClick={() => setParams({ marks: null })}>
						{say("marked", { count: marked.length })} ×
					</button>
				)}
			</span>
		</div>
	);
}

function Empty() {
	if (connection.value === "connecting") return null;
	if (!devices.value.length)
		return (
			<div class="quiet">
				<p>{say("none")}</p>
				<Command text={`kiseki-agent --collector ${location.hostname}:7077 --start`} />
			</div>
		);
	return (
		<p class="quiet">
			{say("noMatch")}{" "}
			<button type="button" onClick={() => setParams({ q: null, group: null }, true)}>
				{say("showAll")}
			</button>
		</p>
	);
}

function keysOf(focusSearch: () => void, ask: (a: Asked) => void): readonly Key[] {
	const forMarked = (verb: Asked["verb"]) => (): void => {
		const marked = markedDevices();
		if (marked.length) ask({ verb, devices: marked });
	};
	const verbs: readonly Key[] = [
		{ keys: ["t"], what: () => say("keyStart"), run: forMarked("start") },
		{ keys: ["p"], what: () => say("keyStop"), run: forMarked("stop") },
		{ keys: ["c"], what: () => say("keyConfigure"), run: forMarked("configure") },
		{ keys: ["g"], what: () => say("keyGroup"), run: forMarked("group") },
	];
	return [
		{ keys: ["/"], what: () => say("keySearch"), run: focusSearch },
		{ keys: ["ctrl+a"], what: () => say("keyMarkAll"), run: () => setMarks(shownDevices(), true) },
		...(may("control") ? verbs : []),
		{
			keys: ["escape"],
			what: () => say("keyClear"),
			run: () => (get("device") ? setParams({ device: null }, true) : setParams({ marks: null })),
		},
	];
}

function Asking({ asked, close }: { asked: Asked; close: () => void }) {
	const { verb } = asked;
	if (verb === "group")
		return <GroupDialog devices={asked.devices} groups={groupsOf(devices.value)} close={close} />;
	return <InstructDialog verb={verb} devices={asked.devices} close={close} />;
}

export default function Devices() {
	const [asked, ask] = useState<Asked | null>(null);
	const search = useRef<HTMLInputElement>(null);
	useKeys(useMemo(() => keysOf(() => search.current?.focus(), ask), []));
	const shown = shownDevices();
	const opened = get("device");
	const device = opened ? deviceOf(opened) : undefined;
	return (
		<div class="devices-view">
			<Bar search={search} ask={ask} />
			<div class="devices-view-body">
				<div class="devices-view-list">
					{shown.length > 0 ? (
						<DeviceTable
							devices={shown}
							marks={parseMarks(get("marks"))}
							mark={setMarks}
							opened={opened}
							open={(d) => setParams({ device: d.id === opened ? null : d.id }, true)}
							order={parseOrder(get("sort")) ?? { column: "name", falling: false }}
							setOrder={(o) => setParams({ sort: formatOrder(o) })}
						/>
					) : (
						<Empty />
					)}
				</div>
				{device && (
					<Details
						device={device}
						close={() => setParams({ device: null }, true)}
						ask={(verb, list) => ask({ verb, devices: list })}
					/>
				)}
				{opened && !device && connection.value === "live" && devices.value.length > 0 && (
					<p class="quiet">{say("noDevice")}</p>
				)}
			</div>
			{asked && <Asking asked={asked} close={() => ask(null)} />}
		</div>
	);
}
