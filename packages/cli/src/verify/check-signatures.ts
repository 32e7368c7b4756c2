import { readFileSync } from "node:fs"
import { InputError, textHash } from "@orangebox/contract"
import {
  type CheckedSignature,
  gapWords,
  locateData,
  readPublicKey,
  readTimeStamp,
  type SignedVerdict,
  signatureText,
  verifySignedRun,
  verifySignedStore,
} from "@orangebox/reader"
import { plural, safeJson, safeText } from "@orangebox/text"
import { EXIT, type ExitCode } from "../exit-code.js"
import { withReader, withRunAt } from "../reading.js"
import type { GlobalOptions, Session } from "../session.js"
import { readCertificate } from "./check-certificate.js"

export interface SignedOptions {
  readonly signedBy?: string
  readonly signature?: string
  readonly head?: string
  readonly certificate?: string
  readonly timeStamp?: string
}

/** Runs against the signatures that were made of them, in the store or in a file, offline. */
export async function checkSignatures(
  session: Session,
  options: SignedOptions & GlobalOptions,
  signedBy: string,
  address: string | undefined,
): Promise<number | undefined> {
  const key = readPublicKey(signedBy)
  const tell = (verdict: SignedVerdict): ExitCode => {
    const asked = [...certificateProblems(options, verdict), ...stampProblems(options, verdict)]
    const isOk = asked.length === 0 && verdict.chain.length === 0 && verdict.checked.every(holds)
    const stamp = options.timeStamp === undefined ? null : stampOf(options.timeStamp).at
    session.terminal.out(
      options.json
        ? safeJson({ ok: isOk, ...verdictJson(verdict), problems: asked, stamped_at: stamp }, 2)
        : [
            ...verdictLines(verdict),
            ...asked.map((problem) => `✗ ${safeText(problem)}`),
            ...stampLines(stamp, isOk),
          ].join("\n"),
    )
    return isOk ? EXIT.fine : EXIT.findings
  }
  if (address === undefined) {
    return withReader(session, options, async (reader) => tell(await verifySignedStore(reader, key, options.head)))
  }
  return withRunAt(session, options, address, async (reading) => {
    const path = options.signature ?? (reading.file ? `${address}.sig` : undefined)
    const signature = path === undefined ? undefined : readSignatureFile(path)
    const folder = reading.store ? locateData(options.data).path : undefined
    return tell(await verifySignedRun(reading, { folder, key, signature }))
  })
}

function readSignatureFile(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (cause) {
    throw new InputError("NO_SIGNATURE", {
      what: "there is no signature to be read",
      where: path,
      next: "Name the file that orangebox sign --output wrote: --signature FILE",
      cause,
    })
  }
}

const holds = ({ problems }: CheckedSignature): boolean => problems.length === 0

function certificateProblems({ certificate }: SignedOptions, { checked }: SignedVerdict): string[] {
  if (certificate === undefined) return []
  const { id } = readCertificate(certificate)
  const isSigned = checked.some((signature) => holds(signature) && signature.entry.statement.certificate === id)
  return isSigned ? [] : [`no signature that holds names the certificate ${id}`]
}

const stampOf = (path: string) => {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    throw new InputError("CANNOT_READ", { what: "the time stamp cannot be read", where: path, cause })
  }
  return readTimeStamp(bytes, path)
}

function stampProblems({ timeStamp }: SignedOptions, { checked }: SignedVerdict): string[] {
  if (timeStamp === undefined) return []
  const { imprint } = stampOf(timeStamp)
  const isStamped = checked.some(({ entry }) => textHash(signatureText(entry)) === `sha256:${imprint}`)
  return isStamped ? [] : ["the time stamp is of something else than a signature named here"]
}

const stampLines = (at: string | null, isOk: boolean): string[] =>
  at === null || !isOk
    ? []
    : [`· stamped ${at}; whether the authority is one you trust is not looked at: openssl ts -verify does that`]

function verdictLines({ checked, chain, byOthers, head }: SignedVerdict): string[] {
  const broken = checked.filter((signature) => !holds(signature)).length + chain.length
  return [
    ...checked.flatMap(({ entry: { statement }, problems }) =>
      problems.length === 0
        ? [`= ${statement.run_id} is what was signed ${statement.signed_at} · gaps ${gapWords(statement.gaps)}`]
        : problems.map((problem) => `✗ ${statement.run_id} ${safeText(problem)}`),
    ),
    ...chain.map((problem) => `✗ ${safeText(problem)}`),
    ...(byOthers > 0 ? [`· ${plural(byOthers, "signature")} by other keys, not looked at`] : []),
    `${plural(checked.length, "signature")} checked, ${plural(broken, "finding")}${head === null ? "" : ` · head ${head}`}`,
  ]
}

const verdictJson = ({ checked, chain, byOthers, head }: SignedVerdict) => ({
  signatures: checked.map(({ entry, problems }) => ({ ...entry, problems })),
  chain_problems: chain,
  by_other_keys: byOthers,
  head,
})
