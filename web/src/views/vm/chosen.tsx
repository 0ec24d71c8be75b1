// SPDX-License-Identifier: MIT
// chosen: the piece that was clicked on, and where to go from it.
import { Facts } from "./facts";
import type { VcpuPiece } from "./lanes";
import type { Stage } from "./stage";
import { choose, type Chosen } from "./state";
import { say } from "./words";

/** To the row of who had the CPU instead. */
function ToCulprit({ stage, piece }: { stage: Stage; piece: VcpuPiece }) {
	if (piece.merged || (piece.cls !== "steal" && piece.cls !== "waiting")) return null;
	const middle = (piece.from + piece.to) / 2;
	const to = (lane: string, text: string) =>
		stage.laneOf(lane) ? (
			<button type="button" onClick={() => choose(stage.run, { lane, ns: middle })}>
				{text}
			</button>
		) : null;
	return (
		<p class="buttons start">
			{piece.cpu >= 0 && to(`c${piece.cpu}`, say("showCpu", { n: piece.cpu }))}
			{piece.culprit && piece.culprit.vcpu !== null && to(`t${piece.culprit.tid}`, say("showCulprit"))}
		</p>
	);
}

export function ChosenPanel({ stage, at }: { stage: Stage; at: Chosen | null }) {
	/* Drawn again when finer pieces have come. */
	void stage.version.value;
	const chosen = stage.find(at);
	if (!chosen) return null;
	return (
		<aside class="vm-chosen" aria-label={say("chosen")}>
			<div class="detail-head">
				<div>
					<Facts lane={chosen.lane} piece={chosen.piece} zero={stage.bounds.from} />
				</div>
				<button
					type="button"
					aria-label={say("closeChosen")}
					title={say("closeChosen")}
					onClick={() => choose(stage.run, null)}
				>
					×
				</button>
			</div>
			{chosen.lane.kind === "vcpu" && <ToCulprit stage={stage} piece={chosen.piece as VcpuPiece} />}
		</aside>
	);
}
