import { advice, type RunSignature, suggested, textHash } from "@orangebox/contract"
import { newSigningKey, readSigningKey, signatureText, signEveryRun, signRun } from "@orangebox/reader"
import { plural, safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { writeNewFile } from "../new-file.js"
import { withReader } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { readCertificate } from "../verify/check-certificate.js"

interface SignOptions {
  readonly key?: string
  readonly newKey?: string
  readonly all?: boolean
  readonly certificate?: string
  readonly output?: string
}

export function define(command: Command, session: Session): void {
  command
    .description("Sign runs, so that what is changed, deleted or put in another order later can be seen.")
    .argument("[run]", "the run to sign; it must have ended")
    .option("--key <file>", "the private Ed25519 key to sign with (PEM); default: ORANGEBOX_SIGNING_KEY")
    .option("--all", "every run that has ended and that this key has not signed yet")
    .option("--certificate <file>", "sign this certificate of replay too, if it holds")
    .option("-o, --output <file>", "write the signature to a file as well, to go with an exported run")
    .option("--new-key <file>", "make a pair of keys: the private one here, the public one beside it as FILE.pub")
    .addHelpText(
      "after",
      prose(
        session,
        "A signature covers the run's digest, its gaps and the certificate, and names the one before it: a chain in the data folder. Keep the private key elsewhere, and note the head that is printed: orangebox verify --signed-by KEY.pub --head … then also sees what was cut off at the end. docs/signing.md says what it proves and what not.",
      ),
    )
  bindShell<SignOptions>(command, session, signCommand, [
    ["orangebox sign --new-key ~/audit.pem", "once: a pair of keys"],
    ["orangebox sign last --key ~/audit.pem", "one run"],
    ["orangebox sign --all --key ~/audit.pem", "all that are new; for a nightly job"],
    ["orangebox sign last --key ~/audit.pem -o run.sig", "also as a file beside run.obxrun"],
    ["orangebox verify --signed-by ~/audit.pem.pub", "hold the store against its signatures"],
  ])
}

async function signCommand(
  session: Session,
  options: SignOptions & GlobalOptions,
  address?: string,
): Promise<undefined> {
  if (options.newKey !== undefined) return makeKey(session, options, options.newKey, address)
  if ((address === undefined) === (options.all !== true)) {
    throw wrongUsage("sign takes one run, or --all", advice`${suggested("sign", "last --key FILE")}`)
  }
  if (options.all && (options.output !== undefined || options.certificate !== undefined)) {
    throw wrongUsage("--output and --certificate are about one run", "Name the run instead of --all")
  }
  const path = options.key ?? process.env["ORANGEBOX_SIGNING_KEY"]
  if (path === undefined || path === "") {
    throw wrongUsage("there is no key to sign with", advice`Make one: ${suggested("sign", "--new-key FILE")}`)
  }
  const key = readSigningKey(path)
  const certificate = options.certificate === undefined ? undefined : readCertificate(options.certificate)
  const made = await withReader(session, options, async (reader) =>
    address === undefined ? signEveryRun(reader, key) : [await signRun(reader, address, key, certificate)],
  )
  const [first] = made
  if (options.output !== undefined && first)
    writeNewFile(options.output, [Buffer.from(signatureText(first))], false, 0o644)
  session.terminal.out(options.json ? safeJson(signedJson(made), 2) : signedText(made).join("\n"))
  return undefined
}

function makeKey(
  session: Session,
  options: GlobalOptions & SignOptions,
  path: string,
  address: string | undefined,
): undefined {
  if (address !== undefined || options.all) throw wrongUsage("--new-key signs nothing", "Make the key, then sign")
  const { privatePem, publicPem, id } = newSigningKey()
  writeNewFile(path, [Buffer.from(privatePem)], false)
  writeNewFile(`${path}.pub`, [Buffer.from(publicPem)], false, 0o644)
  session.terminal.out(
    options.json
      ? safeJson({ private_key: path, public_key: `${path}.pub`, key: id }, 2)
      : `key ${id}\n  private  ${path} (keep it away from the machine that records)\n  public   ${path}.pub (for whoever verifies)`,
  )
  return undefined
}

const headOf = (made: readonly RunSignature[]): string | null => {
  const last = made.at(-1)
  return last ? textHash(signatureText(last)) : null
}

const signedJson = (made: readonly RunSignature[]) => ({ signed: made, head: headOf(made) })

function signedText(made: readonly RunSignature[]): string[] {
  if (made.length === 0) return ["nothing new to sign"]
  return [
    ...made.map(
      ({ statement: { run_id, place, digest } }) => `${run_id} is number ${place + 1} of the chain\n  digest ${digest}`,
    ),
    `${plural(made.length, "run")} signed · head ${headOf(made)}`,
  ]
}
