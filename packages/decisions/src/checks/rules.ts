import type { RuleDefinition } from "./rule.js"
import { commandsAllow, commandsDeny } from "./rules/commands.js"
import { diffMaxLines } from "./rules/diff.js"
import { judgeRule } from "./rules/judge.js"
import { costMax, stepsMax } from "./rules/limits.js"
import { networkDeny } from "./rules/network.js"
import { outputJson, outputMaxChars, outputNoEmoji } from "./rules/output.js"
import { pathsDeny, pathsOnly } from "./rules/paths.js"
import { secretsNone } from "./rules/secrets.js"
import { testsMustPass, testsMustRun } from "./rules/tests.js"
import { toolsDeny } from "./rules/tools.js"
import { trailComplete } from "./rules/trail.js"

/** Every rule there is, in the order in which they are listed. */
export const RULES: readonly RuleDefinition[] = [
  pathsOnly,
  pathsDeny,
  outputJson,
  outputNoEmoji,
  outputMaxChars,
  commandsDeny,
  commandsAllow,
  secretsNone,
  networkDeny,
  diffMaxLines,
  testsMustRun,
  testsMustPass,
  toolsDeny,
  costMax,
  stepsMax,
  trailComplete,
  judgeRule,
]

export const RULE_NAMES: readonly string[] = RULES.map((rule) => rule.name)
