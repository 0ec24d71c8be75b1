// SPDX-License-Identifier: MIT
// picture: what is shown, as a file. A view that can draw itself says how while it is there, and the share menu
// of the frame offers it. What is dense is drawn by one function on a Pen (parts/pen.ts): on a canvas for PNG
// and on an SvgPen for SVG, so both are the same picture and no image has to be loaded, which the
// page's security policy would have to allow.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { SvgPen, type Pen } from "../parts/pen";

export interface Picture {
	/** Start of the file's name, without ending; letters, digits, '-' and '_' only survive. */
	readonly name?: () => string;
	readonly png: () => Promise<Blob> | Blob;
	/** A whole SVG document. */
	readonly svg: () => Promise<string> | string;
}

/** Of the view that is shown; null if it has none. */
export const picture = signal<Picture | null>(null);

/** What it returns takes it away again. */
export function registerPicture(p: Picture): () => void {
	picture.value = p;
	return () => {
		if (picture.value === p) picture.value = null;
	};
}

/** The same for a component; `p` must be the same on each call (useMemo, or a constant). */
export function usePicture(p: Picture | null): void {
	useEffect(() => (p ? registerPicture(p) : undefined), [p]);
}

export interface Drawing {
	readonly width: number;
	readonly height: number;
	readonly ground: string;
	readonly draw: (pen: Pen) => void;
}

/** A picture of what one function draws; asked for when it is wanted, so it is as things are then. */
export function pictureOf(drawing: () => Drawing, name?: () => string): Picture {
	return {
		...(name ? { name } : {}),
		png: () => drawPng(drawing(), 2),
		svg: () => drawSvg(drawing()),
	};
}

export function drawSvg(d: Drawing): string {
	const pen = new SvgPen(d.width, d.height);
	pen.fillStyle = d.ground;
	pen.fillRect(0, 0, d.width, d.height);
	d.draw(pen);
	return pen.document();
}

function drawPng(d: Drawing, scale: number): Promise<Blob> {
	const canvas = document.createElement("canvas");
	canvas.width = d.width * scale;
	canvas.height = d.height * scale;
	const pen = canvas.getContext("2d");
	if (!pen) return Promise.reject(new Error("cannot draw the picture: the browser has no canvas"));
	pen.scale(scale, scale);
	pen.fillStyle = d.ground;
	pen.fillRect(0, 0, d.width, d.height);
	d.draw(pen);
	return new Promise((resolve, reject) =>
		canvas.toBlob(
			(blob) => (blob ? resolve(blob) : reject(new Error("cannot draw the picture: it is too large"))),
			"image/png",
		),
	);
}
