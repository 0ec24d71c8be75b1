// SPDX-License-Identifier: MIT
// language: in which one the page speaks.
import { language, languages, setLanguage, type Language } from "../words/dictionary";
import { say } from "./words";

export function LanguageSelect() {
	return (
		<select
			aria-label={say("language")}
			value={language.value}
			onChange={(e) => setLanguage(e.currentTarget.value as Language)}
		>
			{Object.entries(languages).map(([id, text]) => (
				<option key={id} value={id}>
					{text}
				</option>
			))}
		</select>
	);
}
