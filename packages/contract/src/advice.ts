/** A command of ours that a text suggests. It works on a data folder, and only who prints the text knows which one was named. */
export interface SuggestedCommand {
  readonly name: string
  /** What stands behind the name, as it is typed. */
  readonly words: string
}

/** What to do next: text, and the commands in it as values, so that the data folder is put into a command and never into prose. */
export type Advice = readonly (string | SuggestedCommand)[]

/** `suggested("show", "last --all")` */
export const suggested = (name: string, words = ""): SuggestedCommand => ({ name, words })

/** Text with commands in it: ``advice`See its steps with: ${suggested("show", id)}` `` */
export const advice = (texts: TemplateStringsArray, ...values: readonly (string | SuggestedCommand)[]): Advice =>
  texts.flatMap((text, index) => (index < values.length ? [text, values[index]!] : [text]))

/** @param folder the option that names the data folder, as it is typed; nothing where none was named */
export function adviceText(said: string | Advice, folder = ""): string {
  if (typeof said === "string") return said
  return said.map((part) => (typeof part === "string" ? part : commandText(part, folder))).join("")
}

const commandText = ({ name, words }: SuggestedCommand, folder: string): string =>
  ["orangebox", name, folder, words].filter((word) => word !== "").join(" ")
