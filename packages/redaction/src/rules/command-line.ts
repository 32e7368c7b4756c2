import { isMask } from "../mask.js"
import type { Rule } from "../rule.js"
import { beginsWord, isSpace } from "../text-edges.js"
import { isPlaceholder } from "./placeholder.js"
import { isSecretValue } from "./secret-values.js"

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

/** Whose option takes a password: with a space before it, or, with `mysql`, without. */
const PASSWORD_OPTION =
  /(?:sshpass|redis-cli|psexec(?:64)?(?:\.exe)?|smbclient)\b[^\n|;&]{0,120}? -(?:p|a|pw) {1,2}\\{0,3}["']?([^\s"'\\]{6,100})(?=[\s"'\\]|$)|mysql(?:dump|admin|import)?\b[^\n|;&]{0,120}? -p\\{0,3}["']?([^\s"'\\]{6,100})(?=[\s"'\\]|$)/iy

/** `sshpass -p password`, `mysql -ppassword`, `redis-cli -a password`. */
export const commandLinePassword: Rule = {
  id: "command-line-password",
  about: "Passwords in options of well-known programs (sshpass -p, mysql -p…, redis-cli -a)",
  keywords: [
    "sshpass ",
    "redis-cli ",
    "psexec",
    "smbclient ",
    "mysql -",
    "mysqldump -",
    "mysqladmin -",
    "mysqlimport -",
  ],
  patterns: [PASSWORD_OPTION],
  find(text, at) {
    if (!beginsWord(text, at)) return undefined
    PASSWORD_OPTION.lastIndex = at
    const match = PASSWORD_OPTION.exec(text)
    const password = match?.[1] ?? match?.[2]
    if (password === undefined || !isSecretValue(password, "password", "literal")) return undefined
    return { start: PASSWORD_OPTION.lastIndex - password.length, end: PASSWORD_OPTION.lastIndex }
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
