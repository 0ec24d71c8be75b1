// SPDX-License-Identifier: MIT
// labels: the devices that are meant, each with its labels, which can be changed here and clicked on.
import { useMemo, useState } from "preact/hooks";

import { setLabels, type LabelTable } from "../../api/fleet";
import { may } from "../../api/me";
import type { Device } from "../../api/schema";
import { addressOf } from "../../app/address";
import { say as sayFrame } from "../../app/words";
import { Command } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Name } from "../../parts/name";
import { Problem } from "../../parts/problem";
import { Table, type Column } from "../../parts/table";
import { plain } from "../../parts/text";
import { change } from "./state";
import { say } from "./words";

export type LabelList = readonly (readonly [string, string])[];

/** What has to be told so that a device that has `old` has `next`: null takes one away. */
export function changesOf(
	old: Readonly<Record<string, string>>,
	next: LabelList,
): Readonly<Record<string, string | null>> {
	const wanted = new Map(next.map(([k, v]) => [k.trim(), v.trim()] as const).filter(([k]) => k !== ""));
	const gone = Object.keys(old).filter((k) => !wanted.has(k));
	const set = [...wanted].filter(([k, v]) => old[k] !== v);
	return Object.fromEntries([...gone.map((k) => [k, null] as const), ...set]);
}

function LabelFields({ list, setList }: { list: LabelList; setList: (list: LabelList) => void }) {
	const put = (i: number, at: 0 | 1, text: string): void =>
		setList(list.map(([k, v], j) => (j !== i ? [k, v] : at ? [k, text] : [text, v])));
	return (
		<ul class="label-fields">
			{list.map(([key, value], i) => (
				<li key={i}>
					<input
						type="text"
						aria-label={say("key")}
						placeholder={say("key")}
						value={key}
						maxLength={63}
						onInput={(e) => put(i, 0, e.currentTarget.value)}
					/>
					=
					<input
						type="text"
						aria-label={say("value")}
						placeholder={say("value")}
						value={value}
						maxLength={255}
						onInput={(e) => put(i, 1, e.currentTarget.value)}
					/>
					<button
						type="button"
						aria-label={`${say("remove")} ${key}`}
						title={say("remove")}
						onClick={() => setList(list.filter((_, j) => j !== i))}
					>
						×
					</button>
				</li>
			))}
		</ul>
	);
}

interface EditProps {
	readonly device: Device;
	readonly labels: Readonly<Record<string, string>>;
	readonly changed: () => void;
	readonly close: () => void;
}

function EditDialog({ device, labels, changed, close }: EditProps) {
	const [list, setList] = useState<LabelList>(() =>
		Object.keys(labels).length ? Object.entries(labels) : [["", ""]],
	);
	const [error, setError] = useState<unknown>(null);
	const save = async (): Promise<void> => {
		try {
			const changes = changesOf(labels, list);
			if (Object.keys(changes).length) await setLabels(device.id, changes);
			changed();
			close();
		} catch (e) {
			setError(e);
		}
	};
	return (
		<Dialog title={say("editTitle", { name: plain(device.name) })} close={close}>
			<p class="fine">{say("editHint")}</p>
			<form
				onSubmit={(e) => {
					e.preventDefault();
					void save();
				}}
			>
				<LabelFields list={list} setList={setList} />
				<button type="button" onClick={() => setList([...list, ["", ""]])}>
					{say("add")}
				</button>
				{error ? <Problem error={error} /> : null}
				<div class="buttons">
					<button type="button" onClick={close}>
						{sayFrame("cancel")}
					</button>
					<button class="primary">{say("save")}</button>
				</div>
			</form>
		</Dialog>
	);
}

function Chips({ labels }: { labels: Readonly<Record<string, string>> }) {
	const list = Object.entries(labels);
	if (!list.length) return <span class="fine">{say("noLabels")}</span>;
	return (
		<span class="chips">
			{list.map(([key, value]) => {
				const label = `${key}=${value}`;
				return (
					<button
						key={key}
						type="button"
						class="chip"
						title={say("onlyThese", { label: plain(label) })}
						onClick={() => change({ devices: label })}
					>
						<Name text={label} />
					</button>
				);
			})}
		</span>
	);
}

function editColumn(edit: (d: Device) => void): Column<Device> {
	return {
		id: "edit",
		head: "",
		cell: (d) => (
			<button type="button" onClick={() => edit(d)} aria-label={say("editTitle", { name: plain(d.name) })}>
				{say("edit")}
			</button>
		),
	};
}

function columnsOf(labels: LabelTable, edit: (d: Device) => void): readonly Column<Device>[] {
	const of = (d: Device) => labels.get(d.id) ?? {};
	return [
		{
			id: "name",
			head: say("deviceHead"),
			cell: (d) => (
				<a href={addressOf("devices", { device: d.id })}>
					<Name text={d.name} />
				</a>
			),
			order: (d) => d.name,
		},
		{
			id: "state",
			head: say("state"),
			cell: (d) => <span class={d.online ? "" : "fine"}>{say(d.online ? "online" : "away")}</span>,
			order: (d) => Number(d.online),
		},
		{
			id: "group",
			head: say("group"),
			cell: (d) => (d.group ? <Name text={d.group} /> : <span class="fine">–</span>),
			order: (d) => d.group ?? "",
		},
		{ id: "labels", head: say("labels"), cell: (d) => <Chips labels={of(d)} /> },
		...(may("control") ? [editColumn(edit)] : []),
	];
}

export interface LabelsProps {
	readonly devices: readonly Device[];
	readonly labels: LabelTable;
	readonly changed: () => void;
}

export function Labels({ devices, labels, changed }: LabelsProps) {
	const [edited, edit] = useState<Device | null>(null);
	const columns = useMemo(() => columnsOf(labels, edit), [labels, say("deviceHead")]);
	if (!devices.length)
		return (
			<div class="quiet">
				<p>{say("noDevices")}</p>
				<Command text={`kiseki-agent profile --all --collector ${location.hostname}:7077`} />
			</div>
		);
	return (
		<div class="profile-body fleet-devices">
			<Table label={say("devicesTab")} columns={columns} rows={devices} id={(d) => d.id} sort="name" />
			{edited && (
				<EditDialog
					device={edited}
					labels={labels.get(edited.id) ?? {}}
					changed={changed}
					close={() => edit(null)}
				/>
			)}
		</div>
	);
}
