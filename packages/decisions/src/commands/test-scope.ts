import type { TestRun } from "../action.js"
import type { SimpleCommand } from "../shell/index.js"

/** Options that pick tests by name. */
const PICKS =
  /^(?:-k|-t|-m|-g|--grep|--filter|-run|--run|--testNamePattern|--test-name-pattern|--testPathPattern|-p|--package|--tests|-Dtest|--only|--spec)(?:=(.*))?$/
/** Words that say what to do with tests, not which. */
const VERBS = /^(?:run|run-script|test|tests|t|check|nextest|exec|pytest|unittest|verify|install|package|build|--)$/

/** Which tests a command runs: what its words pick out, with the folder it runs in. */
export function testScopeOf({ words, cwds }: SimpleCommand): readonly string[] {
  const scope: string[] = []
  for (let at = 1; at < words.length; at++) {
    const { text } = words[at]!
    const pick = PICKS.exec(text)
    // `python -m pytest`: a module, not a mark.
    if (pick !== null && !(text === "-m" && VERBS.test(words[at + 1]?.text ?? ""))) {
      // vitest and jest say `--run` alone.
      const value = pick[1] ?? (text === "--run" ? undefined : words[++at]?.text)
      if (value !== undefined) scope.push(`${text.split("=")[0]} ${value}`)
    } else if (!text.startsWith("-") && !VERBS.test(text) && text !== "./..." && text !== ".")
      scope.push(text.replace(/^\.\//, ""))
  }
  const [folder = ""] = cwds ?? []
  if (folder === "") return scope
  return scope.length === 0 ? [`${folder}/`] : scope.map((one) => `${folder}/${one}`)
}

/** Whether a later run has run the tests of an earlier one again: by the same runner, all there are, or those and perhaps more. */
export function runsAgain(later: TestRun, earlier: TestRun): boolean {
  if (later.runner !== earlier.runner) return later.command === earlier.command
  if (later.scope.length === 0) return true
  const covers = (asked: string): boolean =>
    later.scope.some((one) => one === asked || asked.startsWith(`${one.replace(/\/$/, "")}/`))
  return earlier.scope.length > 0 && earlier.scope.every(covers)
}
