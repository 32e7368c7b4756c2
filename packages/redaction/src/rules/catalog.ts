import type { Rule } from "../rule.js"
import { assignment } from "./assignment.js"
import { AZURE_KEY_RULES } from "./azure-key.js"
import { CHAT_RULES } from "./chat.js"
import { CLOUD_RULES } from "./cloud.js"
import { commandLineLogin, commandLinePassword, netrc } from "./command-line.js"
import { azureConnectionString, connectionString, signedAddress } from "./connection-string.js"
import { DEVELOPER_TOOL_RULES } from "./developer-tools.js"
import { authorizationHeader, basicLogin, bearerToken, cookie } from "./http-credentials.js"
import { jsonWebKey } from "./json-web-key.js"
import { encodedJwt, jwt } from "./jwt.js"
import { kubernetesSecret } from "./kubernetes-secret.js"
import { LLM_RULES } from "./llm.js"
import { numberInBase64 } from "./number-base64.js"
import { PACKAGE_RULES } from "./packages.js"
import { djangoPasswordHash, ldapPasswordHash, passwordHash } from "./password-hash.js"
import { PAYMENT_RULES } from "./payment.js"
import { encodedPrivateKey, privateKey } from "./private-key.js"
import { puttyKey } from "./putty-key.js"
import { SAAS_RULES } from "./saas.js"
import { telegram } from "./telegram.js"
import { VCS_RULES } from "./vcs.js"

/** Secrets known by a form of their own, wherever they stand. No configuration lifts these. */
export const SHAPE_RULES: readonly Rule[] = [
  ...LLM_RULES,
  ...VCS_RULES,
  ...CLOUD_RULES,
  ...AZURE_KEY_RULES,
  ...CHAT_RULES,
  ...PAYMENT_RULES,
  ...PACKAGE_RULES,
  ...SAAS_RULES,
  ...DEVELOPER_TOOL_RULES,
  telegram,
  numberInBase64,
  passwordHash,
  djangoPasswordHash,
  ldapPasswordHash,
  jwt,
  encodedJwt,
  privateKey,
  encodedPrivateKey,
  puttyKey,
  jsonWebKey,
  connectionString,
  azureConnectionString,
  signedAddress,
  bearerToken,
  authorizationHeader,
  basicLogin,
  cookie,
  kubernetesSecret,
  commandLineLogin,
  commandLinePassword,
  netrc,
]

/** Secrets known by what they are called. */
export const NAME_RULES: readonly Rule[] = [assignment]
