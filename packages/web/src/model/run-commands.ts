import { shellWord } from "@orangebox/text"

/** The same line stands under a model call, for the usual question. */
export const shortForkCommand = (run: string, step: number): string =>
  `orangebox fork ${shellWord(run)} --at '#${step}' --set model=… -- <command>`

export function forkCommand(given: {
  run: string
  step: number | null
  set: string
  agent: string
  samples: number
  hasControl: boolean
  data: string | null
}): string {
  const parts = ["orangebox fork", shellWord(given.run), `--at '#${given.step}'`]
  for (const one of given.set.split(/\s+/).filter(Boolean)) parts.push(`--set ${shellWord(one)}`)
  if (given.samples > 1) parts.push(`--samples ${given.samples}`)
  if (given.hasControl) parts.push("--control")
  return withAgent(parts, given)
}

export function replayCommand(given: { run: string; agent: string; data: string | null }): string {
  return withAgent(["orangebox replay", shellWord(given.run)], given)
}

function withAgent(parts: string[], { agent, data }: { agent: string; data: string | null }): string {
  if (data !== null) parts.push(`--data ${shellWord(data)}`)
  if (agent.trim() !== "") parts.push(`-- ${agent.trim()}`)
  return parts.join(" ")
}
