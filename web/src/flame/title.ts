// SPDX-License-Identifier: MIT
// title: what a box is called where it is shown.
import { formatCount } from "../parts/format";
import { plain } from "../parts/text";
import type { Box } from "./forest";
import { say } from "./words";

export function titleOf(box: Box): string {
	if (!box.parent) return say("everything");
	return box.others ? say("others", { n: formatCount(box.others) }) : plain(box.name);
}
