import { definitionOf, EVENT_TYPES, validatePayload } from "@orangebox/contract"
import { checkSync } from "recheck"
import { describe, expect, test } from "vitest"
import { POLICIES } from "../src/field-policies.js"
import {
  compileUserRules,
  createRuleset,
  decidePolicy,
  defaultPolicy,
  effectOfDrop,
  FIELD_POLICIES,
  type FieldPolicy,
  readUserRules,
  redactText,
  redactValue,
  type UserRules,
} from "../src/index.js"
import { readPattern } from "../src/safe-pattern.js"
import { KEY } from "./fake-secrets.js"

const shapeOf = (type: (typeof EVENT_TYPES)[number]) =>
  Object.keys((definitionOf(type).payload as unknown as { shape: object }).shape)

describe("field policies", () => {
  test.each(EVENT_TYPES)("[X-02] every field of %s has a policy, and nothing else has", (type) => {
    expect(Object.keys(FIELD_POLICIES[type]).sort()).toEqual(shapeOf(type).sort())
  })

  test("[X-02] a field that nobody has judged has to be redacted", () => {
    expect(defaultPolicy("log", "added_tomorrow")).toBe("redact_required")
    expect(defaultPolicy("no_such_event", "field")).toBe("redact_required")
    expect(defaultPolicy("log", "attributes.user")).toBe("redact_required")
  })

  const TRUTH: readonly [FieldPolicy | undefined, FieldPolicy, boolean, FieldPolicy, string][] = [
    [undefined, "raw_allowed", false, "raw_allowed", "default"],
    [undefined, "raw_allowed", true, "raw_allowed", "default"],
    [undefined, "redact_required", false, "redact_required", "default"],
    [undefined, "redact_required", true, "raw_allowed", "allow"],
    [undefined, "hash_only", false, "hash_only", "default"],
    [undefined, "hash_only", true, "hash_only", "default"],
    [undefined, "drop", false, "drop", "default"],
    [undefined, "drop", true, "drop", "default"],
    ...POLICIES.slice(1).flatMap((deny, i) =>
      POLICIES.flatMap((byType, j) =>
        [false, true].map(
          (allowed) =>
            [deny, byType, allowed, POLICIES[Math.max(i + 1, j)]!, "deny"] as [
              FieldPolicy,
              FieldPolicy,
              boolean,
              FieldPolicy,
              string,
            ],
        ),
      ),
    ),
  ]
  test.each(TRUTH)(
    "[X-02] deny %s, default %s, allow %s: %s, because of the %s",
    (deny, byType, allowed, policy, because) => {
      expect(decidePolicy(deny, byType, allowed)).toEqual({ policy, because })
    },
  )

  test.each([
    ["log", "error_summary", "omit"],
    ["model_called", "model_id", "null"],
    ["model_called", "request_ref", "body_not_kept"],
    ["input_received", "input_channels", "empty_list"],
    ["retrieval_executed", "filters", "empty_record"],
    ["log", "message", "mask"],
    ["log", "level", "impossible"],
    ["model_result", "latency_ms", "impossible"],
  ] as const)("[X-02] dropping %s.%s: %s", (type, field, effect) => expect(effectOfDrop(type, field)).toBe(effect))

  test("[X-02] what drop puts in place of a field is valid there", () => {
    const stand = { null: null, empty_list: [], empty_record: {}, mask: "…redacted…" } as const
    for (const type of EVENT_TYPES) {
      for (const field of shapeOf(type)) {
        const effect = effectOfDrop(type, field)
        if (!(effect in stand)) continue
        const value = stand[effect as keyof typeof stand]
        const problems = validatePayload(type, { [field]: value }) as readonly { readonly field: string }[]
        expect(problems.filter((problem) => problem.field === field || problem.field.startsWith(`${field}.`))).toEqual(
          [],
        )
      }
    }
  })
})

describe("rules of the user", () => {
  test("[X-06] deny, allow, keys and patterns work together", () => {
    const rules = compileUserRules({
      deny: [
        { path: "*.attributes.user", policy: "drop" },
        { path: "tool_called.args_ref", policy: "hash_only" },
      ],
      allow: [{ path: "log.message" }],
      keys: [
        { pattern: "ssn|tax_id", action: "mask" },
        { pattern: "notes", action: "drop" },
        { pattern: "session_token", action: "allow" },
      ],
      values: [{ id: "badge", pattern: "EMP-\\d{4,8}" }],
    })
    expect(rules.policyOf("log", "attributes.user")).toEqual({ policy: "drop", because: "deny" })
    expect(rules.policyOf("log", "attributes.user.name")).toEqual({ policy: "drop", because: "deny" })
    expect(rules.policyOf("log", "attributes.other")).toEqual({ policy: "redact_required", because: "default" })
    expect(rules.policyOf("tool_called", "args_ref").policy).toBe("hash_only")
    expect(rules.policyOf("log", "message")).toEqual({ policy: "raw_allowed", because: "allow" })
    const ruleset = createRuleset({ key: KEY, patterns: rules.patterns })
    expect(redactText("badge EMP-123456 seen", ruleset).text).toBe("badge E…redacted…6 seen")
    const { value } = redactValue(
      { person: { ssn: "123-45-6789", notes: "long", name: "Ada" } },
      ruleset,
      rules.policyOfKey,
    )
    expect(value).toEqual({ person: { ssn: "12…redacted…89", name: "Ada" } })
  })

  test.each<[string, UserRules, string, RegExp]>([
    ["does not compile", { values: [{ id: "a", pattern: "(" }] }, "values[0].pattern:0", /does not compile/],
    [
      "nests repetitions",
      { values: [{ id: "a", pattern: "x(a{1,9}b?){2,9}" }] },
      "values[0].pattern:1",
      /repeats something that repeats/,
    ],
    ["has no bound", { values: [{ id: "a", pattern: "ab\\w+" }] }, "values[0].pattern:4", /no upper bound/],
    ["refers back", { values: [{ id: "a", pattern: "(a)\\1" }] }, "values[0].pattern:3", /references back/],
    ["looks around", { values: [{ id: "a", pattern: "a(?<=b)c" }] }, "values[0].pattern:1", /lookaround/],
    ["matches nothing", { values: [{ id: "a", pattern: "x{0,3}" }] }, "values[0].pattern:0", /empty text/],
    ["is too long", { values: [{ id: "a", pattern: "a".repeat(300) }] }, "values[0].pattern:256", /longer than 256/],
    [
      "has too many ways",
      { keys: [{ pattern: "\\w{1,90}a\\w{1,90}", action: "mask" }] },
      "keys[0].pattern:0",
      /too many ways/,
    ],
    ["names no event", { deny: [{ path: "logs.message" }] }, "deny[0].path", /no event type "logs"/],
    ["names no field", { allow: [{ path: "log.text" }] }, "allow[0].path", /no such field/],
    ["is no path", { deny: [{ path: "message" }] }, "deny[0].path", /event_type\.field/],
    [
      "contradicts a deny",
      { deny: [{ path: "*.message" }], allow: [{ path: "log.message" }] },
      "allow[0].path",
      /contradicts the deny of \*\.message/,
    ],
    [
      "contradicts another deny",
      { deny: [{ path: "log.message" }, { path: "log.message", policy: "drop" }] },
      "deny[1]",
      /already denied/,
    ],
    [
      "allows what its type forbids",
      { allow: [{ path: "run_started.user_session_ref" }] },
      "allow[0].path",
      /cannot lift/,
    ],
    [
      "drops what has no empty form",
      { deny: [{ path: "log.level", policy: "drop" }] },
      "deny[0].policy",
      /no empty form/,
    ],
  ])("[X-06] a rule that %s is refused with its place and the reason", (_, rules, at, reason) => {
    const { problems } = readUserRules(rules)
    expect(problems).toHaveLength(1)
    expect(problems[0]?.at).toBe(at)
    expect(problems[0]?.reason).toMatch(reason)
    expect(() => compileUserRules(rules)).toThrow(reason)
  })

  test("a pattern that is accepted cannot backtrack", () => {
    const accepted = ["EMP-\\d{4,8}", "(?:a|b|ab){1,8}c", "[A-Z]{2}\\d{2,4}[A-Z]?", "x[\\]a-f]{3}(?:y|z)?"]
    for (const source of accepted) {
      expect(readPattern(source), source).toMatchObject({ ok: true })
      expect(checkSync(source, "g", { timeout: 10_000 }).status, source).toBe("safe")
    }
  })

  test("how long a match can be is known from the pattern", () => {
    expect(readPattern("ab{2,5}(?:c|\\d{3})?$")).toMatchObject({ ok: true, longest: 9 })
    expect(readPattern("[^\\]]{4}\\u00e9\\x41")).toMatchObject({ ok: true, longest: 6 })
  })
})
