// SPDX-License-Identifier: MIT
// who: a process where it is named in a list: its name and arguments, and the way to it in the chart.
import { Name } from "../../parts/name";
import { plain } from "../../parts/text";
import { showProcess } from "./state";
import { say } from "./words";

export interface Named {
	readonly pid: number;
	readonly comm: string;
	readonly args: string | null;
}

export function nameOf(p: Named): string {
	return plain(p.args ?? p.comm) || `pid ${p.pid}`;
}

export function Who({ of, compared }: { of: Named; compared: boolean }) {
	return (
		<button
			type="button"
			class="plain who"
			title={say("showInChart", { name: nameOf(of) })}
			onClick={(e) => {
				e.stopPropagation();
				showProcess(of.pid, compared);
			}}
		>
			<Name text={of.comm} /> <small class="object">{of.pid}</small>
			{of.args && of.args !== of.comm && (
				<small class="object">
					{" "}
					<Name text={of.args} />
				</small>
			)}
		</button>
	);
}
