// SPDX-License-Identifier: MIT
// detail: one function over all its paths: figures, who calls it, what it calls.
import type { Figures } from "../../api/calls";
import { formatCount, formatLength } from "../../parts/format";
import { Name } from "../../parts/name";
import { FigureList } from "./figures";
import { idOf, pathOf, type Box } from "../../flame/forest";
import type { Edge, Sandwich } from "./sandwich";
import { say } from "./words";

function Edges(props: {
	title: string;
	edges: readonly Edge[];
	whole: number;
	select: (id: string) => void;
}) {
	if (!props.edges.length) return null;
	return (
		<>
			<h3>{props.title}</h3>
			<ul class="edges">
				{props.edges.map((e) => (
					<li key={idOf(e.name, e.object)}>
						<i
							class="length"
							ref={(x) =>
								x?.style.setProperty(
									"width",
									`${Math.min(100, (100 * e.total_ns) / (props.whole || 1)).toFixed(1)}%`,
								)
							}
						/>
						{e.outermost ? (
							<span>{say("outermost")}</span>
						) : (
							<button type="button" class="plain" onClick={() => props.select(idOf(e.name, e.object))}>
								<Name text={e.name} />
							</button>
						)}
						<span class="n">
							{formatLength(e.total_ns)} · {formatCount(e.calls)}×
						</span>
					</li>
				))}
			</ul>
		</>
	);
}

export interface DetailProps {
	readonly sandwich: Sandwich;
	/** Of all its calls; the paths may leave out short ones. */
	readonly figures: Figures;
	readonly whole: number;
	readonly select: (id: string) => void;
	readonly show: (box: Box) => void;
	readonly close: () => void;
}

export function Detail({ sandwich, figures, whole, select, show, close }: DetailProps) {
	return (
		<aside class="detail" aria-label={say("detail")}>
			<div class="detail-head">
				<h2>
					<Name text={sandwich.name} />
				</h2>
				<button type="button" onClick={close} aria-label={say("closeDetail")} title={say("closeDetail")}>
					×
				</button>
			</div>
			{sandwich.object && (
				<p class="object">
					<Name text={sandwich.object} />
				</p>
			)}
			<FigureList figures={figures} whole={whole} />
			<h3>{say("hottest", { n: sandwich.paths })}</h3>
			<ol class="path">
				{pathOf(sandwich.hottest)
					.slice(1)
					.map((b) => (
						<li key={b.key}>
							<button type="button" class="plain" onClick={() => show(b)}>
								<Name text={b.name} />
							</button>
						</li>
					))}
			</ol>
			<Edges
				title={say("callers")}
				edges={sandwich.callers}
				whole={sandwich.figures.total_ns}
				select={select}
			/>
			<Edges
				title={say("callees")}
				edges={sandwich.callees}
				whole={sandwich.figures.total_ns}
				select={select}
			/>
		</aside>
	);
}
