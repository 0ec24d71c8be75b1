// SPDX-License-Identifier: MIT
// perfetto: hands a recording to Perfetto's page in another window of this browser.
//
// It is the only thing that ever leaves for another site, and only when somebody asks for it: the window is
// opened by the click itself, the other page is pinged until it answers, and then it gets the bytes from this page,
// not from the collector. Messages of any other origin are not listened to.

export const PERFETTO = "https://ui.perfetto.dev";
const PING_MS = 100;
const PATIENCE_MS = 60_000;

export type Step = "trace" | "window" | "sent";

/** The window has to be opened within the click, before anything is waited for. */
export function openPerfetto(): Window | null {
	return window.open(PERFETTO);
}

/** Ends when the other page says that it listens. */
function handshake(other: Window): Promise<void> {
	return new Promise((resolve, reject) => {
		const started = performance.now();
		const end = (): void => {
			clearInterval(timer);
			window.removeEventListener("message", hear);
		};
		const hear = (e: MessageEvent): void => {
			if (e.origin !== PERFETTO || e.source !== other || e.data !== "PONG") return;
			end();
			resolve();
		};
		const timer = setInterval(() => {
			if (!other.closed && performance.now() - started < PATIENCE_MS)
				return other.postMessage("PING", PERFETTO);
			end();
			return reject(new Error(other.closed ? "its window was closed" : "its page does not answer"));
		}, PING_MS);
		window.addEventListener("message", hear);
	});
}

export async function sendToPerfetto(
	other: Window,
	title: string,
	fileName: string,
	trace: Promise<Uint8Array>,
	tell: (step: Step) => void,
): Promise<number> {
	tell("trace");
	const bytes = await trace;
	tell("window");
	await handshake(other);
	const { byteLength } = bytes;
	const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + byteLength) as ArrayBuffer;
	other.postMessage({ perfetto: { buffer, title, fileName } }, PERFETTO, [buffer]);
	tell("sent");
	return byteLength;
}
