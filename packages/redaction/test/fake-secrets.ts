import { createRuleset } from "../src/index.js"

/** Every fake is put together here, at run time: no scanner that reads this repository should find a key in it. */

export const KEY = new Uint8Array(32).fill(7)
export const ruleset = createRuleset({ key: KEY })

const LOWER = "abcdefghijklmnopqrstuvwxyz"
const DIGITS = "0123456789"
export const ALPHANUMERIC = LOWER + LOWER.toUpperCase() + DIGITS
export const HEX = `${DIGITS}abcdef`
export const LOWER_ALPHANUMERIC = LOWER + DIGITS
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

/** The same characters for the same seed, drawn as by lot. */
export function drawn(length: number, alphabet = ALPHANUMERIC, seed = 1): string {
  let state = seed * 2654435761 + length
  let text = ""
  while (text.length < length) {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0
    text += alphabet[state % alphabet.length]
  }
  return text
}

const base64Url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")
export const fakeJwt = (): string =>
  [base64Url({ alg: "HS256", typ: "JWT" }), base64Url({ sub: "1234", name: "Nobody" }), drawn(43)].join(".")

export function fakePem(lines = 6, label = "RSA PRIVATE"): string {
  const body = Array.from({ length: lines }, (_, i) => drawn(64, `${ALPHANUMERIC}+/`, i + 3))
  return [`-----BEGIN ${label} KEY-----`, ...body, `-----END ${label} KEY-----`].join("\n")
}

/** One fake of each family, by the rule that should find it. */
export const FAKES: { readonly [rule: string]: string } = {
  "anthropic-key": `sk-ant-${"api03"}-${drawn(93)}AA`,
  "openai-key": `sk-${"proj"}-${drawn(74)}T3Blbk${"FJ"}${drawn(74, ALPHANUMERIC, 2)}`,
  "google-api-key": `AIza${"Sy"}${drawn(33)}`,
  "huggingface-token": `hf${"_"}${drawn(34, LOWER + LOWER.toUpperCase())}`,
  "groq-key": `gsk${"_"}${drawn(52)}`,
  "github-token": `ghp${"_"}${drawn(36)}`,
  "github-fine-grained-token": `github${"_pat_"}${drawn(22)}_${drawn(59, ALPHANUMERIC, 4)}`,
  "gitlab-token": `glpat${"-"}${drawn(20)}`,
  "aws-access-key-id": `AK${"IA"}${drawn(16, BASE32)}`,
  "digitalocean-token": `dop${"_v1_"}${drawn(64, HEX)}`,
  "vault-token": `hvs${"."}${drawn(95)}`,
  "slack-token": `xox${"b-"}${drawn(12, "123456789")}-${drawn(12, "123456789", 2)}-${drawn(24)}`,
  "stripe-key": `sk${"_live_"}${drawn(24)}`,
  "npm-token": `npm${"_"}${drawn(36)}`,
  "sendgrid-key": `SG${"."}${drawn(22)}.${drawn(43, ALPHANUMERIC, 2)}`,
  "telegram-token": `${drawn(9, "123456789")}:A${"A"}${drawn(33)}`,
  "password-hash": `$2${"b"}$12$${drawn(53)}`,
  jwt: fakeJwt(),
}
