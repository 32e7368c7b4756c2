import { ANSWERS } from "./generated.js"
import type { Param, Route } from "./route.js"

/** The HTTP API as an OpenAPI 3.1 document, from the table that answers it. */
export function openApi(routes: readonly Route[], version: string): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Orangebox",
      version,
      description: "What was recorded, read-only. Every request below /api/v1 but /session carries the server's key.",
    },
    servers: [{ url: "/api/v1" }],
    security: [{ key: [] }],
    paths: {
      ...Object.fromEntries(routes.map((route) => [route.path, { get: operationOf(route) }])),
      "/session": { post: SESSION },
      "/live": { get: LIVE },
    },
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      schemas: ANSWERS,
      responses: {
        Problem: {
          description: "What is wrong, where, and what to do",
          content: { "application/problem+json": { schema: refTo("Problem") } },
        },
      },
    },
  }
}

const refTo = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const REFUSED = { default: { $ref: "#/components/responses/Problem" } }

function operationOf({ path, summary, params, answer, isBytes }: Route): object {
  const content = isBytes
    ? { "application/octet-stream": { schema: { type: "string", contentEncoding: "binary" } } }
    : { "application/json": { schema: refTo(answer) } }
  return {
    summary,
    parameters: Object.entries(params).map(([name, param]) => parameterOf(name, param, path.includes(`{${name}}`))),
    responses: { 200: { description: summary, content }, ...(isBytes ? PARTIAL : {}), ...REFUSED },
  }
}

const PARTIAL = { 206: { description: "The bytes that Range asks for" } }

function parameterOf(name: string, param: Param, isInPath: boolean): object {
  const isNeeded = isInPath || (param.is === "text" && param.isNeeded === true)
  return {
    ...{ name, in: isInPath ? "path" : "query", required: isNeeded, description: param.about },
    schema: schemaOf(param),
  }
}

function schemaOf(param: Param): object {
  switch (param.is) {
    case "count":
      return {
        type: "integer",
        minimum: param.least ?? 0,
        ...(param.most === undefined ? {} : { maximum: param.most }),
      }
    case "flag":
      return { type: "boolean" }
    case "word":
      return { type: "string", enum: param.words }
    case "text":
      return { type: "string" }
  }
}

const SESSION = {
  summary: "Swaps a one-time code for the key; with the key and without a code, gives another code",
  security: [],
  requestBody: {
    content: { "application/json": { schema: { type: "object", properties: { code: { type: "string" } } } } },
  },
  responses: {
    200: { description: "The key, or a code", content: { "application/json": { schema: refTo("Session") } } },
    ...REFUSED,
  },
}

const LIVE = {
  summary: "Tells what to ask for again, as server-sent events: hello, runs, steps, behind",
  parameters: [
    {
      name: "run",
      in: "query",
      required: false,
      description: "also when steps come to this run",
      schema: { type: "string" },
    },
  ],
  responses: {
    200: { description: "Events", content: { "text/event-stream": { schema: { type: "string" } } } },
    ...REFUSED,
  },
}
