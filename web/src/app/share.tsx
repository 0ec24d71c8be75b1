// SPDX-License-Identifier: MIT
// share: takes away what is shown: its link, its picture, the recording in any format, Perfetto, and commands.
import { useState } from "preact/hooks";

import { getExtent, parseRange } from "../api/extent";
import {
	endingOf,
	exportPath,
	exportQuery,
	exportUrl,
	fileName,
	formatsOf,
	hasRange,
	listFormats,
	wholeOf,
	type Format,
	type Part,
} from "../api/formats";
import { getBytes } from "../api/request";
import { getRun, parseRuns, runParam } from "../api/runs";
import { Command, CopyButton } from "../parts/copy";
import { Dialog } from "../parts/dialog";
import { formatBytes } from "../parts/format";
import { useLoaded } from "../parts/loaded";
import { Problem } from "../parts/problem";
import { describeRange } from "../parts/range_bar";
import { plain } from "../parts/text";
import { address } from "./address";
import { commandsOf, type CommandLine } from "./commands";
import { download } from "./download";
import { openPerfetto, sendToPerfetto, type Step } from "./perfetto";
import { picture } from "./picture";
import "./share.css";
import { say } from "./share_words";

const RUNS_MAX = 8;

const COMMANDS: Record<CommandLine["id"], () => string> = {
	export: () => say("cExport"),
	sched: () => say("cSched"),
	latency: () => say("cLatency"),
	ledger: () => say("cLedger"),
	func: () => say("cFunc"),
	boot: () => say("cBoot"),
	bootReport: () => say("cBootReport"),
	profile: () => say("cProfile"),
	vm: () => say("cVm"),
};

/** The part of each run of the address that is shown. */
async function getParts(abort: AbortSignal): Promise<readonly Part[]> {
	const numbers = parseRuns(runParam.value).slice(0, RUNS_MAX);
	const range = parseRange(address.value.params);
	return Promise.all(
		numbers.map(async (n): Promise<Part> => {
			const run = await getRun(n, abort);
			return hasRange(run) ? { run, extent: await getExtent(n, abort), range } : wholeOf(run);
		}),
	);
}

function describePart(part: Part): string {
	const name = `${plain(part.run.device)} #${part.run.run}`;
	return part.extent ? `${name}, ${describeRange(part.range, part.extent)}` : name;
}

function Pictures() {
	const [error, setError] = useState<unknown>(null);
	const p = picture.value;
	if (!p) return <p class="fine">{say("noPicture")}</p>;
	const name = (ending: string): string =>
		fileName([p.name?.() ?? "kiseki", address.value.view, runParam.value], ending);
	const save = async (kind: "png" | "svg"): Promise<void> => {
		try {
			const blob = kind === "png" ? await p.png() : new Blob([await p.svg()], { type: "image/svg+xml" });
			download(blob, name(`.${kind}`));
		} catch (e) {
			setError(e);
		}
	};
	return (
		<>
			<button type="button" onClick={() => void save("png")}>
				PNG
			</button>{" "}
			<button type="button" onClick={() => void save("svg")}>
				SVG
			</button>
			{error ? <Problem error={error} /> : null}
		</>
	);
}

function Exports({ part, formats }: { part: Part; formats: readonly Format[] }) {
	return (
		<ul class="exports">
			{formatsOf(part.run, formats).map((f) => (
				<li key={f.name}>
					<a href={exportUrl(part, f.name)} download="" data-format={f.name}>
						{f.name}
					</a>{" "}
					<span class="fine">
						{endingOf(f)} – {f.summary}
						{f.cannot_hold && ` (${f.cannot_hold})`}
					</span>
				</li>
			))}
		</ul>
	);
}

function Perfetto({ part }: { part: Part }) {
	const [step, setStep] = useState<Step | null>(null);
	const [sent, setSent] = useState(0);
	const [failed, setFailed] = useState("");
	const open = (): void => {
		const other = openPerfetto();
		setStep(null);
		setFailed(other ? "" : say("perfettoBlocked"));
		if (!other) return;
		const bytes = getBytes(exportPath(part), exportQuery(part, "perfetto"));
		const name = fileName([part.run.device, part.run.run], ".pftrace");
		sendToPerfetto(other, describePart(part), name, bytes, setStep).then(setSent, (e: unknown) => {
			setStep(null);
			setFailed(say("perfettoFailed", { why: e instanceof Error ? e.message : String(e) }));
		});
	};
	return (
		<p class="perfetto">
			<button type="button" onClick={open} disabled={step === "trace" || step === "window"}>
				{say("perfetto")} ↗
			</button>{" "}
			<span role="status">
				{step === "trace" && say("perfettoTrace")}
				{step === "window" && say("perfettoWindow")}
				{step === "sent" && say("perfettoSent", { size: formatBytes(sent) })}
				{failed && <strong>{failed}</strong>}
			</span>
			<span class="fine note">{say("perfettoNote")}</span>
		</p>
	);
}

function PartSection({ part, formats }: { part: Part; formats: readonly Format[] }) {
	const canPerfetto = formatsOf(part.run, formats).some((f) => f.name === "perfetto");
	return (
		<>
			<section data-run={part.run.run}>
				<h3>
					<bdi>{say("export", { what: describePart(part) })}</bdi>
				</h3>
				{!part.extent && <p class="fine">{say("exportWhole")}</p>}
				<Exports part={part} formats={formats} />
				{canPerfetto && <Perfetto part={part} />}
			</section>
			<section>
				<h3>{say("commands")}</h3>
				{commandsOf(part, location.origin).map((c) => (
					<Command key={c.id} label={COMMANDS[c.id]()} text={c.text} />
				))}
			</section>
		</>
	);
}

export function ShareDialog({ close }: { close: () => void }) {
	const loaded = useLoaded(
		async (abort) => ({ parts: await getParts(abort), formats: await listFormats() }),
		[address.value],
	);
	return (
		<Dialog title={say("share")} close={close}>
			<div class="share">
				<section>
					<h3>{say("link")}</h3>
					<p class="fine">{say("linkHint")}</p>
					<CopyButton text={location.href} label={say("copyLink")} />
				</section>
				<section>
					<h3>{say("picture")}</h3>
					<Pictures />
				</section>
				{loaded.error ? <Problem error={loaded.error} retry={loaded.again} /> : null}
				{loaded.value?.parts.map((part) => (
					<PartSection key={part.run.run} part={part} formats={loaded.value?.formats ?? []} />
				))}
				{loaded.value && !loaded.value.parts.length && <p class="fine">{say("noRun")}</p>}
			</div>
		</Dialog>
	);
}
