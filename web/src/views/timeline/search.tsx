// SPDX-License-Identifier: MIT
// search: finds a task by name or pid and takes the rows there. Enter goes to the next match, Shift+Enter back.
import { useMemo, useState } from "preact/hooks";
import type { RefObject } from "preact";

import type { Row } from "./layout";
import type { Stage } from "./stage";
import { matcher } from "./tasks";
import { say } from "./words";

export function findRows(rows: readonly Row[], text: string): readonly Row[] {
	if (text.trim() === "") return [];
	const cpu = /^cpu ?(\d+)$/i.exec(text.trim());
	if (cpu) return rows.filter((r) => r.kind === "cpu" && r.number === Number(cpu[1]));
	const matches = matcher(text);
	return rows.filter((r) => (r.kind === "thread" || r.kind === "process") && matches(r.number, r.comm));
}

export function Search(props: {
	stage: Stage;
	input: RefObject<HTMLInputElement>;
	show: (row: Row) => void;
}) {
	const { stage } = props;
	const [text, setText] = useState("");
	const [at, setAt] = useState(-1);
	const layout = stage.layout.value;
	const found = useMemo(() => findRows([...layout.pinned, ...layout.rows], text), [layout, text]);
	const go = (step: number): void => {
		if (!found.length) return;
		const next = (at + step + found.length) % found.length;
		const row = found[next];
		setAt(next);
		if (row) props.show(row);
	};
	return (
		<search class="timeline-search">
			<input
				ref={props.input}
				type="search"
				placeholder={say("search")}
				aria-label={say("search")}
				value={text}
				onInput={(e) => {
					setText(e.currentTarget.value);
					setAt(-1);
				}}
				onKeyDown={(e) => {
					if (e.key === "Enter") go(e.shiftKey ? -1 : 1);
					if (e.key !== "Escape") return;
					/* It ends the typing, not the selection. */
					e.stopPropagation();
					e.currentTarget.blur();
				}}
			/>
			<output aria-live="polite">
				{text.trim() === ""
					? ""
					: found.length
						? say("searchCount", { i: at + 1, n: found.length })
						: say("searchNone")}
			</output>
		</search>
	);
}
