import { readFileSync } from "node:fs"

export const SKILL = "orangebox-debugger"

/** The skill for a debugging agent, as it ships with the command. */
export const debuggerSkill = (): string => readFileSync(new URL(`../skills/${SKILL}/SKILL.md`, import.meta.url), "utf8")
