// SPDX-License-Identifier: MIT
// login: what somebody sees whom the collector does not know, and, in the head of the page, who one is.
import { useEffect, useState } from "preact/hooks";

import { logIn, logOut, me } from "../api/me";
import { Refused } from "../api/request";
import { Command } from "../parts/copy";
import { Name } from "../parts/name";
import { Problem } from "../parts/problem";
import { LanguageSelect } from "./language";
import "./login.css";
import { say } from "./login_words";

const UNAUTHORIZED = 401;
const TOO_MANY = 429;

function Failure({ error }: { error: unknown }) {
	const status = error instanceof Refused ? error.status : 0;
	if (status !== UNAUTHORIZED && status !== TOO_MANY) return <Problem error={error} />;
	return (
		<p class="problem" role="alert">
			{say(status === TOO_MANY ? "wait" : "wrong")}
		</p>
	);
}

export function Login() {
	const [user, setUser] = useState("");
	const [password, setPassword] = useState("");
	const [error, setError] = useState<unknown>(null);
	const [busy, setBusy] = useState(false);
	useEffect(() => {
		document.title = `${say("title")} – Kiseki`;
	});
	const enter = async (): Promise<void> => {
		setBusy(true);
		setError(null);
		try {
			await logIn(user, password);
		} catch (e) {
			setError(e);
			setPassword("");
			setBusy(false);
		}
	};
	return (
		<main class="login" data-view="login">
			<form
				onSubmit={(e) => {
					e.preventDefault();
					void enter();
				}}
			>
				<h1>
					<span class="brand">Kiseki</span>
				</h1>
				<label>
					{say("user")}
					<input
						type="text"
						autocomplete="username"
						autocapitalize="off"
						spellcheck={false}
						required
						autofocus
						maxLength={63}
						value={user}
						onInput={(e) => setUser(e.currentTarget.value)}
					/>
				</label>
				<label>
					{say("password")}
					<input
						type="password"
						autocomplete="current-password"
						required
						maxLength={511}
						value={password}
						onInput={(e) => setPassword(e.currentTarget.value)}
					/>
				</label>
				{error ? <Failure error={error} /> : null}
				<button class="primary" disabled={busy}>
					{say("logIn")}
				</button>
				<div class="fine">
					{say("hint")} <Command text="kiseki keys user add NAME" />
				</div>
				<LanguageSelect />
			</form>
		</main>
	);
}

/** Nothing, where nobody logs in. */
export function Account() {
	const [error, setError] = useState<unknown>(null);
	const who = me.value;
	if (!who?.user) return null;
	return (
		<span class="account">
			<span title={say(who.role)}>
				<Name text={who.user} />
			</span>
			<button type="button" onClick={() => void logOut().catch(setError)}>
				{say("logOut")}
			</button>
			{error ? <Problem error={error} /> : null}
		</span>
	);
}
