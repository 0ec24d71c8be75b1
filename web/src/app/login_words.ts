// SPDX-License-Identifier: MIT
// login_words: those of logging in and out.
import { dictionary } from "../words/dictionary";

export const say = dictionary(
	{
		title: "Log in",
		user: "User",
		password: "Password",
		logIn: "Log in",
		logOut: "Log out",
		wrong: "The name or the password is wrong.",
		wait: "Too many tries. Wait a little, then try again.",
		hint: "Users are added on the collector’s machine:",
		view: "may view",
		control: "may control",
		admin: "admin",
		nobody: "nobody",
	},
	{
		title: "ログイン",
		user: "ユーザー名",
		password: "パスワード",
		logIn: "ログイン",
		logOut: "ログアウト",
		wrong: "ユーザー名またはパスワードが違います。",
		wait: "試行回数が多すぎます。しばらく待ってから再試行してください。",
		hint: "ユーザーはコレクタのマシンで追加します:",
		view: "閲覧",
		control: "操作",
		admin: "管理者",
		nobody: "なし",
	},
);
