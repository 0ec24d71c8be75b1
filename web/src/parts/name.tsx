// SPDX-License-Identifier: MIT
// name: a name from a device, as text that cannot disturb what is around it.
import { plain } from "./text";

export function Name({ text }: { text: string }) {
	return <bdi class="name">{plain(text)}</bdi>;
}
