// SPDX-License-Identifier: MIT
// size: how large an element is now, for what is drawn on a canvas.
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export interface Size {
	readonly width: number;
	readonly height: number;
}

export function useSize(element: RefObject<HTMLElement>): Size {
	const [size, setSize] = useState<Size>({ width: 0, height: 0 });
	useLayoutEffect(() => {
		const e = element.current;
		if (!e) return undefined;
		const take = (): void =>
			setSize((old) =>
				old.width === e.clientWidth && old.height === e.clientHeight
					? old
					: { width: e.clientWidth, height: e.clientHeight },
			);
		take();
		const observer = new ResizeObserver(take);
		observer.observe(e);
		return () => observer.disconnect();
	}, [element]);
	return size;
}
