// SPDX-License-Identifier: MIT
// download: something that was made in the page, as a file.

const KEPT_MS = 60_000; /* the browser may still be reading it */

export function download(blob: Blob, name: string): void {
	const url = URL.createObjectURL(blob);
	const a = document.createElement("a");
	a.href = url;
	a.download = name;
	/* Inside an open dialog, where there is one: nothing outside of it can be clicked. */
	(document.querySelector("dialog[open]") ?? document.body).append(a);
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
