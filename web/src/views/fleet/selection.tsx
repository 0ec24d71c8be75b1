// SPDX-License-Identifier: MIT
// selection: which time, which devices, which processes, and what they are compared with.
import { MomentInput } from "../../parts/moment_input";
import { plain } from "../../parts/text";
import { BASES, change, isBaseFit, KINDS, LASTS, lengthOf, type Base, type Span, type State } from "./state";
import { NAMED_MAX, type Which } from "./which";
import { say } from "./words";

export const DEVICES_ID = "fleet-devices";
const NAMES_SHOWN = 3;
const MINUTE_S = 60;

/** What is zoomed into is of what was shown. */
const ANEW = { zoom: "", at: "" } as const;

const LAST_WORDS = {
	"15m": "last15m",
	"1h": "last1h",
	"6h": "last6h",
	"24h": "last24h",
	"7d": "last7d",
	"30d": "last30d",
} as const;

const BASE_WORDS = {
	"": "base",
	before: "baseBefore",
	day: "baseDay",
	week: "baseWeek",
	time: "baseTime",
	devices: "baseDevices",
} as const;

const nowMinute = (): number => Math.floor(Date.now() / 1000 / MINUTE_S) * MINUTE_S;

/** The time that is looked at now, for fields to begin with. */
export function spanNow(s: State): Span {
	return s.span ?? { since: nowMinute() - lengthOf(s), until: nowMinute() };
}

/** A change of one end; the other gives way, so that it is a span still. */
export function withEnd(span: Span, end: "since" | "until", seconds: number): Span {
	if (end === "since") return { since: seconds, until: Math.max(span.until, seconds + MINUTE_S) };
	return { since: Math.min(span.since, seconds - MINUTE_S), until: seconds };
}

function TimeChoice({ state }: { state: State }) {
	const { span } = state;
	const choose = (value: string): void =>
		value === "span"
			? change({ span: spanNow(state), ...ANEW })
			: change({ last: value, span: null, ...ANEW });
	return (
		<>
			<label>
				{say("time")}{" "}
				<select value={span ? "span" : state.last} onChange={(e) => choose(e.currentTarget.value)}>
					{LASTS.map((l) => (
						<option key={l} value={l}>
							{say(LAST_WORDS[l])}
						</option>
					))}
					<option value="span">{say("span")}</option>
				</select>
			</label>
			{span && (
				<>
					<MomentInput
						label={say("since")}
						value={span.since}
						choose={(t) => change({ span: withEnd(span, "since", t), ...ANEW })}
					/>
					<MomentInput
						label={say("until")}
						value={span.until}
						choose={(t) => change({ span: withEnd(span, "until", t), ...ANEW })}
					/>
				</>
			)}
		</>
	);
}

/** Which devices a text means, in few words. */
function WhichText({ which, all, text }: { which: Which; all: number; text: string }) {
	if (!text) return null;
	if (which.problem === "none" || !which.devices.length)
		return <span class="warning">⚠ {say("devicesNone")}</span>;
	if (which.problem === "many") return <span class="warning">⚠ {say("devicesMany", { n: NAMED_MAX })}</span>;
	const { devices } = which;
	const names = devices.slice(0, NAMES_SHOWN).map((d) => plain(d.name));
	if (devices.length > NAMES_SHOWN) names.push(say("more", { n: devices.length - NAMES_SHOWN }));
	return (
		<span class="quiet-note">
			<bdi>{say("devicesShown", { n: devices.length, all, names: names.join(", ") })}</bdi>
		</span>
	);
}

function DeviceChoice(props: {
	readonly id: string;
	readonly label: string;
	readonly hint: string;
	readonly value: string;
	readonly which: Which;
	readonly all: number;
	readonly choose: (text: string) => void;
}) {
	return (
		<>
			<label title={props.hint}>
				{props.label}{" "}
				<input
					id={props.id}
					class="which"
					type="text"
					list="fleet-known"
					value={props.value}
					placeholder={say("devicesPlaceholder")}
					onChange={(e) => props.choose(e.currentTarget.value.trim())}
					onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
				/>
			</label>
			<WhichText which={props.which} all={props.all} text={props.value} />
		</>
	);
}

/** A comparison that has something to show at once: another time begins as the time before. */
export function startBase(state: State, base: Base): void {
	const now = spanNow(state);
	const before = { since: now.since - lengthOf(state), until: now.since };
	change({
		base,
		baseSpan: base === "time" ? (state.baseSpan ?? before) : null,
		baseDevices: base === "devices" ? state.baseDevices : "",
		...ANEW,
	});
}

function BaseChoice(props: { state: State; baseWhich: Which; all: number }) {
	const { state } = props;
	const { base, baseSpan } = state;
	const setEnd = (end: "since" | "until") => (t: number) =>
		baseSpan && change({ baseSpan: withEnd(baseSpan, end, t), ...ANEW });
	return (
		<>
			<label>
				{say("compare")}{" "}
				<select
					value={base}
					onChange={(e) => startBase(state, BASES.find((b) => b === e.currentTarget.value) ?? "")}
				>
					{BASES.filter((b) => b === base || isBaseFit(state, b)).map((b) => (
						<option key={b} value={b}>
							{say(BASE_WORDS[b])}
						</option>
					))}
				</select>
			</label>
			{base === "time" && baseSpan && (
				<>
					<MomentInput label={say("baseSince")} value={baseSpan.since} choose={setEnd("since")} />
					<MomentInput label={say("baseUntil")} value={baseSpan.until} choose={setEnd("until")} />
				</>
			)}
			{base === "devices" && (
				<DeviceChoice
					id="fleet-base-devices"
					label={say("baseWhich")}
					hint={`${say("devicesHint")}\n${say("baseHint")}`}
					value={state.baseDevices}
					which={props.baseWhich}
					all={props.all}
					choose={(text) => change({ baseDevices: text, ...ANEW })}
				/>
			)}
		</>
	);
}

function KindChoice({ state }: { state: State }) {
	return (
		<label>
			{say("kind")}{" "}
			<select
				value={state.kind}
				onChange={(e) =>
					change({
						kind: KINDS.find((k) => k === e.currentTarget.value) ?? "profile",
						...{ by: "function", name: "", object: "", ...ANEW },
					})
				}
			>
				{KINDS.map((k) => (
					<option key={k} value={k}>
						{say(k)}
					</option>
				))}
			</select>
		</label>
	);
}

export interface SelectionProps {
	readonly state: State;
	readonly which: Which;
	readonly baseWhich: Which;
	/** How many devices there are. */
	readonly all: number;
	/** What may be typed: names, labels and groups that are there. */
	readonly known: readonly string[];
}

export function Selection(props: SelectionProps) {
	const { state } = props;
	return (
		<>
			<div class="bar">
				<TimeChoice state={state} />
				<DeviceChoice
					id={DEVICES_ID}
					label={say("devices")}
					hint={say("devicesHint")}
					value={state.devices}
					which={props.which}
					all={props.all}
					choose={(text) => change({ devices: text, ...ANEW })}
				/>
				<datalist id="fleet-known">
					{props.known.map((text) => (
						<option key={text} value={text} />
					))}
				</datalist>
			</div>
			<div class="bar">
				<KindChoice state={state} />
				<label title={say("processHint")}>
					{say("process")}{" "}
					<input
						class="which"
						type="text"
						value={state.process}
						placeholder={say("all")}
						onChange={(e) => change({ process: e.currentTarget.value.trim(), ...ANEW })}
					/>
				</label>
				<BaseChoice state={state} baseWhich={props.baseWhich} all={props.all} />
				<label>
					<input
						type="checkbox"
						checked={state.samples}
						onChange={(e) => change({ samples: e.currentTarget.checked })}
					/>{" "}
					{say("samples")}
				</label>
			</div>
		</>
	);
}
