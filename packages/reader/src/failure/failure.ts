import { type Advice, advice, adviceText, InputError, OrangeboxError, suggested } from "@orangebox/contract"
import { inFolder } from "../answers/placed.js"
import { inWords, systemTroubleIn } from "./system-trouble.js"

/** Codes of other packages that mean the same: the user can put it right by typing something else. */
const INPUT_CODES = new Set([
  "ADDRESS_FORM",
  "CONFIG",
  "FORK_STEP",
  "MASKS_FILE",
  "DIFF_EMPTY_RUN",
  "NO_BEFORE_AFTER",
  "OVERRIDE_PROFILE",
  "REDACTION_RULES",
  "STEP_NUMBER",
  "STORE_CURSOR",
  "STORE_QUERY",
  "SEARCH_QUERY",
  "VARIABLE",
])

/** Whether whoever asked can put it right by asking otherwise. */
export function isBadInput(error: unknown): boolean {
  if (error instanceof OrangeboxError) return error instanceof InputError || INPUT_CODES.has(error.code)
  return systemTroubleIn(error)?.isInput === true
}

export interface Failure {
  readonly code: string
  readonly what: string
  readonly where: string | null
  readonly next: string
}

type FailureStory = Omit<Failure, "next"> & { readonly next: string | Advice }

/**
 * What, where, next: always all that is known, and always a next step. A stack trace tells a user nothing, so it is shown only on demand.
 *
 * @param command whose help is the next step where there is no better one
 * @param data the data folder that was named, which the commands to go on with have to name again
 */
export function failureOf(error: unknown, command?: string, data?: string): Failure {
  const { next, ...story } = storyOf(error, command)
  return { ...story, next: adviceText(next, inFolder(data)) }
}

function storyOf(error: unknown, command: string | undefined): FailureStory {
  const trouble = systemTroubleIn(error)
  if (error instanceof OrangeboxError) {
    const help = `See: orangebox${command === undefined ? "" : ` ${command}`} --help`
    const usual = trouble?.next ?? (isBadInput(error) ? help : advice`See what is wrong with: ${suggested("doctor")}`)
    return { code: error.code, what: inWords(error.what), where: error.where ?? null, next: error.advice ?? usual }
  }
  if (trouble) return { code: "SYSTEM", what: trouble.words, where: trouble.path, next: trouble.next }
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return {
    code: "INTERNAL",
    what: `internal error, this is a bug in orangebox: ${cause.split("\n", 1)[0]}`,
    where: null,
    next: "Run it again with ORANGEBOX_DEBUG=1 to see where it happened, and please report it",
  }
}

/** What is wrong may be quoted from a file that was named by mistake, or from a command line with a key in it. Rules load only where one failed. */
export async function withoutSecrets(failure: Failure): Promise<Failure> {
  const { withoutSecretsIn } = await import("./without-secrets.js")
  return { ...failure, what: withoutSecretsIn(failure.what), next: withoutSecretsIn(failure.next) }
}
