import { checkSync } from "recheck"
import { expect, test } from "vitest"
import { GUTTER_PATTERNS } from "../src/gutters.js"
import { describeRules, explain, redactText } from "../src/index.js"
import { secretTag } from "../src/mask.js"
import { NAME_RULES, PII_RULES, SHAPE_RULES } from "../src/rules/catalog.js"
import { NORMALISE } from "../src/rules/rules.generated.js"
import { BREAK } from "../src/wrapped-words.js"
import { ALPHANUMERIC, drawn, FAKES, fakeJwt, fakePem, HEX, LOWER_ALPHANUMERIC, ruleset } from "./fake-secrets.js"

function checkMasked(text: string, secret: string, rule?: string): void {
  const redacted = redactText(text, ruleset)
  expect(redacted.text, text).not.toContain(secret)
  expect(redacted.masks.length, text).toBeGreaterThan(0)
  if (rule !== undefined) expect(redacted.masks.map((mask) => mask.rule)).toContain(rule)
}

function checkOpen(text: string): void {
  expect(redactText(text, ruleset)).toEqual({ text, masks: [] })
}

test.each(Object.entries(FAKES))(
  "[X-05] %s is found alone, in a sentence, in code, in a URL and in JSON inside JSON",
  (rule, secret) => {
    checkMasked(secret, secret, rule)
    checkMasked(`use ${secret}, please`, secret, rule)
    checkMasked(`client(key='${secret}')`, secret, rule)
    checkMasked(`https://example.test/?k=${secret}&q=1`, secret, rule)
    checkMasked(JSON.stringify({ content: `line one\n${secret}\n` }), secret, rule)
    checkMasked(JSON.stringify(JSON.stringify({ content: `line one\n${secret}\n` })), secret, rule)
  },
)

test("[X-05] private keys are found whatever became of their line breaks", () => {
  const pem = fakePem()
  const body = pem.split("\n")[2]!
  checkMasked(pem, body, "private-key")
  checkMasked(JSON.stringify(pem), body, "private-key")
  checkMasked(JSON.stringify(JSON.stringify({ private_key: pem })), body, "private-key")
  checkMasked(pem.replaceAll("\n", '\\n" +\n  "'), body, "private-key")
  checkMasked(`KEY="${pem.replaceAll("\n", " ")}"`, body, "private-key")
  checkMasked(Buffer.from(pem).toString("base64"), Buffer.from(pem).toString("base64").slice(40, 80), "private-key")
})

test("[X-05] a private key that breaks off is masked as far as it goes, and what follows is not", () => {
  const pem = fakePem().split("\n").slice(0, 4).join("\n")
  const { text } = redactText(`${pem}\n[truncated] the rest of the log`, ruleset)
  expect(text).not.toContain(pem.split("\n")[3])
  expect(text).toContain("the rest of the log")
})

test("[X-05] the password in an address is masked, the address stays readable", () => {
  const password = drawn(16)
  const { text } = redactText(`DATABASE_URL=postgres://app:${password}@db.internal:5432/main`, ruleset)
  expect(text).not.toContain(password)
  expect(text).toContain("postgres://app:")
  expect(text).toContain("@db.internal:5432/main")
})

test("[X-05] credentials in headers and on command lines are found", () => {
  const token = drawn(40)
  const login = Buffer.from(`nobody:${drawn(12)}`).toString("base64")
  checkMasked(`Authorization: Bearer ${token}`, token)
  checkMasked(`-H "Authorization: Basic ${login}"`, login, "basic-login")
  checkMasked(`Set-Cookie: session=${token}; Path=/; HttpOnly`, token, "cookie")
  checkMasked(`Cookie: theme=dark; sid=${token}`, token, "cookie")
  checkMasked(`curl -u nobody:${token} https://example.test`, token)
  checkMasked(`tool --api-key ${token} --verbose`, token)
})

const ASSIGNMENTS = [
  (name: string, value: string) => `${name}=${value}`,
  (name: string, value: string) => `export ${name}="${value}"`,
  (name: string, value: string) => `${name}: ${value}`,
  (name: string, value: string) => `"${name}": "${value}"`,
  (name: string, value: string) => `'${name}' => '${value}',`,
  (name: string, value: string) => `const ${name} = \`${value}\``,
  (name: string, value: string) => `var ${name} string = "${value}"`,
  (name: string, value: string) => `${name}: str = "${value}"`,
  (name: string, value: string) => `setProperty("${name}", "${value}")`,
  (name: string, value: string) => `<${name}>\n  ${value}\n</${name}>`,
  (name: string, value: string) => `--${name} ${value}`,
  (name: string, value: string) => JSON.stringify({ [name]: value }),
  (name: string, value: string) => JSON.stringify(JSON.stringify({ [name]: value })),
]

test.each(["api_key", "DB_PASSWORD", "clientSecret", "accessToken", "aws.session.token", "x-auth-token"])(
  "[X-05] a random value given to %s is found in every notation",
  (name) => {
    for (const [alphabet, length] of [
      [ALPHANUMERIC, 32],
      [HEX, 40],
      [LOWER_ALPHANUMERIC, 24],
    ] as const) {
      const value = drawn(length, alphabet)
      for (const assign of ASSIGNMENTS) checkMasked(assign(name, value), value)
    }
  },
)

test("[X-05] chosen passwords are found next to their name", () => {
  for (const text of [
    'password = "correct horse"',
    "PWD:Tr0ub4dor&3",
    'login(password: "s3cr-et!")',
    "mysql --password Xk29dkdk2",
  ]) {
    expect(redactText(text, ruleset).masks, text).toHaveLength(1)
  }
})

test("[X-05] a secret beyond Latin-1 text and at the edge of a block is found where it stands", () => {
  const token = FAKES["github-token"]!
  for (const padding of [65_530, 65_534, 65_535, 65_536, 65_537, 131_070]) {
    const text = `${"ключ ".repeat(Math.floor(padding / 5))}${" ".repeat(padding % 5)} ${token} конец`
    expect(redactText(text, ruleset).text).toBe(text.replace(token, `${token.slice(0, 3)}…redacted…${token.slice(-3)}`))
  }
})

const uuid = [8, 4, 4, 4, 12].map((length) => drawn(length, HEX)).join("-")

test.each([
  ["tool call ids", `{"type":"tool_use","id":"toolu_01${drawn(22)}","tool_call_id":"call_${drawn(24)}"}`],
  [
    "message and response ids",
    `{"id":"msg_01${drawn(22)}"} chatcmpl-${drawn(29)} resp_${drawn(48, HEX)} req_${drawn(24)}`,
  ],
  ["UUIDs", `{"session_id":"${uuid}","id":"${uuid}"}`],
  ["commits and content hashes", `commit ${drawn(40, HEX)} sha256:${drawn(64, HEX)} sha512-${drawn(86)}==`],
  ["trace and span ids", `traceparent: 00-${drawn(32, HEX)}-${drawn(16, HEX)}-01`],
  ["thinking signatures", `{"type":"thinking","signature":"Eq${drawn(400, `${ALPHANUMERIC}+/`)}=="}`],
  ["model names", 'model: "claude-3-5-sonnet-20241022", token_model = "gpt-4o-2024-08-06"'],
  ["images", `{"type":"image","data":"iVBORw0KGgo${drawn(5000, `${ALPHANUMERIC}+/`)}"}`],
  ["data addresses", `data:image/png;base64,iVBORw0KGgo${drawn(5000, `${ALPHANUMERIC}+/`)}`],
  ["token counts", '{"max_tokens": 4096, "prompt_tokens":1234567890, "usage":{"input_tokens":12}}'],
  ["log probabilities", '{"token":"Hello","logprob":-0.1,"bytes":[72]},{"token":" world"}'],
  ["page cursors", `{"next_page_token":"${drawn(40)}","continuationToken":"${drawn(40)}"}`],
  ["public keys", fakePem(4, "PUBLIC")],
  ["placeholders", `API_KEY=<your api key> TOKEN=$${"{TOKEN}"} password: '{{ password }}' key=sk-${"x".repeat(24)}`],
  ["code", "const password = await promptForPassword2(user)\nif (!token) throw new TokenError(token.value1)"],
  ["prose", "The secret: he forgot the password, and the token of 1999 was a key to everything."],
  ["documented examples", "aws_access_key_id = AKIAIOSFODNN7EXAMPLE"],
])("[X-05] %s are never masked", (_, text) => checkOpen(text))

test("[X-05] a name that only speaks about a secret tells nothing", () => {
  for (const name of ["tokenEndpoint", "password_policy", "secretName", "public_key", "keyboard", "max_token_id"]) {
    checkOpen(`${name} = "${drawn(32)}"`)
  }
})

test("no pattern of ours can backtrack", { timeout: 120_000 }, () => {
  // A small search per pattern: enough to find the classic mistakes, as the control below shows.
  const limits = { timeout: 20_000, incubationLimit: 2000, attackLimit: 20_000, maxIteration: 3, seedingLimit: 200 }
  const small = { ...limits, maxInitialGenerationSize: 50, maxGenerationSize: 30 }
  expect(checkSync("(a|a)*b", "", small).status).toBe("vulnerable")
  const patterns = new Map(
    [
      ...[...SHAPE_RULES, ...NAME_RULES].flatMap((rule) => rule.patterns),
      ...PII_RULES.map((rule) => rule.pattern),
      // One at a time, from where it begins: each is bounded, and the bench has a megabyte of their beginnings.
      ...NORMALISE.dresses.map(({ pattern }) => new RegExp(pattern, "y")),
      ...GUTTER_PATTERNS,
      BREAK,
    ].map((pattern) => [pattern.source, pattern.flags]),
  )
  for (const [source, flags] of patterns) expect(checkSync(source, flags, small).status, source).toBe("safe")
})

test("[X-06] every rule has a name of its own and says what it finds", () => {
  const rules = describeRules()
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
  for (const { about } of rules) expect(about).toMatch(/^\S.{4,}/)
})

test("[X-06] an explanation names rule and place and never shows the secret", () => {
  const token = FAKES["npm-token"]!
  const found = explain(`one\ntwo ${token}`, ruleset)
  expect(found).toEqual([
    {
      rule: "npm-token",
      about: "npm tokens",
      start: 8,
      end: 8 + token.length,
      line: 2,
      column: 5,
      masked: `npm…redacted…${token.slice(-3)}`,
      tag: secretTag(ruleset.key, token),
    },
  ])
  expect(JSON.stringify(explain(fakeJwt(), ruleset))).not.toContain(fakeJwt())
})

test("[X-05] a path that ends in a telling word is a path: what stands behind it in JSON is not its value", () => {
  for (const text of [
    '{"path":"/etc/passwd","content":"hello world"}',
    '["config/secret","content","Abc12345xyz90"]',
    "cat /run/secrets/db_password 'Abc12345xyz90'",
  ]) {
    expect(redactText(text, ruleset).text).toBe(text)
  }
  expect(redactText('GET /x?token=1&password="Abc12345xyz90"', ruleset).text).not.toContain("Abc12345xyz90")
})
