import { assignment } from "./assignment.js"
import { connectionString } from "./connection-string.js"
import { cookie } from "./cookie.js"
import type { Finder } from "./finder.js"
import { jsonWebKey } from "./json-web-key.js"
import { encodedJwt, jwt } from "./jwt.js"
import { kubernetesSecret } from "./kubernetes-secret.js"
import { numberInBase64 } from "./number-base64.js"
import { encodedPrivateKey, privateKey } from "./private-key.js"
import { puttyKey } from "./putty-key.js"
import { telegram } from "./telegram.js"

/** What `rules.json` only names, because it takes more than a pattern with predicates to find it. */
export const BUILT_INS: { readonly [id: string]: Finder } = {
  assignment,
  "connection-string": connectionString,
  cookie,
  "json-web-key": jsonWebKey,
  jwt,
  "jwt-base64": encodedJwt,
  "kubernetes-secret": kubernetesSecret,
  "number-base64": numberInBase64,
  "private-key": privateKey,
  "private-key-base64": encodedPrivateKey,
  "putty-private-key": puttyKey,
  "telegram-token": telegram,
}
