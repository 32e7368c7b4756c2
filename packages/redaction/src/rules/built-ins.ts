import { assignment } from "./assignment.js"
import { blockScalar } from "./block-scalar.js"
import { connectionString } from "./connection-string.js"
import { cookie } from "./cookie.js"
import type { Finder } from "./finder.js"
import { jsonWebKey } from "./json-web-key.js"
import { jwt } from "./jwt.js"
import { kubernetesSecret } from "./kubernetes-secret.js"
import { numberInBase64 } from "./number-base64.js"
import { privateKey } from "./private-key.js"
import { puttyKey } from "./putty-key.js"
import { telegram } from "./telegram.js"

/** What `rules.json` only names, because it takes more than a pattern with predicates to find it. */
export const BUILT_INS: { readonly [id: string]: Finder } = {
  assignment,
  "block-scalar": blockScalar,
  "connection-string": connectionString,
  cookie,
  "json-web-key": jsonWebKey,
  jwt,
  "kubernetes-secret": kubernetesSecret,
  "number-base64": numberInBase64,
  "private-key": privateKey,
  "putty-private-key": puttyKey,
  "telegram-token": telegram,
}
