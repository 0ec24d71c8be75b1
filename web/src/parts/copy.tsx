// SPDX-License-Identifier: MIT
// copy: text that can be taken away, with a button that puts it into the clipboard.
//
// Browsers give the clipboard only to pages of https and of this machine. A collector elsewhere may be reached by
// plain http: then the older way is used, which copies what is selected.
import { useEffect, useState } from "preact/hooks";

import { say } from "../app/words";

const SHOWN_MS = 2000;

function copySelected(text: string): boolean {
	const area = document.createElement("textarea");
	area.value = text;
	area.readOnly = true;
	/* Inside an open dialog nothing outside of it can have the focus. */
	(document.querySelector("dialog[open]") ?? document.body).append(area);
	area.select();
	const done = document.execCommand("copy");
	area.remove();
	return done;
}

export async function copyText(text: string): Promise<boolean> {
	try {
		if (navigator.clipboard) {
			await navigator.clipboard.writeText(text);
			return true;
		}
	} catch {
		// Refused, or the page does not have the focus; the older way may still work.
	}
	return copySelected(text);
}

export function CopyButton({ text, label }: { text: string; label?: string }) {
	const [state, setState] = useState<"" | "done" | "failed">("");
	useEffect(() => {
		if (!state) return undefined;
		const timer = setTimeout(() => setState(""), SHOWN_MS);
		return () => clearTimeout(timer);
	}, [state]);
	const copy = (): void => void copyText(text).then((ok) => setState(ok ? "done" : "failed"));
	const words =
		state === "done" ? say("copied") : state === "failed" ? say("notCopied") : (label ?? say("copy"));
	return (
		<button type="button" onClick={copy} aria-live="polite">
			{words}
		</button>
	);
}

/** A command line, and its button. */
export function Command({ text, label }: { text: string; label?: string }) {
	return (
		<div class="command">
			{label && <span class="fine">{label}</span>}
			<code tabIndex={0}>{text}</code>
			<CopyButton text={text} />
		</div>
	);
}
