// SPDX-License-Identifier: MIT
// help: all keys that do something now.
import { Dialog } from "../parts/dialog";
import { activeKeys } from "./keys";
import { say } from "./words";

export function Help({ close }: { close: () => void }) {
	return (
		<Dialog title={say("help")} close={close}>
			<table class="keys">
				<tbody>
					{activeKeys.value.map((k) => (
						<tr key={k.keys.join()}>
							<th scope="row">
								{k.keys.map((name) => (
									<kbd key={name}>{name}</kbd>
								))}
							</th>
							<td>{k.what()}</td>
						</tr>
					))}
				</tbody>
			</table>
		</Dialog>
	);
}
