import { plural } from "@orangebox/text"
import type { Certificate } from "../generated.js"

type Scope = Certificate["scope"]

const KINDS = { model: "models", tool: "tools", retriever: "retrievers", http: "plain requests" } as const

const WORDS: Record<Scope["compared"][number], string> = {
  recording: "the recording is whole",
  questions: "every question is the recorded one",
  answers: "every answer served is the recorded bytes",
  order: "calls that did not overlap kept their order",
  behaviour_headers: "headers that change an answer",
  addresses: "paths and queries",
  input: "input",
  steps: "steps",
  verdicts: "verdicts and decisions",
  artifacts: "artifacts",
  ending: "how it ended",
  exit_status: "exit status",
  stdout: "stdout",
  final_output: "final output",
  files: "files it changed",
  diff: "and the diff of the two runs is empty",
}

/** What a certificate says in words: what was compared, and by name what was not. */
export function claimOf(
  driver: Certificate["driver"],
  scope: Pick<Scope, "covers" | "compared" | "not_compared" | "tools_executed">,
): Pick<Scope, "says" | "hermetic"> {
  const { covers, compared, not_compared, tools_executed } = scope
  const what = covers.map((kind) => KINDS[kind]).join(", ")
  const facts = compared.map((fact) => WORDS[fact]).join(", ")
  const ran = driver === "engine" ? "no agent ran" : `the agent ran again, ${plural(tools_executed, "tool")} executed`
  const left = not_compared.map(({ what }) => what).join("; ")
  return {
    says: `${what}: ${facts}; ${ran}; not compared: ${left || "nothing"}`,
    hermetic: driver === "sdk" && tools_executed === 0 && covers.length === Object.keys(KINDS).length,
  }
}
