// SPDX-License-Identifier: MIT
// tip: figures beside the pointer, never outside the window and never under the pointer.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

const AWAY_PX = 14;

/** Where something of a size goes so that all of it can be seen. */
export function placeBeside(at: number, size: number, room: number): number {
	const after = at + AWAY_PX;
	if (after + size <= room) return after;
	return Math.max(0, Math.min(at - AWAY_PX - size, room - size));
}

export function Tip({ x, y, children }: { x: number; y: number; children: ComponentChildren }) {
	const element = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const e = element.current;
		if (!e) return;
		e.style.setProperty("left", `${placeBeside(x, e.offsetWidth, innerWidth)}px`);
		e.style.setProperty("top", `${placeBeside(y, e.offsetHeight, innerHeight)}px`);
	});
	return (
		<div class="tip" role="tooltip" ref={element}>
			{children}
		</div>
	);
}
