import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseRule } from "../../src/checks/parse-rule.js"
import { RULE_NAMES } from "../../src/checks/rules.js"
import { describeRuleProblem, inferConstraints, type RuleProblem } from "../../src/index.js"

function problemOf(rule: string): RuleProblem {
  const reading = parseRule(rule)
  if (!("problem" in reading)) throw new Error(`${rule} was read`)
  return reading.problem
}

describe("the rule language", () => {
  test.each([
    ["paths.only src/**"],
    ["paths.only: src/** , tests/**"],
    ["paths.deny \"a folder with blanks/**\" 'another'"],
    ["  output.json  "],
    ['output.json {"type": "object"}'],
    ['commands.deny "git push", "rm -rf"'],
    ["paths.deny {infra,ci}/** [a-z]*.pem"],
    ["network.deny"],
    ["network.deny allow=api.github.com allow=*.npmjs.org"],
    ["cost.max $2.50"],
    ["output.max_chars 10_000"],
    ["tests.must_run"],
    ['judge:tone "is it friendly?"'],
  ])("[E-02] %j is a rule", (rule) => {
    expect(parseRule(rule)).toHaveProperty("rule")
  })

  test.each([
    ["", 0, "it is empty"],
    ["path.only src/**", 0, "there is no rule path.only"],
    ["paths.only", 10, "a path pattern is missing"],
    ["paths.only src/** acess=any", 18, "the rule has no option acess; it has access"],
    ["paths.only src/** access=all", 18, "access is any or write"],
    ['commands.deny "git push', 14, "a quote is not closed"],
    ["output.max_chars many", 17, "the number of characters is not a number"],
    ["output.max_chars 1 2", 19, "only the number of characters is expected"],
    ["output.no_emoji please", 16, "the rule takes no arguments"],
    ['output.json {"type":"objekt"}', 12, "the schema cannot be used: /type names no type"],
    [
      'output.json {"pattern":"x"}',
      12,
      "the schema cannot be used: /pattern is not among the keywords that are understood",
    ],
    ["network.deny evil.org", 13, "hosts are given as allow=<host>"],
    ["tests.must_run after=lunch", 15, "after is edits"],
    ["judge:a/b", 6, "a judge's name is letters, digits, dots and dashes"],
  ])("[E-02] %j cannot be read: the problem names place and reason", (rule, position, reason) => {
    expect(problemOf(rule)).toMatchObject({ rule, position, reason, knownRules: RULE_NAMES })
  })

  test("[E-02] a misspelt rule is told what was probably meant, and which rules there are", () => {
    expect(problemOf("output.noemoji")).toMatchObject({ nearest: "output.no_emoji" })
    expect(problemOf("comands.deny x").nearest).toBe("commands.deny")
    expect(problemOf("be.kind.to.everyone").nearest).toBeUndefined()
    expect(describeRuleProblem(problemOf("tests.must_ran"))).toBe(
      'rule "tests.must_ran" cannot be used: there is no rule tests.must_ran (at 0). Did you mean tests.must_run?',
    )
    expect(describeRuleProblem(problemOf("xyz"))).toContain("Rules are: paths.only, paths.deny,")
  })

  test("no text makes the reader throw", () => {
    const rules = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .tuple(fc.constantFrom(...RULE_NAMES), fc.string({ unit: "grapheme" }))
        .map(([name, rest]) => `${name} ${rest}`),
    )
    fc.assert(
      fc.property(rules, (rule) => Object.keys(parseRule(rule)).length === 1),
      { numRuns: 500 },
    )
  })
})

describe("constraints inferred from a request", () => {
  const rulesOf = (text: string): string[] => inferConstraints(text).map(({ rule }) => rule)

  test.each([
    ["Fix the date bug. Do not touch infra/ please.", "paths.deny infra/**"],
    ["don\u2019t modify src/legacy/old.ts or `config/`", "paths.deny src/legacy/old.ts config/**"],
    ["Please never edit .env.", "paths.deny .env"],
    ["Don't change the vendor folder", "paths.deny vendor/**"],
    ["Only change files under src/.", "paths.only src/**"],
    ["only edit code in `packages/web` and `packages/api`", "paths.only packages/web/** packages/api/**"],
    ["Fix add. Only touch src/**.", "paths.only src/**"],
    ["only change the file lib/date.ts, nothing else", "paths.only lib/date.ts"],
    ["Write it up, no emojis.", "output.no_emoji"],
    ["Answer in JSON", "output.json"],
    ["respond only with valid JSON", "output.json"],
    ["Keep it under 1,500 characters", "output.max_chars 1500"],
    ["Do not push.", 'commands.deny "git push"'],
    ["then commit, but don't push yet", 'commands.deny "git push"'],
    ["and run the tests", "tests.must_run"],
    ["make sure all the tests pass", "tests.must_pass"],
    ["no network access", "network.deny"],
    ["don't leak any secrets", "secrets.none"],
  ])("[E-02] %j means %s", (text, rule) => {
    expect(rulesOf(text)).toEqual([rule])
  })

  test("[E-02] parts of a repository that have a name are known by it", () => {
    expect(rulesOf("do not modify infra/CI")[0]).toMatch(/^paths\.deny .*infra/)
    expect(rulesOf("Do not touch the CI pipeline or the infrastructure")[0]).toMatch(/infra\/\*\*.*\.github\/\*\*/)
    expect(rulesOf("Don't add new dependencies")[0]).toContain('"npm install *"')
  })

  test.each([
    ["Fix the failing date test"],
    ["Why does the build touch infra?"],
    ["You may change anything and/or everything."],
    ["Only change what is wrong, then look at src/app.ts"],
    ["The JSON parser throws on empty input"],
    ["Explain how git push works"],
    [""],
  ])("[E-02] %j states no constraint", (text) => {
    expect(rulesOf(text)).toEqual([])
  })

  test("[E-02] what is inferred says so, shows its words, can be read as a rule and is a warning at most", () => {
    const text =
      "Refactor it. Don't touch infra/, answer in JSON, no emojis, do not push, run the tests, do not add dependencies, don't deploy, do not open a PR, do not delete any files, don't commit."
    const found = inferConstraints(text)
    expect(found.length).toBeGreaterThanOrEqual(10)
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    for (const one of found) {
      expect(one).toMatchObject({ source: "inferred", severity: "warn" })
      expect(text.slice(one.start, one.end).trim()).toBe(one.words)
      expect(parseRule(one.rule), one.rule).toHaveProperty("rule")
    }
  })

  test("a long and hostile request is read without delay or error", () => {
    for (const piece of [
      "do not touch ",
      "only change files under a/",
      "don't edit a.b.c.",
      "no new ",
      "respond with only ",
      "run the the the ",
    ]) {
      expect(inferConstraints(piece.repeat(5_000)).length).toBeLessThan(2_000)
    }
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => Array.isArray(inferConstraints(text))))
  })
})
