// SPDX-License-Identifier: MIT
// no_run: what a view shows that has no recording to show: why, and what to do about it.
import { addressOf, address } from "../app/address";
import { say } from "../app/words";
import { Command } from "./copy";
import { Problem } from "./problem";

/** A reason, and behind its colon what to type. */
export function Nothing({ text }: { text: string }) {
	const cut = text.lastIndexOf(": ");
	if (cut < 0) return <p class="quiet">{text}</p>;
	return (
		<div class="quiet">
			<p>{text.slice(0, cut + 1)}</p>
			<Command text={text.slice(cut + 2)} />
		</div>
	);
}

/** The recording of the address cannot be had; others can. */
export function NoRun({ error }: { error: unknown }) {
	const latest = addressOf(address.value.view, { run: null, from: null, to: null, mark: null, sel: null });
	return (
		<>
			<Problem error={error} retry={() => location.reload()} />
			<p class="quiet">
				<a href={latest}>{say("toLatest")}</a>
			</p>
		</>
	);
}
