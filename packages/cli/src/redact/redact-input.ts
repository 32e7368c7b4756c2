import { OrangeboxError } from "@orangebox/contract"
import { type Mask, type Ruleset, StreamRedactor } from "@orangebox/redaction"
import { ByteTextDecoder, encodeByteText } from "./byte-text.js"
import { type FoundSecret, StreamExplainer } from "./explain-stream.js"
import { bytesOf, type Input } from "./inputs.js"

export interface InputSummary {
  readonly bytes: number
  /** Bytes that are no UTF-8; they are kept, and text around them is searched. */
  readonly strayBytes: number
  readonly masks: number
}

/** The input as it would be stored, handed on piece by piece. */
export async function redactInput(
  input: Input,
  ruleset: Ruleset,
  write: (bytes: Uint8Array, text: string, masks: readonly Mask[]) => Promise<void> | void,
): Promise<InputSummary> {
  const redactor = new StreamRedactor(ruleset)
  let masked = 0
  const give = async ({ text, masks, failed }: ReturnType<StreamRedactor["push"]>): Promise<void> => {
    if (failed !== undefined) throw failedRule(input.name, failed)
    masked += masks.length
    if (text !== "") await write(encodeByteText(text), text, masks)
  }
  const { bytes, strayBytes } = await eachText(input, async (text, isEnd) => {
    await give(redactor.push(text))
    if (isEnd) await give(redactor.finish())
  })
  return { bytes, strayBytes, masks: masked }
}

/** Everything in the input that would be masked, in order. */
export async function explainInput(
  input: Input,
  ruleset: Ruleset,
  tell: (secret: FoundSecret) => Promise<void> | void,
): Promise<InputSummary> {
  const explainer = new StreamExplainer(ruleset)
  let masks = 0
  const tellAll = async (secrets: readonly FoundSecret[]): Promise<void> => {
    masks += secrets.length
    for (const secret of secrets) await tell(secret)
  }
  const { bytes, strayBytes } = await eachText(input, async (text, isEnd) => {
    await tellAll(explainer.push(text))
    if (isEnd) await tellAll(explainer.finish())
  })
  return { bytes, strayBytes, masks }
}

async function eachText(
  input: Input,
  take: (text: string, isEnd: boolean) => Promise<void>,
): Promise<{ bytes: number; strayBytes: number }> {
  const decoder = new ByteTextDecoder()
  let bytes = 0
  for await (const piece of bytesOf(input)) {
    bytes += piece.length
    await take(decoder.push(piece), false)
  }
  await take(decoder.finish(), true)
  return { bytes, strayBytes: decoder.strayBytes }
}

function failedRule(name: string, failed: string): OrangeboxError {
  return new OrangeboxError("REDACTION_FAILED", {
    what: `a rule broke (${failed}), so the rest of the text is not printed`,
    where: name === "-" ? "stdin" : name,
    next: "A recorder would have stored …redacted… in its place; please report the rule",
  })
}
