// SPDX-License-Identifier: MIT
// visible: which rows of a long list are in sight, for lists of rows of one height that are drawn only where somebody
// looks. The element's size is watched, because a panel beside it may open and the window may turn.
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

const BEYOND = 8; /* rows that are kept above and below what is in sight */

export interface Visible {
	readonly from: number;
	readonly to: number;
	readonly box: { readonly current: HTMLDivElement | null };
	readonly onScroll: () => void;
	/** Scrolls as little as is needed to have the row in sight. */
	readonly reveal: (row: number) => void;
}

export function useVisible(rows: number, rowPx: number, headPx: number): Visible {
	const box = useRef<HTMLDivElement>(null);
	const [seen, setSeen] = useState({ top: 0, height: 600 });
	const look = useCallback(() => {
		const e = box.current;
		if (e) setSeen({ top: e.scrollTop, height: e.clientHeight });
	}, []);
	useLayoutEffect(() => {
		if (!box.current) return undefined;
		const watch = new ResizeObserver(look);
		watch.observe(box.current);
		return () => watch.disconnect();
	}, [look]);
	const reveal = useCallback(
		(row: number) => {
			const e = box.current;
			if (!e) return;
			const top = row * rowPx;
			if (top < e.scrollTop) e.scrollTop = top;
			else if (top + rowPx > e.scrollTop + e.clientHeight - headPx)
				e.scrollTop = top + rowPx - e.clientHeight + headPx;
		},
		[rowPx, headPx],
	);
	return {
		from: Math.min(rows, Math.max(0, Math.floor(seen.top / rowPx) - BEYOND)),
		to: Math.min(rows, Math.ceil((seen.top + seen.height) / rowPx) + BEYOND),
		box,
		onScroll: look,
		reveal,
	};
}
