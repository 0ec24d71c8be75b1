// SPDX-License-Identifier: MIT
// facts: one piece of a row in words: beside the pointer, in the panel, and said aloud.
import { CLASSES } from "../../api/vm";
import { formatLength, formatOffset, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import { KINDS, type CpuPiece, type Lane, type VcpuPiece } from "./lanes";
import { className, kindName, laneName, machineName, taskName } from "./names";
import { say } from "./words";

type Piece = VcpuPiece | CpuPiece;

function isVcpu(piece: Piece): piece is VcpuPiece {
	return "cls" in piece;
}

export function titleOf(lane: Lane): string {
	return lane.kind === "cpu" ? laneName(lane) : `${machineName(lane.vm, lane.name)} · ${laneName(lane)}`;
}

/** What it is, in one word or two. */
export function whatOf(piece: Piece): string {
	if (!isVcpu(piece))
		return piece.merged ? say("several") : piece.task ? taskName(piece.task) : kindName(piece.kind);
	return piece.merged ? say("several") : className(piece.cls);
}

export function describe(lane: Lane, piece: Piece, zero: number): string {
	const detail = isVcpu(piece)
		? (piece.place?.function ?? piece.exit ?? (piece.culprit ? taskName(piece.culprit) : ""))
		: "";
	return say("spoken", {
		row: titleOf(lane),
		what: detail ? `${whatOf(piece)}, ${detail}` : whatOf(piece),
		length: formatLength(piece.to - piece.from),
		start: formatOffset(piece.from - zero, 1e3),
	});
}

function Shares({ parts, names }: { parts: readonly number[]; names: readonly string[] }) {
	const whole = parts.reduce((a, b) => a + b, 0) || 1;
	return (
		<>
			{parts.map((ns, i) =>
				ns > 0 ? (
					<>
						<dt>{names[i] ?? ""}</dt>
						<dd>
							{formatLength(ns)} <span class="share">{formatPercent(ns / whole)}</span>
						</dd>
					</>
				) : null,
			)}
		</>
	);
}

function VcpuFacts({ piece }: { piece: VcpuPiece }) {
	const { place } = piece;
	return (
		<>
			{place && (
				<>
					<dt>{say("function")}</dt>
					<dd>
						<Name text={place.function} /> {place.object && <small class="object">{place.object}</small>}
					</dd>
					<dt>{say("process")}</dt>
					<dd>
						<Name text={place.process} />
						{place.thread !== place.process && (
							<>
								{" "}
								· <Name text={place.thread} />
							</>
						)}
						{place.kernel && ` · ${say("guestKernel")}`}
					</dd>
				</>
			)}
			{piece.exit !== null && (
				<>
					<dt>{say("exit")}</dt>
					<dd>{piece.exit}</dd>
				</>
			)}
			{(piece.cls === "steal" || piece.cls === "waiting") && !piece.merged && (
				<>
					<dt>{say("culprit")}</dt>
					<dd>
						<Name text={taskName(piece.culprit)} />
					</dd>
				</>
			)}
			{piece.cpu >= 0 && (
				<>
					<dt>{say("onCpu")}</dt>
					<dd>{piece.cpu}</dd>
				</>
			)}
			{piece.merged && <Shares parts={piece.merged} names={CLASSES.map(className)} />}
		</>
	);
}

export function Facts({ lane, piece, zero }: { lane: Lane; piece: Piece; zero: number }) {
	return (
		<>
			<strong>{whatOf(piece)}</strong>
			<div class="object">{titleOf(lane)}</div>
			<dl class="figures">
				<dt>{say("length")}</dt>
				<dd>{formatLength(piece.to - piece.from)}</dd>
				<dt>{say("start")}</dt>
				<dd>{formatOffset(piece.from - zero, 1e3)}</dd>
				{isVcpu(piece) ? (
					<VcpuFacts piece={piece} />
				) : (
					piece.merged && <Shares parts={piece.merged} names={KINDS.map(kindName)} />
				)}
			</dl>
		</>
	);
}
