// What ships of the zod definitions in packages/*/definitions: types and plain schemas in src/generated.ts, JSON Schemas in schemas/.
// `npm run schemas` writes both (with `-- --unreleased` while the current version of the event schema is not published); a test compares
// them with the definitions.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

/** The text of src/generated.ts. `shared` are the definitions that others are made of, by name; only what is needed is written. */
export function generatedSource({ schemas = {}, types = {}, shared = {}, events = {} }, { packageName, comments }) {
  const isContract = packageName === "@orangebox/contract"
  const names = new Map(Object.entries({ ...shared, ...types, ...schemas }).map(([name, schema]) => [schema, name]))
  const writer = new Writer(names, new Set(Object.keys({ ...types, ...schemas })), comments)
  const lines = []
  for (const [name, schema] of Object.entries({ ...types, ...schemas })) {
    lines.push(`${writer.comment(name, "")}export type ${name} = ${writer.type(schema, name, "", true)}`)
  }
  const values = Object.entries(schemas).map(([name, schema]) => {
    const kind = { object: "ObjectSchema", enum: "WordSchema" }[schema._zod.def.type] ?? "Schema"
    return `export const ${name} = new ${kind}<${name}>(${writer.node(schema)})`
  })
  if (Object.keys(events).length > 0) {
    lines.push("/** What each type of event says. */", "export type Payloads = {")
    for (const [type, { payload }] of Object.entries(events))
      lines.push(`${writer.comment(pascal(type), "  ")}  ${type}: ${writer.type(payload, pascal(type), "  ")}`)
    lines.push("}")
    values.push(
      "export const CATALOG: { readonly [Type in keyof Payloads]: EventDefinition<Type, Payloads[Type]> } = {",
    )
    for (const [type, { payload, ...facts }] of Object.entries(events))
      values.push(
        `  ${type}: { ${JSON.stringify(facts).slice(1, -1)}, payload: new ObjectSchema(${writer.node(payload)}) },`,
      )
    values.push("}")
  }
  const code = [...writer.consts, ...values].join("\n")
  const all = [...lines, code].join("\n")
  const used = (pattern) => pattern.filter((name) => new RegExp(`\\b${name}\\b`).test(all)).join(", ")
  const from = (path) => JSON.stringify(isContract ? path : "@orangebox/contract")
  const imports = [
    ...(isContract && Object.keys(events).length > 0
      ? [`import type { EventDefinition } from "./event-definition.js"`]
      : []),
    ...(/\bJsonValue\b/.test(all) ? [`import type { JsonValue } from ${from("./schema/schema.js")}`] : []),
    `import { ${used(["ObjectSchema", "Schema", "WordSchema"])} } from ${from("./schema/schema.js")}`,
    ...(/: SchemaNode\b/.test(code) ? [`import type { SchemaNode } from ${from("./schema/schema-node.js")}`] : []),
  ]
  return [
    `// Written by \`npm run schemas\` from the zod definitions in definitions/. Change those.`,
    ...imports,
    "",
    ...lines,
    "",
    code,
    "",
  ].join("\n")
}

const pascal = (type) => type.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase())
const defOf = (schema) => schema._zod.def
const messageOf = (def) => (def.error === undefined ? undefined : def.error({ code: "custom" }))

class Writer {
  consts = []
  #written = new Set()

  constructor(names, typed, comments) {
    this.names = names
    this.typed = typed
    this.comments = comments
  }

  comment(name, indent) {
    const text = this.comments.get(name)
    return text === undefined
      ? ""
      : `${indent}${text}\n${indent}`.replace(/\n\s*$/, "\n").replace(/\n(?=.)/g, `\n${indent}`)
  }

  /** TypeScript for what the schema gives back. `isDefinition` where the name itself is being declared. */
  type(schema, owner, indent, isDefinition = false) {
    const name = this.names.get(schema)
    if (!isDefinition && this.typed.has(name)) return name
    const def = defOf(schema)
    const inner = (one, place = owner) => this.type(one, place, indent)
    switch (def.type) {
      case "optional":
        return `${inner(def.innerType)} | undefined`
      case "nullable":
        return `${inner(def.innerType)} | null`
      case "default":
        return inner(def.innerType)
      case "string":
      case "number":
      case "boolean":
      case "unknown":
        return def.type
      case "null":
        return "null"
      case "lazy":
        return "JsonValue"
      case "literal":
        return def.values.map((value) => JSON.stringify(value)).join(" | ")
      case "enum":
        return Object.values(def.entries)
          .map((value) => JSON.stringify(value))
          .join(" | ")
      case "template_literal":
        return `\`${def.parts.map((part) => (typeof part === "string" ? part : "$" + "{string}")).join("")}\``
      case "union":
        return def.options.map((option) => inner(option)).join(" | ")
      case "array": {
        const item = inner(def.element)
        return /^[\w"]+$/.test(item) || item.startsWith("{") ? `${item}[]` : `(${item})[]`
      }
      case "record":
        return `Record<string, ${inner(def.valueType)}>`
      case "object": {
        const place = name ?? owner
        const fields = Object.entries(def.shape).map(([field, value]) => {
          const mark = defOf(value).type === "optional" ? "?" : ""
          return `${this.comment(`${place}.${field}`, `${indent}  `)}${indent}  ${field}${mark}: ${this.type(value, place, `${indent}  `)}`
        })
        return `{\n${fields.join("\n")}\n${indent}}`
      }
      default:
        throw new Error(`no type for ${def.type} in ${owner}`)
    }
  }

  /** The schema as data: the name of a constant, or the literal itself. */
  node(schema) {
    const name = this.names.get(schema)
    if (name === undefined) return literal(this.data(schema))
    const constant = this.typed.has(name) ? `${name}Node` : name
    if (!this.#written.has(name)) {
      this.#written.add(name)
      const text = literal(this.data(schema))
      this.consts.push(`const ${constant}: SchemaNode = ${text}`)
    }
    return constant
  }

  /** Pairs of member and source text, or `...name` to take over another node's. */
  data(schema) {
    const def = defOf(schema)
    const meta = schema.meta() ?? {}
    const marks = [
      ...(meta.since === undefined ? [] : [`since: ${JSON.stringify(meta.since)}`]),
      ...(meta.bodyRef === undefined ? [] : ["bodyRef: true"]),
    ]
    if (def.type === "optional" || def.type === "nullable" || def.type === "default") {
      const flag = def.type === "default" ? `default: ${JSON.stringify(def.defaultValue)}` : `${def.type}: true`
      const inner = this.names.has(def.innerType) ? [`...${this.node(def.innerType)}`] : this.data(def.innerType)
      return [...inner, flag, ...marks].filter((part, i, all) => all.indexOf(part) === i)
    }
    return [...this.#core(schema, def), ...marks]
  }

  #core(schema, def) {
    const checks = (def.checks ?? []).map((check) => check._zod.def)
    switch (def.type) {
      case "string":
        return stringNode(def, checks)
      case "number":
        return [`is: "number"`, ...checks.flatMap(numberLimit)]
      case "boolean":
        return [`is: "boolean"`]
      case "unknown":
        return [`is: "any"`]
      case "lazy":
        return [`is: "json"`]
      case "null":
        return [`is: "one_of"`, "values: [null]"]
      case "literal":
        return [`is: "one_of"`, `values: ${JSON.stringify(def.values)}`]
      case "enum":
        return [`is: "one_of"`, `values: ${JSON.stringify(Object.values(def.entries))}`]
      case "template_literal":
        return [`is: "string"`, `pattern: ${schema._zod.pattern}`]
      case "array":
        return [`is: "list"`, `of: ${this.node(def.element)}`, ...checks.flatMap(sizeLimit)]
      case "record":
        return [`is: "record"`, `keys: ${this.node(def.keyType)}`, `of: ${this.node(def.valueType)}`]
      case "union":
        return [
          `is: "union"`,
          ...(def.discriminator === undefined ? [] : [`by: ${JSON.stringify(def.discriminator)}`]),
          ...says(def),
          `of: [${def.options.map((option) => this.node(option)).join(", ")}]`,
        ]
      case "object": {
        if (checks.length > 0)
          throw new Error("a check over several fields belongs to the function that reads the value")
        const rest =
          def.catchall === undefined
            ? `others: "dropped"`
            : defOf(def.catchall).type === "never"
              ? ""
              : `others: "kept"`
        const fields = Object.entries(def.shape).map(([name, field]) => `${name}: ${this.node(field)}`)
        return [`is: "object"`, ...(rest === "" ? [] : [rest]), `fields: { ${fields.join(", ")} }`]
      }
      default:
        throw new Error(`no plain schema for ${def.type}`)
    }
  }
}

const literal = (parts) =>
  parts.length === 1 && parts[0].startsWith("...") ? parts[0].slice(3) : `{ ${parts.join(", ")} }`
const says = (def) => (messageOf(def) === undefined ? [] : [`says: ${JSON.stringify(messageOf(def))}`])

function stringNode(def, checks) {
  if (def.format === "url") {
    if (String(def.protocol) !== "/^https?$/") throw new Error(`no reading of URLs with the protocol ${def.protocol}`)
    return [`is: "http_url"`]
  }
  if (def.format !== undefined)
    return [`is: "string"`, `pattern: ${def.pattern}`, `says: ${JSON.stringify(FORMATS[def.format])}`]
  const parts = checks.flatMap((check) => {
    if (check.check !== "string_format") return sizeLimit(check)
    if (check.format === "starts_with")
      return [
        `pattern: ${check.pattern}`,
        `says: ${JSON.stringify(`Invalid string: must start with "${check.prefix}"`)}`,
      ]
    return [`pattern: ${check.pattern}`, ...says(check)]
  })
  if (parts.filter((part) => part.startsWith("pattern: ")).length > 1) throw new Error("one pattern a string")
  return [`is: "string"`, ...parts]
}

const FORMATS = { uuid: "Invalid UUID", datetime: "Invalid ISO datetime" }

function sizeLimit(check) {
  if (check.check === "min_length") return [`min: ${check.minimum}`]
  if (check.check === "max_length") return [`max: ${check.maximum}`]
  if (check.check === "length_equals") return [`min: ${check.length}`, `max: ${check.length}`]
  throw new Error(`no plain form of ${check.check}`)
}

function numberLimit(check) {
  if (check.check === "number_format" && check.format === "safeint") return ["int: true"]
  if (check.check === "greater_than") return [`${check.inclusive ? "min" : "over"}: ${check.value}`]
  if (check.check === "less_than" && check.inclusive) return [`max: ${check.value}`]
  throw new Error(`no plain form of ${check.check} ${check.format ?? ""}`)
}

/** `Name` and `Name.field` → the doc comment that stands before it in the definitions. */
export function commentsIn(folder) {
  const comments = new Map()
  for (const file of readdirSync(folder, { recursive: true })) {
    if (!String(file).endsWith(".ts")) continue
    const text = readFileSync(join(folder, String(file)), "utf8")
    let owner = ""
    for (const match of text.matchAll(/(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\s*^(?:(?:export )?const (\w+)|\s+(\w+):)/gm)) {
      const [, comment, constant, field] = match
      if (constant !== undefined) owner = constant
      const name = constant ?? `${owner}.${field}`
      if (comment !== undefined && !comments.has(name)) comments.set(name, comment.replace(/\n\s+/g, "\n "))
    }
  }
  return comments
}

async function loadDefinitions(folder) {
  const { build } = await import("rolldown")
  const packages = resolve("packages")
  const file = resolve(`node_modules/.cache/definitions-${process.pid}.mjs`)
  await build({
    input: join(folder, "index.ts"),
    platform: "node",
    external: ["zod"],
    resolve: {
      extensionAlias: { ".js": [".ts", ".js"] },
      alias: Object.fromEntries(
        readdirSync(packages).map((name) => [`@orangebox/${name}`, join(packages, name, "src/index.ts")]),
      ),
    },
    output: { file },
    logLevel: "warn",
  })
  const module = await import(`${pathToFileURL(file).href}?${folder}`)
  rmSync(file)
  return module
}

/** File → text of everything a package's definitions generate. */
export function filesOf(definitions, folder, isUnreleased = false) {
  const packageName = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name
  const comments = commentsIn(join(folder, "definitions"))
  const schemas = join(folder, "schemas")
  return new Map([
    [
      join(folder, "src/generated.ts"),
      // Most packages check what they read; one that only describes what it answers writes what it needs for that.
      definitions.generated?.() ?? generatedSource(definitions, { packageName, comments }),
    ],
    ...[...definitions.jsonSchemas({ isUnreleased, read: (name) => readFileSync(join(schemas, name), "utf8") })].map(
      ([name, text]) => [join(schemas, name), text],
    ),
  ])
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for (const name of readdirSync("packages")) {
    const folder = join("packages", name)
    if (!existsSync(join(folder, "definitions"))) continue
    const definitions = await loadDefinitions(join(folder, "definitions"))
    const files = filesOf(definitions, folder, process.argv.includes("--unreleased"))
    if (files.size > 1) mkdirSync(join(folder, "schemas"), { recursive: true })
    for (const file of existsSync(join(folder, "schemas")) ? readdirSync(join(folder, "schemas")) : [])
      if (!files.has(join(folder, "schemas", file))) rmSync(join(folder, "schemas", file))
    for (const [file, text] of files) writeFileSync(file, text)
    console.error(`${files.size} files of packages/${name}`)
  }
}
