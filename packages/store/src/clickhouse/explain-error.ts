import { OrangeboxError } from "@orangebox/contract"
import type { ClickhouseSettings } from "./settings.js"

type Story = readonly [code: string, what: string, next: string]

const KEPT = "Nothing is lost: the journals are kept and read again"

/** What the server's error numbers mean here. */
const BY_NUMBER: Readonly<Record<string, Story>> = {
  516: ["STORE_DENIED", "the server refuses this user or password", `Correct store.user or the password. ${KEPT}`],
  193: ["STORE_DENIED", "the server refuses this password", `Correct the password. ${KEPT}`],
  194: ["STORE_DENIED", "the server refuses this user or password", `Correct store.user or the password. ${KEPT}`],
  192: ["STORE_DENIED", "the server knows no such user", `Correct store.user. ${KEPT}`],
  497: ["STORE_DENIED", "the user may not do this there", `Grant it, as docs/fleet.md shows. ${KEPT}`],
  81: ["STORE_NO_DATABASE", "the server has no such database", `Make it with: orangebox store migrate. ${KEPT}`],
  60: ["STORE_NO_DATABASE", "the database has no such table", `Make it with: orangebox store migrate. ${KEPT}`],
  201: ["STORE_QUOTA", "the user's quota on the server is used up", `Raise it or wait. ${KEPT}`],
  202: ["STORE_QUOTA", "the server runs too many queries at once", `Wait. ${KEPT}`],
  241: ["STORE_QUOTA", "the server has no memory left for this", `Ask for less, or give it more. ${KEPT}`],
  243: ["STORE_FULL", "the server's disk is full", `Free some space or prune. ${KEPT}`],
  252: ["STORE_QUOTA", "the server is behind with merging and takes nothing for a while", `Wait. ${KEPT}`],
  242: ["STORE_READ_ONLY", "the tables are read only at the moment", `Wait, or look at the cluster's Keeper. ${KEPT}`],
  159: ["STORE_SLOW", "the server did not finish in time", `Ask for less, or wait. ${KEPT}`],
  164: ["STORE_READ_SQL", "only reading statements are allowed here", "Start with SELECT or WITH"],
  160: ["STORE_SLOW", "the server says this would take too long", "Ask for less"],
}

const BY_ERRNO: Readonly<Record<string, Story>> = {
  ECONNREFUSED: ["STORE_AWAY", "nothing answers at this address", `Start the server, or correct store.url. ${KEPT}`],
  ENOTFOUND: ["STORE_AWAY", "there is no host of this name", `Correct store.url. ${KEPT}`],
  ECONNRESET: ["STORE_AWAY", "the connection broke off", KEPT],
  EPIPE: ["STORE_AWAY", "the connection broke off", KEPT],
  ETIMEDOUT: ["STORE_AWAY", "the server does not answer", KEPT],
  EAI_AGAIN: ["STORE_AWAY", "the name of the host cannot be looked up at the moment", KEPT],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "STORE_TLS",
    "the server's certificate is for another name",
    `Use the name in the certificate as store.url. ${KEPT}`,
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    "STORE_TLS",
    "the server's certificate is signed by nobody known",
    `Name its authority in store.caFile. ${KEPT}`,
  ],
  SELF_SIGNED_CERT_IN_CHAIN: [
    "STORE_TLS",
    "the server's certificate is signed by nobody known",
    `Name its authority in store.caFile. ${KEPT}`,
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    "STORE_TLS",
    "the server's certificate is signed by nobody known",
    `Name its authority in store.caFile. ${KEPT}`,
  ],
  CERT_HAS_EXPIRED: ["STORE_TLS", "the server's certificate has expired", `Renew it. ${KEPT}`],
}

/**
 * What went wrong, as what it means. The server quotes the values it chokes on, and those are recorded text: of its own words only the name of the
 * error is passed on.
 */
export function explained(error: unknown, { url, database }: ClickhouseSettings): OrangeboxError {
  if (error instanceof OrangeboxError) return error
  const { code, type, message } = partsOf(error)
  const where = `${url} (database ${database})`
  const story = BY_NUMBER[code] ?? BY_ERRNO[code] ?? (/timeout/i.test(message) ? BY_ERRNO["ETIMEDOUT"] : undefined)
  if (story !== undefined) {
    const [ours, what, next] = story
    return new OrangeboxError(ours, { what, where, next })
  }
  if (/socket hang up|aborted|fetch failed|network/i.test(message)) {
    return new OrangeboxError("STORE_AWAY", { what: "the connection broke off", where, next: KEPT })
  }
  return new OrangeboxError("STORE_SERVER", {
    what: `the server reports ${type === "" ? "an error" : type}${code === "" ? "" : ` (${code})`}: ${withoutValues(message)}`,
    where,
    next: KEPT,
  })
}

function partsOf(error: unknown): { code: string; type: string; message: string } {
  const given = error as { code?: unknown; type?: unknown; message?: unknown; cause?: { code?: unknown } } | undefined
  const code = given?.code ?? given?.cause?.code
  return {
    code: code === undefined ? "" : String(code),
    type: typeof given?.type === "string" ? given.type : "",
    message: typeof given?.message === "string" ? given.message : "",
  }
}

/** A message of the server without anything it quotes, and without the statement it repeats. */
export function withoutValues(message: string): string {
  const first = message.split(/\n|: While executing|: In scope|\(query: |: while /)[0]!.slice(0, 400)
  return first
    .replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/g, "‹…›")
    .replaceAll(/\b\d{5,}\b/g, "‹…›")
    .replace(/(Cannot parse (?:input|string)).*$/s, "$1")
}
