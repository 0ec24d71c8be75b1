// SPDX-License-Identifier: MIT
// instruction_form: what to trace, field by field, with what the devices were told before beside each.
import type { ComponentChildren } from "preact";

import type { Config, Device } from "../../api/schema";
import { plain } from "../../parts/text";
import {
	CHOICES,
	EVENTS,
	formatValue,
	LISTS,
	SIZES,
	type ChoiceField,
	type Form,
	type ListField,
	type ListInput,
	type Mode,
	type SizeField,
} from "./instruction";
import { say } from "./words";

export interface FormProps {
	readonly form: Form;
	readonly change: (form: Form) => void;
	readonly devices: readonly Device[];
}

const TITLES = {
	source: () => say("fSource"),
	events: () => say("fEvents"),
	pid: () => say("fPid"),
	comm: () => say("fComm"),
	cgroup: () => say("fCgroup"),
	flush: () => say("fFlush"),
	block: () => say("fBlock"),
	ring: () => say("fRing"),
	resolution: () => say("fResolution"),
	policy: () => say("fPolicy"),
	codec: () => say("fCodec"),
	func: () => say("fFunc"),
	profile: () => say("fProfile"),
	"profile-rate": () => say("fProfileRate"),
	"profile-budget": () => say("fProfileBudget"),
	"profile-duty": () => say("fProfileDuty"),
	vm: () => say("fVm"),
	"vm-rate": () => say("fVmRate"),
	"vm-budget": () => say("fVmBudget"),
	"vm-duty": () => say("fVmDuty"),
} satisfies Record<keyof Config, () => string>;

const HINTS: Record<ListField | SizeField, () => string> = {
	pid: () => say("hPid"),
	comm: () => say("hComm"),
	cgroup: () => say("hCgroup"),
	flush: () => say("hFlush"),
	block: () => say("hBlock"),
	ring: () => say("hRing"),
	resolution: () => say("hResolution"),
};

export function titleOf(field: keyof Config): string {
	return TITLES[field]();
}

/** What the devices were told about a field: nothing, one thing, or different ones. */
function nowOf(field: keyof Config, devices: readonly Device[]): string {
	const values = new Set(
		devices.map((d) => {
			const value = d.config[field];
			return value === undefined ? "" : formatValue(value) || say("all");
		}),
	);
	if (values.size > 1) return say("differ");
	const [value] = values;
	return value ? say("now", { value: plain(value) }) : "";
}

function Field(props: { field: keyof Config; devices: readonly Device[]; children: ComponentChildren }) {
	return (
		<div class="field" role="group" aria-label={titleOf(props.field)} data-field={props.field}>
			<span class="field-name">{titleOf(props.field)}</span>
			<span class="field-input">{props.children}</span>
			<bdi class="fine">{nowOf(props.field, props.devices)}</bdi>
		</div>
	);
}

function ModeSelect({ field, mode, set }: { field: keyof Config; mode: Mode; set: (mode: Mode) => void }) {
	return (
		<select
			aria-label={titleOf(field)}
			value={mode}
			onChange={(e) => set((["leave", "all", "only"] as const)[e.currentTarget.selectedIndex] ?? "leave")}
		>
			<option value="leave">{say("leave")}</option>
			<option value="all">{say("all")}</option>
			<option value="only">{say("only")}</option>
		</select>
	);
}

function Choice({ field, form, change, devices }: FormProps & { field: ChoiceField }) {
	return (
		<Field field={field} devices={devices}>
			<select
				aria-label={titleOf(field)}
				value={form.choices[field]}
				onChange={(e) => change({ ...form, choices: { ...form.choices, [field]: e.currentTarget.value } })}
			>
				<option value="">{say("leave")}</option>
				{CHOICES[field].map((c) => (
					<option key={c} value={c}>
						{c}
					</option>
				))}
			</select>
		</Field>
	);
}

function Events({ form, change, devices }: FormProps) {
	const { mode, kinds } = form.events;
	const turn = (kind: string, on: boolean): void =>
		change({ ...form, events: { mode, kinds: on ? [...kinds, kind] : kinds.filter((k) => k !== kind) } });
	return (
		<Field field="events" devices={devices}>
			<ModeSelect field="events" mode={mode} set={(m) => change({ ...form, events: { mode: m, kinds } })} />
			{mode === "only" && (
				<span class="kinds">
					{EVENTS.map((kind) => (
						<label key={kind}>
							<input
								type="checkbox"
								checked={kinds.includes(kind)}
								onChange={(e) => turn(kind, e.currentTarget.checked)}
							/>{" "}
							{kind}
						</label>
					))}
				</span>
			)}
		</Field>
	);
}

function List({ field, form, change, devices }: FormProps & { field: ListField }) {
	const input = form.lists[field];
	const set = (next: ListInput): void => change({ ...form, lists: { ...form.lists, [field]: next } });
	return (
		<Field field={field} devices={devices}>
			<ModeSelect field={field} mode={input.mode} set={(mode) => set({ ...input, mode })} />
			{input.mode === "only" && (
				<input
					type="text"
					aria-label={titleOf(field)}
					placeholder={HINTS[field]()}
					value={input.text}
					onInput={(e) => set({ ...input, text: e.currentTarget.value })}
				/>
			)}
		</Field>
	);
}

function Size({ field, form, change, devices }: FormProps & { field: SizeField }) {
	return (
		<Field field={field} devices={devices}>
			<input
				type="text"
				aria-label={titleOf(field)}
				placeholder={`${say("leave")} (${HINTS[field]()})`}
				value={form.sizes[field]}
				onInput={(e) => change({ ...form, sizes: { ...form.sizes, [field]: e.currentTarget.value } })}
			/>
		</Field>
	);
}

export function InstructionForm(props: FormProps) {
	return (
		<div class="instruction">
			<Choice field="source" {...props} />
			<Events {...props} />
			{LISTS.map((field) => (
				<List key={field} field={field} {...props} />
			))}
			<Choice field="func" {...props} />
			<details>
				<summary>{say("more")}</summary>
				{SIZES.map((field) => (
					<Size key={field} field={field} {...props} />
				))}
				<Choice field="policy" {...props} />
				<Choice field="codec" {...props} />
			</details>
		</div>
	);
}
