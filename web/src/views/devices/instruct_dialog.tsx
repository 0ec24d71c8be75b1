// SPDX-License-Identifier: MIT
// instruct_dialog: asks before devices are told something, and then shows what became of it, device by device. The
// dialog stays for that: an answer that comes late, or a refusal, must not disappear.
import { useState } from "preact/hooks";

import { instruct, type Fate, type Outcome, type Verb } from "../../api/instruct";
import type { Device } from "../../api/schema";
import { addressOf } from "../../app/address";
import { say as sayFrame } from "../../app/words";
import { Command } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Name } from "../../parts/name";
import { plain } from "../../parts/text";
import { commandOf, configOf, EMPTY, unfinished, type Form } from "./instruction";
import { InstructionForm, titleOf } from "./instruction_form";
import { say } from "./words";

const TITLES: Record<Verb, (count: number) => string> = {
	start: (count) => say("startTitle", { count }),
	stop: (count) => say("stopTitle", { count }),
	configure: (count) => say("configureTitle", { count }),
};
const WHAT: Record<Verb, () => string> = {
	start: () => say("startWhat"),
	stop: () => say("stopWhat"),
	configure: () => say("configureWhat"),
};
const FATES: Record<Fate, () => string> = {
	waiting: () => say("fateWaiting"),
	done: () => say("fateDone"),
	later: () => say("fateLater"),
	failed: () => say("fateFailed"),
	late: () => say("fateLate"),
};

export interface InstructProps {
	readonly verb: Verb;
	readonly devices: readonly Device[];
	readonly close: () => void;
}

function Targets({ devices }: { devices: readonly Device[] }) {
	const away = devices.filter((d) => !d.online).length;
	return (
		<>
			<ul class="targets">
				{devices.map((d) => (
					<li key={d.id}>
						<Name text={d.name} />
					</li>
				))}
			</ul>
			{away > 0 && <p>{say("offlineWhat", { count: away })}</p>}
		</>
	);
}

function Outcomes({ outcomes }: { outcomes: readonly Outcome[] }) {
	return (
		<ul class="outcomes" aria-live="polite" aria-label={say("results")}>
			{outcomes.map((o) => (
				<li key={o.id} class={`fate ${o.fate}`} data-fate={o.fate}>
					<Name text={o.name} />: {FATES[o.fate]()}
					{o.text && (
						<>
							{" – "}
							<bdi>{plain(o.text)}</bdi>
						</>
					)}
				</li>
			))}
		</ul>
	);
}

function Question(props: InstructProps & { form: Form; change: (form: Form) => void }) {
	const { verb, devices, form, change } = props;
	const fields = unfinished(form);
	const names = devices.map((d) => d.name);
	return (
		<>
			<Targets devices={devices} />
			<p>{WHAT[verb]()}</p>
			{verb === "configure" && <InstructionForm form={form} change={change} devices={devices} />}
			{verb === "start" && (
				<details>
					<summary>{say("also")}</summary>
					<InstructionForm form={form} change={change} devices={devices} />
				</details>
			)}
			{fields.length > 0 && (
				<p class="losses" role="alert">
					{say("unfinished", { fields: fields.map(titleOf).join(", ") })}
				</p>
			)}
			<Command label={say("asCommand")} text={commandOf(verb, names, configOf(form))} />
		</>
	);
}

export function InstructDialog(props: InstructProps) {
	const { verb, devices, close } = props;
	const [form, setForm] = useState<Form>(EMPTY);
	const [outcomes, setOutcomes] = useState<readonly Outcome[] | null>(null);
	const config = configOf(form);
	const lacks = verb === "configure" && !Object.keys(config).length;
	const run = (to: readonly Pick<Device, "id" | "name">[]): void =>
		void instruct(verb, to, config, setOutcomes);
	const bad = outcomes?.filter((o) => o.fate === "failed" || o.fate === "late") ?? [];
	const waits = outcomes?.some((o) => o.fate === "waiting") ?? false;
	/* What is not known now becomes known there. */
	const open = outcomes?.filter((o) => o.fate === "later" || o.fate === "late") ?? [];
	const [only] = open;
	return (
		<Dialog title={TITLES[verb](devices.length)} close={close}>
			{outcomes ? <Outcomes outcomes={outcomes} /> : <Question {...props} form={form} change={setForm} />}
			<div class="buttons">
				{open.length > 0 && (
					<a
						href={addressOf("log", {
							tab: "instructions",
							device: open.length === 1 && only ? only.id : null,
						})}
					>
						{say("seeLog")}
					</a>
				)}
				{lacks && !outcomes && <span class="fine">{say("nothing")}</span>}
				{outcomes && bad.length > 0 && !waits && (
					<button type="button" onClick={() => run(bad)}>
						{say("again")}
					</button>
				)}
				<button type="button" onClick={close}>
					{outcomes ? sayFrame("close") : sayFrame("cancel")}
				</button>
				{!outcomes && (
					<button
						type="button"
						class="primary"
						disabled={lacks || unfinished(form).length > 0}
						onClick={() => run(devices)}
					>
						{TITLES[verb](devices.length)}
					</button>
				)}
			</div>
		</Dialog>
	);
}
