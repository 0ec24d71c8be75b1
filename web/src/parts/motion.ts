// SPDX-License-Identifier: MIT
// motion: W A S D while they are held: the picture gathers speed smoothly and comes to rest smoothly. Pure: it is
// told which keys are down and how much time has passed, and says how far to go.

export interface Held {
	left: boolean;
	right: boolean;
	closer: boolean;
	wider: boolean;
}

/** Screens a second; e-folds a second. */
const PAN_MOST = 1.6;
const ZOOM_MOST = 2.6;
/** The share of the way to the wanted speed that is made in a second is 1 - e^-RISE. */
const RISE = 7;
const REST = 0.01;

export class Motion {
	private pan = 0;
	private zoom = 0;

	get isResting(): boolean {
		return this.pan === 0 && this.zoom === 0;
	}

	/** `pan`: share of the span to move by; `zoom`: factor for its length. */
	step(held: Held, seconds: number): { readonly pan: number; readonly zoom: number } {
		const t = Math.min(seconds, 0.1);
		const wantedPan = PAN_MOST * (Number(held.right) - Number(held.left));
		const wantedZoom = ZOOM_MOST * (Number(held.wider) - Number(held.closer));
		const share = 1 - Math.exp(-RISE * t);
		this.pan += (wantedPan - this.pan) * share;
		this.zoom += (wantedZoom - this.zoom) * share;
		if (wantedPan === 0 && Math.abs(this.pan) < REST) this.pan = 0;
		if (wantedZoom === 0 && Math.abs(this.zoom) < REST) this.zoom = 0;
		return { pan: this.pan * t, zoom: Math.exp(this.zoom * t) };
	}

	stop(): void {
		this.pan = 0;
		this.zoom = 0;
	}
}
