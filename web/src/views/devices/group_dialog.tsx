// SPDX-License-Identifier: MIT
// group_dialog: puts devices into a group, by name; the names that are there already are offered.
import { useState } from "preact/hooks";

import { setGroup } from "../../api/instruct";
import type { Device } from "../../api/schema";
import { say as sayFrame } from "../../app/words";
import { Dialog } from "../../parts/dialog";
import { Name } from "../../parts/name";
import { Problem } from "../../parts/problem";
import { groupOf } from "./device_lines";
import { say } from "./words";

export interface GroupProps {
	readonly devices: readonly Device[];
	readonly groups: readonly string[];
	readonly close: () => void;
}

export function GroupDialog({ devices, groups, close }: GroupProps) {
	const same = new Set(devices.map(groupOf));
	const [name, setName] = useState(same.size === 1 ? ([...same][0] ?? "") : "");
	const [error, setError] = useState<unknown>(null);
	const save = async (): Promise<void> => {
		try {
			for (const d of devices) await setGroup(d.id, name.trim() || null);
			close();
		} catch (e) {
			setError(e);
		}
	};
	return (
		<Dialog title={say("groupTitle", { count: devices.length })} close={close}>
			<ul class="targets">
				{devices.map((d) => (
					<li key={d.id}>
						<Name text={d.name} />
					</li>
				))}
			</ul>
			<form
				onSubmit={(e) => {
					e.preventDefault();
					void save();
				}}
			>
				<label>
					{say("groupName")}{" "}
					<input
						type="text"
						list="device-groups"
						value={name}
						onInput={(e) => setName(e.currentTarget.value)}
						autofocus
					/>
				</label>
				<datalist id="device-groups">
					{groups.map((g) => (
						<option key={g} value={g} />
					))}
				</datalist>
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
