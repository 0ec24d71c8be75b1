// SPDX-License-Identifier: MIT
// problem: an error where it belongs, in the collector's own words, with what to do next.
import { Unreachable } from "../api/request";
import { say } from "../app/words";

export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
	const text =
		error instanceof Unreachable
			? say("unreachable")
			: error instanceof Error
				? error.message
				: String(error);
	return (
		<div class="problem" role="alert">
			<strong>{say("failed")}:</strong> <bdi>{text}</bdi>{" "}
			{retry && (
				<button type="button" onClick={retry}>
					{say("retry")}
				</button>
			)}
		</div>
	);
}
