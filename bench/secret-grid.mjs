// Secrets of our own making, in the contexts they stand in and the dresses they wear: the second ruler of redaction, beside the labelled rows.
// Everything is drawn at run time, so that no scanner that reads this repository finds a key in it.

/** The same characters for the same seed. */
export function drawer(seed) {
  let state = Math.imul(seed, 2654435761) >>> 0 || 1
  const next = () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 0x1_0000_0000
  }
  const draw = (length, alphabet = ALPHANUMERIC) =>
    Array.from({ length }, () => alphabet[Math.floor(next() * alphabet.length)]).join("")
  return draw
}

const LOWER = "abcdefghijklmnopqrstuvwxyz"
const UPPER = LOWER.toUpperCase()
const DIGITS = "0123456789"
const ALPHANUMERIC = LOWER + UPPER + DIGITS
const HEX = `${DIGITS}abcdef`
const BASE64 = `${ALPHANUMERIC}+/`
const PUNCTUATED = `${ALPHANUMERIC}!#%*+-.:=?@^_~`

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** A name that tells, or none for those known by their form, and the secret. */
export const SECRETS = {
  "github token": (draw) => ({ name: "GITHUB_TOKEN", secret: `ghp${"_"}${draw(36)}` }),
  "openai key": (draw) => ({ name: "OPENAI_API_KEY", secret: `sk-${"proj-"}${draw(48)}` }),
  "anthropic key": (draw) => ({ name: "ANTHROPIC_API_KEY", secret: `sk-ant${"-api03-"}${draw(93)}AA` }),
  "aws key id": (draw) => ({ name: "AWS_ACCESS_KEY_ID", secret: `AK${"IA"}${draw(16, `${UPPER}234567`)}` }),
  "slack token": (draw) => ({
    name: "SLACK_BOT_TOKEN",
    secret: `xox${"b-"}${draw(12, "123456789")}-${draw(12, "123456789")}-${draw(24)}`,
  }),
  "stripe key": (draw) => ({ name: "STRIPE_SECRET_KEY", secret: `sk${"_live_"}${draw(24)}` }),
  "npm token": (draw) => ({ name: "NPM_TOKEN", secret: `npm${"_"}${draw(36)}` }),
  "web token": (draw) => ({
    name: "SESSION_TOKEN",
    secret: [encoded({ alg: "HS256", typ: "JWT" }), encoded({ sub: draw(6), role: "admin" }), draw(43)].join("."),
  }),
  "hex secret": (draw) => ({ name: "CLIENT_SECRET", secret: draw(40, HEX) }),
  "base64 secret": (draw) => ({ name: "AWS_SECRET_ACCESS_KEY", secret: `${draw(1)}7${draw(38, BASE64)}` }),
  "punctuated password": (draw) => ({ name: "DB_PASSWORD", secret: `${draw(1)}9${draw(14, PUNCTUATED)}${draw(2)}` }),
  passphrase: (draw) => ({
    name: "SIGNING_PASSPHRASE",
    secret: `${draw(5, LOWER)}-${draw(6, LOWER)}.${draw(7, LOWER)}4`,
  }),
}

const lower = (name) => name.toLowerCase()
const camel = (name) => lower(name).replace(/_(.)/g, (_, letter) => letter.toUpperCase())
const kebab = (name) => lower(name).replaceAll("_", "-")
const words = (name) => lower(name).replaceAll("_", " ")

/** Where a secret stands: from its name and the secret to a text. */
export const CONTEXTS = {
  "environment file": (name, secret) => `LOG_LEVEL=info\n${name}=${secret}\nPORT=8080\n`,
  "shell export": (name, secret) => `$ export ${name}="${secret}"\n$ make deploy`,
  "shell export, single quotes": (name, secret) => `set -e\nexport ${name}='${secret}'\n`,
  "PowerShell variable": (name, secret) => `$env:${name} = "${secret}"\r\nWrite-Host done`,
  "Windows set": (name, secret) => `set ${name}=${secret}\r\nnode app.js`,
  JSON: (name, secret) => JSON.stringify({ region: "eu-1", [lower(name)]: secret, retries: 3 }),
  "indented JSON": (name, secret) => JSON.stringify({ app: { [camel(name)]: secret }, debug: false }, null, 2),
  YAML: (name, secret) => `service:\n  ${lower(name)}: ${secret}\n  replicas: 2\n`,
  "quoted YAML": (name, secret) => `service:\n  ${kebab(name)}: "${secret}"\n  replicas: 2\n`,
  "YAML name and value": (name, secret) =>
    `env:\n  - name: ${name}\n    value: "${secret}"\n  - name: PORT\n    value: "80"\n`,
  "Kubernetes Secret, block scalar": (name, secret) =>
    `apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\nstringData:\n  ${lower(name)}: |\n    ${secret}\ntype: Opaque\n`,
  TOML: (name, secret) => `[database]\n${lower(name)} = "${secret}"\npool = 5\n`,
  INI: (name, secret) => `[server]\n${lower(name)} = ${secret}\nport = 5432\n`,
  "Java properties": (name, secret) => `app.name=demo\napp.${kebab(name).replaceAll("-", ".")}=${secret}\n`,
  "XML element": (name, secret) => `<config><${camel(name)}>${xml(secret)}</${camel(name)}><port>80</port></config>`,
  "XML attribute": (name, secret) => `<datasource user="app" ${camel(name)}="${xml(secret)}" pool="5"/>`,
  "XML key and value": (name, secret) => `<add key="${camel(name)}" value="${xml(secret)}" />`,
  "Python assignment": (name, secret) => `import os\n${lower(name)} = "${secret}"\nclient = Client(${lower(name)})\n`,
  "Python call": (name, secret) => `client = Client(host="db", ${lower(name)}='${secret}', timeout=3)`,
  "Python dictionary": (name, secret) => `config = {'host': 'db', '${lower(name)}': '${secret}'}`,
  "JavaScript constant": (name, secret) => `const ${camel(name)} = '${secret}';\nawait connect(${camel(name)});`,
  "TypeScript, typed": (name, secret) => `private readonly ${camel(name)}: string = "${secret}";`,
  "Go, short declaration": (name, secret) => `${camel(name)} := "${secret}"\nif err != nil { return err }`,
  "Java setter": (name, secret) => `System.setProperty("${camel(name)}", "${secret}");`,
  "Ruby hash": (name, secret) => `config = { :${lower(name)} => '${secret}', :pool => 5 }`,
  "PHP define": (name, secret) => `define('${name}', '${secret}');`,
  "C# property": (name, secret) => `options.${pascal(name)} = "${secret}";`,
  Terraform: (name, secret) => `resource "x" "y" {\n  ${lower(name)} = "${secret}"\n}`,
  "option and value": (name, secret) => `$ tool login --${kebab(name)} ${secret} --verbose`,
  "option with sign": (name, secret) => `$ tool login --${kebab(name)}=${secret} --verbose`,
  "Docker option": (name, secret) => `docker run -e ${name}=${secret} -p 80:80 app`,
  "Dockerfile ENV": (name, secret) => `FROM node:22\nENV ${name}=${secret}\nCMD ["node"]`,
  "HTTP header": (name, secret) =>
    `GET / HTTP/1.1\r\nHost: example.test\r\nX-${kebab(name)}: ${secret}\r\nAccept: */*\r\n`,
  "bearer header in code": (_, secret) => `fetch(url, { headers: { "Authorization": "Bearer ${secret}" } })`,
  "query of an address": (name, secret) =>
    `GET https://example.test/v1?user=7&${lower(name)}=${encodeURIComponent(secret)}&page=2`,
  "login in an address": (_, secret) =>
    `DATABASE_URL=postgres://app:${encodeURIComponent(secret)}@db.internal:5432/main`,
  "connection string": (_, secret) => `Server=db;Database=app;User Id=app;Password=${secret};Encrypt=true`,
  "multipart form": (name, secret) =>
    `--b1\r\nContent-Disposition: form-data; name="${lower(name)}"\r\n\r\n${secret}\r\n--b1--\r\n`,
  "form body": (name, secret) => `grant_type=x&${lower(name)}=${encodeURIComponent(secret)}&scope=all`,
  prose: (name, secret) => `Note for later: the ${words(name)} is ${secret} and it expires in May.`,
  "dash and quotes": (name, secret) => `Settings: ${lower(name)} - '${secret}', region - 'eu'`,
  "table in Markdown": (name, secret) => `| name | value |\n|---|---|\n| ${name} | \`${secret}\` |\n`,
}

const pascal = (name) => camel(name).replace(/^./, (letter) => letter.toUpperCase())
const xml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

const hexOf = (character) => character.charCodeAt(0).toString(16).padStart(2, "0")
const everyLine = (text, gutter) =>
  text
    .split("\n")
    .map((line, i) => `${typeof gutter === "function" ? gutter(i + 1) : gutter}${line}`)
    .join("\n")
const utf16 = (text) => Buffer.from(text, "utf16le").toString("latin1")
const wrapped = (text, width) => text.replace(new RegExp(`(.{${width}})(?=.)`, "g"), "$1\n")

/** What a text wears: from the plain text and the secret in it to the text as it is recorded. */
export const DRESSES = {
  plain: (text) => text,
  "colour around it": (text, secret) => text.replaceAll(secret, `\x1b[1;32m${secret}\x1b[0m`),
  "colour inside it": (text, secret) =>
    text.replaceAll(
      secret,
      `\x1b[31m${secret.slice(0, 5)}\x1b[0m${secret.slice(5, 9)}\x1b[1m${secret.slice(9)}\x1b[0m`,
    ),
  "colour in JSON": (text, secret) =>
    JSON.stringify({ out: text.replaceAll(secret, `\x1b[32m${secret.slice(0, 6)}\x1b[39m${secret.slice(6)}\x1b[0m`) }),
  "colour, written out": (text, secret) =>
    text.replaceAll(secret, `\\033[32m${secret.slice(0, 6)}\\033[0m${secret.slice(6)}`),
  "line numbers with arrows": (text) => everyLine(text, (line) => `${String(line).padStart(6)}→`),
  "line numbers with arrows, in JSON": (text) =>
    JSON.stringify({ content: everyLine(text, (line) => `${String(line).padStart(6)}→`) }),
  "line numbers with tabs": (text) => everyLine(text, (line) => `${String(line).padStart(6)}\t`),
  "lines of grep": (text) => everyLine(text, (line) => `src/app/config.yml:${line}:`),
  "added lines": (text) => everyLine(text, "+"),
  "removed lines": (text) => everyLine(text, "- "),
  "quoted lines": (text) => everyLine(text, "> "),
  "lines behind a bar": (text) => everyLine(text, "│ "),
  "lines of a container": (text) => everyLine(text, "web-1  | "),
  "lines with a time": (text) => everyLine(text, "2026-11-18T01:02:03.456Z "),
  "JSON string": (text) => JSON.stringify({ content: text }),
  "JSON in JSON": (text) => JSON.stringify(JSON.stringify({ content: text })),
  "JSON in JSON in JSON": (text) => JSON.stringify(JSON.stringify(JSON.stringify({ content: text }))),
  "JSON with escaped slashes": (text) => JSON.stringify({ content: text }).replaceAll("/", "\\/"),
  "percent encoded": (text) => `q=${encodeURIComponent(text)}`,
  "percent encoded throughout": (text, secret) =>
    text.replaceAll(secret, [...secret].map((character) => `%${hexOf(character)}`).join("")),
  "percent encoded twice": (text) => `q=${encodeURIComponent(encodeURIComponent(text))}`,
  "\\u escapes": (text, secret) =>
    text.replaceAll(secret, [...secret].map((character) => `\\u00${hexOf(character)}`).join("")),
  "\\x escapes": (text, secret) =>
    text.replaceAll(secret, [...secret].map((character) => `\\x${hexOf(character)}`).join("")),
  "HTML entities": (text, secret) =>
    text.replaceAll(secret, [...secret].map((character) => `&#${character.charCodeAt(0)};`).join("")),
  "UTF-16": (text) => utf16(text),
  "UTF-16, big-endian": (text) => Buffer.from(text, "utf16le").swap16().toString("latin1"),
  base64: (text) => `payload: ${Buffer.from(text).toString("base64")}\n`,
  "base64 in lines": (text) => `${wrapped(Buffer.from(`${"note ".repeat(30)}${text}`).toString("base64"), 76)}\n`,
  "base64 for addresses": (text) => `/v1/${Buffer.from(text).toString("base64url")}?x=1`,
  "UTF-16 in base64": (text) => `powershell -e ${Buffer.from(text, "utf16le").toString("base64")}`,
  "cut off behind it": (text, secret) => text.slice(0, text.indexOf(secret) + secret.length),
  "wrapped at 80": (text, secret) => wrapAround(text, secret, 80),
}

/** A line so long before the secret that a terminal breaks it inside. */
function wrapAround(text, secret, width) {
  const at = text.indexOf(secret)
  const lineStart = text.lastIndexOf("\n", at) + 1
  const room = width - Math.floor(Math.min(secret.length, width) / 2)
  const padding = Math.max(0, room - (at - lineStart))
  return wrapped(
    `${text.slice(0, lineStart)}${"#".repeat(Math.max(0, padding - 1))}${padding > 0 ? " " : ""}${text.slice(lineStart)}`,
    width,
  )
}

/** One cell: the text as it is recorded, and the part of it that is the secret's, known by what changes with it. */
export function cell(context, dress, kind, seed) {
  const one = SECRETS[kind](drawer(seed))
  const text = dressed(context, dress, one)
  // Another secret of the same length in every encoding, for only its letters and digits differ.
  const second = dressed(context, dress, { ...one, secret: one.secret.replace(/[A-Za-z0-9]/g, neighbour) })
  let start = 0
  while (start < text.length && text[start] === second[start]) start++
  let end = 0
  while (end < text.length - start && text.at(-1 - end) === second.at(-1 - end)) end++
  return { text, secret: text.slice(start, text.length - end), other: second.slice(start, second.length - end) }
}

const neighbour = (character) => {
  const row = [LOWER, UPPER, DIGITS].find((letters) => letters.includes(character))
  return row[(row.indexOf(character) + 1) % row.length]
}

function dressed(context, dress, { name, secret }) {
  const text = CONTEXTS[context](name, secret)
  const written = [secret, encodeURIComponent(secret), xml(secret)].find((form) => text.includes(form))
  return DRESSES[dress](text, written)
}

/** Whether a quarter of the secret, or eight characters of it, can still be read. What another secret wears at the same place is no part of it. */
export function leaks(redacted, { secret, other }) {
  const width = Math.min(secret.length, Math.max(8, Math.ceil(secret.length / 4)))
  for (let at = 0; at + width <= secret.length; at++) {
    const part = secret.slice(at, at + width)
    if (redacted.includes(part) && ownCharacters(part, other.slice(at)) >= OWN) return true
  }
  return false
}

const OWN = 5
const ownCharacters = (part, other) => [...part].filter((character, i) => character !== other[i]).length
