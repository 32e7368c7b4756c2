import { advice, suggested } from "@orangebox/contract"
import { type StoreVerdict, verifyAt, verifyStore } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { withReading, withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { checkCertificate } from "../verify/check-certificate.js"
import { checkSignatures, type SignedOptions } from "../verify/check-signatures.js"
import { isSound, verdictJson, verdictText } from "../verify/format-verdict.js"

interface VerifyOptions extends SignedOptions {
  readonly digest?: string
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Check recorded runs against every rule of the contract, their bodies against their hashes, and print digests.",
    )
    .argument("[run]", "one run, or an exported file; without it all runs, the database and every body")
    .option("--digest <sha256>", "prove that the run is what it was when it printed this digest")
    .option(
      "--certificate <file>",
      "check a certificate of replay: every field of it is worked out again from its recordings",
    )
    .option("--signed-by <key>", "hold runs against the signatures of this public key (docs/signing.md)")
    .option("--signature <file>", "with --signed-by: the signature of an exported file; default: FILE.sig beside it")
    .option("--head <sha256>", "with --signed-by: the end of the chain when you last looked")
    .option("--time-stamp <file>", "with --signed-by: an RFC 3161 time stamp of the signature's file")
    .addHelpText(
      "after",
      prose(
        session,
        "Exits with 1 when something is wrong: also when the trail of a run has holes, such as a call without its prompt or a tool without its result.\nOpen and crashed runs are reported as open; that is not an error. What may have gone past the recorder is told, and is none either.",
      ),
    )
  bindShell<VerifyOptions>(command, session, verify, [
    ["orangebox verify", "everything"],
    ["orangebox verify last", "one run"],
    ["orangebox verify ./run.obxrun", "an exported file is whole, and says where it is not"],
    ["orangebox verify run_01JT9 --digest sha256:08da…", "nothing was changed since"],
    ["orangebox verify --signed-by audit.pem.pub", "everything that was signed is as it was"],
    ["orangebox verify run.obxrun --signed-by audit.pem.pub", "the same of a file, offline"],
    ["orangebox verify --certificate proof.json", "what it says of a run and its replay holds"],
  ])
}

async function verify(
  session: Session,
  options: VerifyOptions & GlobalOptions,
  address?: string,
): Promise<number | undefined> {
  if (options.signedBy !== undefined) {
    if (options.digest !== undefined)
      throw wrongUsage("--digest and --signed-by are two questions", "Ask them one by one")
    return checkSignatures(session, options, options.signedBy, address)
  }
  const alone = (["signature", "head", "timeStamp"] as const).find((name) => options[name] !== undefined)
  if (alone !== undefined) {
    throw wrongUsage("signatures are looked at only with --signed-by", "Name the signer's public key: --signed-by FILE")
  }
  if (options.certificate !== undefined) {
    if (options.digest !== undefined)
      throw wrongUsage("--digest and --certificate are two questions", "Ask them one by one")
    return checkCertificate(session, options, options.certificate, address)
  }
  const expected = options.digest === undefined ? undefined : parseDigest(options.digest)
  if (expected !== undefined && address === undefined) {
    throw wrongUsage("--digest is about one run", advice`Name the run: ${suggested("verify", "last --digest …")}`)
  }
  const tell = (verdict: StoreVerdict, freshness: object): ExitCode => {
    const changed = verdict.runs.filter(({ digest }) => expected !== undefined && digest !== expected)
    const isOk = changed.length === 0 && verdict.findings.length === 0 && verdict.runs.every(isSound)
    session.terminal.out(
      options.json
        ? safeJson({ ok: isOk, ...verdictJson(verdict, expected), ...freshness }, 2)
        : verdictText(verdict, expected, session.terminal),
    )
    return isOk ? EXIT.fine : EXIT.findings
  }
  if (address !== undefined) {
    return withRunAt(session, options, address, async (reading) =>
      tell({ runs: [await verifyAt(reading)], findings: [] }, reading.freshness),
    )
  }
  return withReading(session, options, async ({ store, caughtUp, freshness }) => {
    const { update: onProgress } = session.terminal.progress
    onProgress(0, undefined, "verifying")
    return tell(await verifyStore(store, caughtUp, { onProgress }), freshness)
  })
}

function parseDigest(text: string): string {
  const digits = text.replace(/^sha256:/i, "").toLowerCase()
  if (/^[0-9a-f]{64}$/.test(digits)) return `sha256:${digits}`
  throw wrongUsage("a digest is sha256: and 64 hex digits", "Copy the whole last line that orangebox show prints")
}
