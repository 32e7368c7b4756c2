import { matchesName } from "../paths/glob.js"

/** Whether what a name stands for holds a secret: by its name it does, it may, or nothing speaks for it. */
export type Holds = "yes" | "maybe" | "no"

/** Files that exist to hold secrets, by their last name. Samples of them, and public halves of keys, hold none. */
const FILE =
  /^(?:\.env(?:rc|\..+)?|.+\.env|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx?|ppk|tfvars|tfstate)|[._]netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.htpasswd|\.dockercfg|\.vault-token|\.\w+_history|(?:[\w-]+[._-])?(?:credentials?|secrets?|passwords?|token)(?:\.\w+)?|service[_-]?account.*\.json|shadow|environ|wallet\.dat|login data|cookies)$/i
const SAMPLE =
  /(?:\.pub|[._-](?:example|sample|template|dist|defaults?|schema)(?:\.\w+)?|\.(?:ts|tsx|js|mjs|py|go|rs|java|rb|md|html|css|c|h|cpp))$/i
/** Folders of which every file counts. */
const FOLDER =
  /(?:^|\/)(?:\.ssh|\.aws|\.gnupg|\.azure|\.kube|\.docker|\.password-store|\.config\/(?:gh|gcloud|op)|\.cargo\/credentials|keychains|run\/secrets)(?:\/|$)/i
const HARMLESS_INSIDE = /(?:^|\/)(?:known_hosts|authorized_keys|config)$|\.pub$/
const KUBE = /(?:^|\/)\.(?:kube|docker|aws)\//

export function holdsSecret(path: string): boolean {
  const name = path.replace(/\/+$/, "").split(/[/\\]/).at(-1) ?? ""
  if (FOLDER.test(path)) return !HARMLESS_INSIDE.test(path) || KUBE.test(path)
  return FILE.test(name) && !SAMPLE.test(name)
}

/** One of each kind, for words that the shell matches against names. */
const KINDS = [
  ".env",
  ".env.local",
  "prod.env",
  "id_rsa",
  "server.key",
  "cert.pem",
  "credentials.json",
  "secrets.yml",
  ".npmrc",
  ".netrc",
  ".ssh",
]

/** A word with wild characters: may it take in such a file? `dist/*` takes what is in `dist`, and that is judged as a whole folder is. */
export function mayMatchSecret(pattern: string): boolean {
  const parts = pattern.split("/")
  const last = parts.at(-1) || parts.at(-2) || ""
  if (/^\*+$/.test(last)) return mayHoldSecrets(parts.slice(0, -1).join("/"))
  return holdsSecret(pattern) || KINDS.some((name) => matchesName(last, name))
}

/** A whole folder: the work tree's root, a home, and what lies above or beside them hold a project's and a person's secrets; a folder below does not by its name. */
export const mayHoldSecrets = (folder: string): boolean =>
  holdsSecret(folder) ||
  /^(?:\.?\/?|(?:\.\.?\/)*\.{0,2}\/?|~[^/]*\/?|\/(?:etc|proc|root|home|users|var|run|opt|srv|mnt)(?:\/[^/]*)?\/?|~\/\.[^/]+\/?)$/i.test(
    folder,
  )

/** Variables of the environment that hold secrets, by their names. */
const VARIABLE =
  /(?:key|token|secret|passw|pwd$|passphrase|credential|auth|private|cookie|session|dsn$|database_url|redis_url|mongo\w*_ur[il]|connection_?string|webhook)/i
const NO_SECRET = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK|XDG_\w+|GIT_AUTHOR_\w+|\w*_(?:PATH|DIR|FILE|ID|NAME)|KEYBOARD\w*)$/

export const isSecretVariable = (name: string): boolean => VARIABLE.test(name) && !NO_SECRET.test(name)

/** Variables that stand unresolved in a word: `$TOKEN`, `${TOKEN:-x}`, `${!name}`. */
export function secretVariableIn(text: string): string | undefined {
  for (const [, bang, name] of text.matchAll(/\$\{?([!#]?)([A-Za-z_]\w*)/g)) {
    if (bang === "!" || (bang === "" && isSecretVariable(name!))) return name
  }
  return undefined
}
