// SPDX-License-Identifier: MIT
// event_follow: the end of a run that goes on. While it is followed, new events come at the end and the list stays there;
// whoever scrolls up, chooses an event or goes elsewhere ends that, and the button begins it again.
//
// The collector is asked a few times a second, less often if its answers take long, and not at all while the device
// has sent nothing.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { deviceOf } from "../../api/devices";
import type { Device, Run } from "../../api/schema";
import { address, addressOf, setParams } from "../../app/address";
import { formatCount } from "../../parts/format";
import { ROW_PX } from "../../parts/table";
import type { Visible } from "../../parts/visible";
import type { Loader } from "./event_loader";
import { say } from "./words";

const PAUSE_MS = 250;
const SHARE = 4; /* for each millisecond that an answer took, so many of pause */
const NEAR_END_PX = 2 * ROW_PX;

export function isFollowing(): boolean {
	return address.value.params.get("follow") === "1";
}

/** The device whose run goes on; undefined: it does not. */
export function liveDevice(run: Run): Device | undefined {
	const device = deviceOf(run.device_id);
	return device?.run === run.run ? device : undefined;
}

/** A range would keep what is new out of sight, so it goes. */
export function startFollowing(): void {
	setParams({ follow: 1, ev: null, from: null, to: null, mark: null });
}

export function stopFollowing(): void {
	if (isFollowing()) setParams({ follow: null });
}

function isAtEnd(box: HTMLElement): boolean {
	return box.scrollHeight - box.clientHeight - box.scrollTop <= NEAR_END_PX;
}

/** Asks for what is new, as long as it is wanted; `begin` shows the end at first. */
export function useFollowing(run: Run, loader: Loader, begin: () => void): void {
	const follow = isFollowing();
	const events = liveDevice(run)?.received.events ?? 0;
	const sent = useRef(events);
	sent.current = events;
	useEffect(() => {
		if (!follow) return undefined;
		let timer = 0;
		let over = false;
		let seen = -1;
		const tick = async (): Promise<void> => {
			const began = performance.now();
			if (sent.current !== seen && !document.hidden) {
				const now = sent.current;
				const more = await loader.extend(() => !over && isFollowing());
				if (!more) seen = now;
			}
			if (over) return;
			timer = window.setTimeout(() => void tick(), Math.max(PAUSE_MS, SHARE * (performance.now() - began)));
		};
		begin();
		timer = window.setTimeout(() => void tick(), PAUSE_MS);
		return () => {
			over = true;
			clearTimeout(timer);
		};
	}, [follow, run.run]);
}

export interface EndKeeping {
	readonly onScroll: () => void;
	readonly onWheel: (e: WheelEvent) => void;
}

/** Keeps the end in sight, whatever changes the size of the list or of its box, until somebody scrolls up. */
export function useEnd(seen: Visible): EndKeeping {
	useLayoutEffect(() => {
		const box = seen.box.current;
		if (!box || !isFollowing() || isAtEnd(box)) return;
		box.scrollTop = box.scrollHeight;
		seen.onScroll();
	});
	return {
		onScroll: () => {
			if (seen.box.current && !isAtEnd(seen.box.current)) stopFollowing();
			seen.onScroll();
		},
		/* At once: the next events would take the list back before the browser has scrolled it. */
		onWheel: (e) => {
			const box = seen.box.current;
			if (e.deltaY < 0 && box && box.scrollHeight > box.clientHeight) stopFollowing();
		},
	};
}

function stateText(device: Device | undefined): string {
	if (!device) return isFollowing() ? say("ended") : "";
	if (!device.online) return say("followAway");
	return isFollowing() ? say("following", { rate: formatCount(device.received.events_per_s) }) : "";
}

/** The recording that the device makes by now, if it is another one: also one that began before this. */
function newerRun(run: Run): number | null {
	const now = deviceOf(run.device_id)?.run ?? null;
	return now !== run.run ? now : null;
}

export function FollowButton({ run }: { run: Run }) {
	const device = liveDevice(run);
	const follow = isFollowing();
	const newer = newerRun(run);
	return (
		<>
			<button
				type="button"
				class={follow ? "primary" : ""}
				aria-pressed={follow}
				disabled={!device && !follow}
				title={device ? say("followHint") : say("notLive")}
				onClick={() => (follow ? stopFollowing() : startFollowing())}
			>
				{say("follow")}
			</button>
			<span class="fine" role="status" data-follow={follow}>
				{stateText(device)}
			</span>
			{newer !== null && (
				<a href={addressOf("log", { run: newer, follow: 1, from: null, to: null, mark: null, sel: null })}>
					{say("newer", { run: newer })}
				</a>
			)}
		</>
	);
}
