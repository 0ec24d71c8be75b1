// SPDX-License-Identifier: MIT
// instruction_details: one instruction: what became of it, what that means, and what to do next.
import { addressOf } from "../../app/address";
import { Command } from "../../parts/copy";
import { formatMoment } from "../../parts/format";
import { Name } from "../../parts/name";
import { plain } from "../../parts/text";
import { commandOf, formatValue } from "../devices/instruction";
import type { Instruction } from "./instruction_history";
import { say } from "./words";

const HELP: Record<Instruction["outcome"], () => string> = {
	sent: () => say("sentHelp"),
	done: () => say("doneHelp"),
	failed: () => say("failedHelp"),
	deferred: () => say("deferredHelp"),
	timed_out: () => say("timed_outHelp"),
	replaced: () => say("replacedHelp"),
};

export function saidOf(i: Instruction): string {
	return Object.entries(i.config)
		.map(([field, value]) => `${field}=${plain(formatValue(value))}`)
		.join(" ");
}

export function OutcomeText({ instruction: i }: { instruction: Instruction }) {
	return (
		<span class={`outcome ${i.outcome}`} data-outcome={i.outcome} title={plain(i.text)}>
			{say(i.outcome)}
			{i.text && (
				<>
					{": "}
					<bdi>{plain(i.text)}</bdi>
				</>
			)}
		</span>
	);
}

export function InstructionDetails({
	instruction: i,
	close,
}: {
	instruction: Instruction;
	close: () => void;
}) {
	const facts: readonly (readonly [string, string])[] = [
		[say("when"), formatMoment(i.at)],
		[say("settledAt"), i.settled ? formatMoment(i.settled) : say("notSettled")],
		[say("verb"), say(i.verb)],
		[say("said"), saidOf(i) || "–"],
		[say("by"), `${plain(i.from)} ${plain(i.client)}`],
	];
	return (
		<aside class="details instruction-details" aria-label={say("instruction")}>
			<div class="details-head">
				<h2>
					{i.number}: <Name text={i.device} />
				</h2>
				<button type="button" aria-label={say("close")} title={say("close")} onClick={close}>
					×
				</button>
			</div>
			<p class="now" role="status">
				<OutcomeText instruction={i} />
			</p>
			<p>{HELP[i.outcome]()}</p>
			<dl class="facts">
				{facts.map(([name, value]) => (
					<>
						<dt key={`n ${name}`}>{name}</dt>
						<dd key={`v ${name}`}>
							<bdi>{value}</bdi>
						</dd>
					</>
				))}
			</dl>
			<Command label={say("asCommand")} text={commandOf(i.verb, [i.device], i.config)} />
			<div class="buttons start">
				<a class="button" href={addressOf("devices", { device: i.device_id })}>
					{say("showDevice")}
				</a>
			</div>
		</aside>
	);
}
