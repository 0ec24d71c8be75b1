// SPDX-License-Identifier: MIT
// fleet: all devices, what they do now.
import { devices } from "../../api/devices";
import type { Device } from "../../api/schema";
import { formatCount } from "../../parts/format";
import { Name } from "../../parts/name";
import { Table, type Column } from "../../parts/table";
import { say } from "./words";

export default function Fleet() {
	const columns: readonly Column<Device>[] = [
		{ id: "name", head: say("device"), cell: (d) => <Name text={d.name} />, order: (d) => d.name },
		{
			id: "state",
			head: say("state"),
			cell: (d) => <span class={`state ${d.state}`}>{say(d.state)}</span>,
			order: (d) => d.state,
		},
		{
			id: "rate",
			head: say("rate"),
			cell: (d) => formatCount(d.received.events_per_s),
			order: (d) => d.received.events_per_s,
			numeric: true,
		},
	];
	return (
		<Table
			label={say("title")}
			columns={columns}
			rows={devices.value}
			id={(d) => d.id}
			sort="name"
			empty={say("none")}
		/>
	);
}
