// SPDX-License-Identifier: MIT
// moment_input: a moment of real time, typed by the viewer's clock; seconds since 1970 outside of it.

/** As the browser's own field has it: the viewer's clock, to the minute. */
export function formatField(seconds: number): string {
	const date = new Date(1000 * seconds);
	const two = (n: number): string => String(n).padStart(2, "0");
	const day = `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
	return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Null: it is no moment. */
export function parseField(text: string): number | null {
	const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? new Date(text).getTime() : Number.NaN;
	return Number.isNaN(ms) || ms < 0 ? null : Math.floor(ms / 1000);
}

export function MomentInput(props: { label: string; value: number; choose: (seconds: number) => void }) {
	return (
		<label>
			{props.label}{" "}
			<input
				type="datetime-local"
				value={formatField(props.value)}
				onChange={(e) => {
					const seconds = parseField(e.currentTarget.value);
					if (seconds !== null) props.choose(seconds);
				}}
			/>
		</label>
	);
}
