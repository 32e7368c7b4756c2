import { isMask } from "../mask.js"
import type { Rule } from "../rule.js"
import { isSpace } from "../text-edges.js"
import { isPlaceholder } from "./placeholder.js"

const LOGIN = /(?:-u|--user)(?: {1,3}|=)\\{0,3}["']?([\w.@-]{1,80}):\\{0,3}["']?([^\s"'\\]{4,200})/y

/** `curl -u name:password`. Two numbers are a user and a group, not a login. */
export const commandLineLogin: Rule = {
  id: "command-line-login",
  about: "Logins on command lines (curl -u name:password)",
  keywords: ["-u ", "--user"],
  patterns: [LOGIN],
  find(text, at) {
    if (at > 0 && !isSpace(text.charCodeAt(at - 1)) && !/["'\\nt]/.test(text.charAt(at - 1))) return undefined
    LOGIN.lastIndex = at
    const password = LOGIN.exec(text)?.[2]
    if (password === undefined || isMask(password) || isPlaceholder(password)) return undefined
    const isWord = !/\d/.test(password) && !(/[a-z][A-Z]/.test(password) && password.length >= 10)
    if (isWord || !/[A-Za-z]/.test(password)) return undefined
    return { start: LOGIN.lastIndex - password.length, end: LOGIN.lastIndex }
  },
}

const NETRC = /machine\s{1,8}[\w.-]{1,100}\s{1,8}login\s{1,8}(\S{1,100})\s{1,8}password\s{1,8}(\S{1,200})/y

/** A line of a .netrc file. */
export const netrc: Rule = {
  id: "netrc",
  about: "Passwords in .netrc files",
  keywords: ["machine "],
  patterns: [NETRC],
  find(text, at) {
    NETRC.lastIndex = at
    const password = NETRC.exec(text)?.[2]
    if (password === undefined || isMask(password) || isPlaceholder(password)) return undefined
    return { start: NETRC.lastIndex - password.length, end: NETRC.lastIndex }
  },
}
