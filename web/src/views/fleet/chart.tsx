// SPDX-License-Identifier: MIT
// chart: what is chosen, over time: its share of all that was recorded, with the two times that are compared behind it.
import { useRef, useState } from "preact/hooks";

import type { FleetTrend } from "../../api/fleet";
import { formatMinute, formatPercent } from "../../parts/format";
import { Name } from "../../parts/name";
import { Problem } from "../../parts/problem";
import { useSize } from "../../parts/size";
import { plain } from "../../parts/text";
import { Tip } from "../../parts/tip";
import { useTrends, type Bases, type Question, type Trends } from "./data";
import { change } from "./state";
import { bandOf, lineOf, nearest, placesOf, secondsOf, topOf, type Frame, type Place } from "./trend";
import { say } from "./words";

const HEIGHT = 84;
/** Above the highest point, for what is written there. */
const ROOM = 1.15;
const SPARK_W = 90;
const SPARK_H = 16;

/** In a row of the table; its own share, from nothing to its highest. */
export function Spark({ trend, samples }: { trend: FleetTrend | undefined; samples: boolean }) {
	const places = trend ? placesOf(trend, samples) : [];
	const frame: Frame = {
		from: places[0]?.at ?? 0,
		to: places.at(-1)?.at ?? 1,
		top: Math.max(1e-9, ...places.map((p) => p.self)),
		width: SPARK_W,
		height: SPARK_H - 2,
	};
	return (
		<svg
			class="spark"
			width={SPARK_W}
			height={SPARK_H}
			viewBox={`0 -1 ${SPARK_W} ${SPARK_H}`}
			aria-hidden="true"
		>
			<path d={lineOf(places, "self", frame)} />
		</svg>
	);
}

function Bands({ bases, frame }: { bases: Bases; frame: Frame }) {
	if (!bases.before) return null;
	return (
		<>
			{([bases.before, bases.after] as const).map((basis, i) => {
				const [from, to] = bandOf(basis, frame);
				const name = i ? "after" : "before";
				return (
					<g key={name} class={`band ${name}`}>
						<rect x={from} width={Math.max(1, to - from)} y={0} height={frame.height} />
						<text x={from + 4} y={11}>
							{say(name)}
						</text>
					</g>
				);
			})}
		</>
	);
}

function ShareLines({ place, prefix }: { place: Place; prefix?: string }) {
	return (
		<>
			{(["self", "total"] as const).map((which) => (
				<div key={which}>
					{prefix && `${prefix}: `}
					{say(which)} {formatPercent(place[which])}
				</div>
			))}
		</>
	);
}

interface PictureProps {
	readonly q: Question;
	readonly bases: Bases;
	readonly trends: Trends;
}

function Picture({ q, bases, trends }: PictureProps) {
	const outer = useRef<HTMLDivElement>(null);
	const { width } = useSize(outer);
	const [pointed, setPointed] = useState<{ x: number; y: number; at: number } | null>(null);
	const places = placesOf(trends.after, q.state.samples);
	const others = trends.before ? placesOf(trends.before, q.state.samples) : [];
	const { basis } = trends.after;
	const most = Math.max(0, ...[...places, ...others].map((p) => p.total));
	const frame: Frame = {
		...{ from: secondsOf(basis.from), to: secondsOf(basis.to) },
		...{ top: topOf(ROOM * most), width, height: HEIGHT },
	};
	const point = (e: PointerEvent): void => {
		const left = outer.current?.getBoundingClientRect().left ?? 0;
		const part = (e.clientX - left) / Math.max(1, width);
		setPointed({ x: e.clientX, y: e.clientY, at: frame.from + part * (frame.to - frame.from) });
	};
	const at = pointed && nearest(places, pointed.at);
	const other = pointed && nearest(others, pointed.at);
	const last = places.at(-1);
	const summary = last
		? `${say("self")} ${formatPercent(last.self)}, ${say("total")} ${formatPercent(last.total)}`
		: say("noPoints");
	return (
		<div class="trend-picture">
			<div class="trend-scale" aria-hidden="true">
				<span>{formatPercent(frame.top)}</span>
				<span>0</span>
			</div>
			<div ref={outer} class="trend-lines" onPointerMove={point} onPointerLeave={() => setPointed(null)}>
				<svg width={width} height={HEIGHT} role="img" aria-label={summary} data-points={places.length}>
					{q.state.base !== "devices" && <Bands bases={bases} frame={frame} />}
					<path class="total" d={lineOf(places, "total", frame)} />
					<path class="self" d={lineOf(places, "self", frame)} />
					<path class="others" d={lineOf(others, "self", frame)} />
				</svg>
				<div class="trend-times" aria-hidden="true">
					<span>{formatMinute(basis.from)}</span>
					<span>{formatMinute(basis.to)}</span>
				</div>
			</div>
			{pointed && at && (
				<Tip x={pointed.x} y={pointed.y}>
					<strong>{formatMinute(new Date(1000 * (at.at - at.lengthS / 2)).toISOString())}</strong>
					<ShareLines place={at} />
					{other && <ShareLines place={other} prefix={say("otherDevices")} />}
				</Tip>
			)}
		</div>
	);
}

export function Chosen({ q, bases }: { q: Question; bases: Bases }) {
	const { name, object, base } = q.state;
	const loaded = useTrends(q, bases);
	const trends = loaded.value?.after.name === name ? loaded.value : undefined;
	return (
		<section class="trend" aria-label={say("trendOf", { name: plain(name) })} aria-busy={loaded.waiting}>
			<div class="trend-head">
				<strong>
					<Name text={name} />
				</strong>
				{object && (
					<small class="object">
						<Name text={object} />
					</small>
				)}
				<span class="quiet-note">
					{say("trend")}
					{q.state.process && ` (${say("trendFleet")})`}
				</span>
				<span class="key self">{say("self")}</span>
				<span class="key total">{say("total")}</span>
				{base === "devices" && q.compared && <span class="key others">{say("otherDevices")}</span>}
				<button
					type="button"
					class="close"
					aria-label={say("closeTrend")}
					title={say("closeTrend")}
					onClick={() => change({ name: "", object: "" })}
				>
					×
				</button>
			</div>
			{loaded.error ? <Problem error={loaded.error} retry={loaded.again} /> : null}
			{trends && !trends.after.points.length && <p class="quiet">{say("noPoints")}</p>}
			{trends && trends.after.points.length > 0 && <Picture q={q} bases={bases} trends={trends} />}
		</section>
	);
}
