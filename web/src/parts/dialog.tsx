// SPDX-License-Identifier: MIT
// dialog: a modal window by the browser's own <dialog>: it keeps the focus inside and Escape closes it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { say } from "../app/words";

export function Dialog(props: { title: string; close: () => void; children: ComponentChildren }) {
	const element = useRef<HTMLDialogElement>(null);
	useEffect(() => element.current?.showModal(), []);
	return (
		<dialog ref={element} onClose={props.close} aria-label={props.title}>
			<form method="dialog" class="dialog-head">
				<h2>{props.title}</h2>
				<button aria-label={say("close")} title={say("close")}>
					×
				</button>
			</form>
			{props.children}
		</dialog>
	);
}

/** A question before something is done to a device; `children` says what will happen. */
export function Confirm(props: {
	title: string;
	action: string;
	run: () => void;
	close: () => void;
	children: ComponentChildren;
}) {
	return (
		<Dialog title={props.title} close={props.close}>
			{props.children}
			<div class="buttons">
				<button type="button" onClick={props.close}>
					{say("cancel")}
				</button>
				<button
					type="button"
					class="primary"
					onClick={() => {
						props.run();
						props.close();
					}}
				>
					{props.action}
				</button>
			</div>
		</Dialog>
	);
}
