// SPDX-License-Identifier: MIT
// help: all keys that do something now.
import { Dialog } from "../parts/dialog";
import { activeKeys, type Key } from "./keys";
import { say } from "./words";

const CAPS: Readonly<Record<string, string>> = {
	arrowright: "→",
	arrowleft: "←",
	arrowdown: "↓",
	arrowup: "↑",
	escape: "Esc",
	home: "Home",
	end: "End",
	enter: "Enter",
	backspace: "Backspace",
	space: "Space",
	pageup: "Page Up",
	pagedown: "Page Down",
	delete: "Delete",
};

/** A key as it is printed on a keyboard. */
export function capOf(name: string): string {
	const parts = name.split(/(?<=.)\+/);
	const key = parts.pop() ?? "";
	const cap = CAPS[key] ?? (key.length === 1 ? key.toUpperCase() : key);
	return [...parts.map((p) => p.charAt(0).toUpperCase() + p.slice(1)), cap].join("+");
}

/** Keys that do two directions of one thing have one line. */
function linesOf(keys: readonly Key[]): ReadonlyMap<string, readonly string[]> {
	const lines = new Map<string, readonly string[]>();
	for (const k of keys) lines.set(k.what(), [...(lines.get(k.what()) ?? []), ...k.keys]);
	return lines;
}

export function Help({ close }: { close: () => void }) {
	return (
		<Dialog title={say("help")} close={close}>
			<table class="keys">
				<tbody>
					{[...linesOf(activeKeys.value)].map(([what, names]) => (
						<tr key={what}>
							<th scope="row">
								{names.map((name) => (
									<kbd key={name}>{capOf(name)}</kbd>
								))}
							</th>
							<td>{what}</td>
						</tr>
					))}
				</tbody>
			</table>
		</Dialog>
	);
}
