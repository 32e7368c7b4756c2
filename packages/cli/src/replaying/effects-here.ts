import { findConfig } from "@orangebox/recorder"
import type { EffectMap } from "@orangebox/replay"

/** What the configuration found from here says that tools do. */
export function effectsHere(): EffectMap {
  const tools = findConfig(process.cwd())?.config.tools ?? {}
  return Object.fromEntries(Object.entries(tools).flatMap(([name, { effect }]) => (effect ? [[name, effect]] : [])))
}
