import { assignment, passwordLabel } from "./assignment.js"
import { blockScalar } from "./block-scalar.js"
import { commandLine } from "./command-line.js"
import { connectionString } from "./connection-string.js"
import { cookie } from "./cookie.js"
import type { Finder } from "./finder.js"
import { jsonWebKey } from "./json-web-key.js"
import { jwt } from "./jwt.js"
import { kubernetesSecret } from "./kubernetes-secret.js"
import { numberInBase64 } from "./number-base64.js"
import { pgpass } from "./pgpass.js"
import { privateKey } from "./private-key.js"
import { puttyKey } from "./putty-key.js"
import { tableColumn } from "./table-column.js"
import { telegram } from "./telegram.js"

/** What `rules.json` only names, because it takes more than a pattern with predicates to find it. */
export const BUILT_INS: { readonly [id: string]: Finder } = {
  assignment,
  "block-scalar": blockScalar,
  "command-line-password": commandLine,
  "connection-string": connectionString,
  cookie,
  "json-web-key": jsonWebKey,
  jwt,
  "kubernetes-secret": kubernetesSecret,
  "number-base64": numberInBase64,
  "password-label": passwordLabel,
  pgpass,
  "private-key": privateKey,
  "putty-private-key": puttyKey,
  "table-column": tableColumn,
  "telegram-token": telegram,
}
