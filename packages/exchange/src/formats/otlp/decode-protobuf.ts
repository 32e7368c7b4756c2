import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toBinary,
} from "@bufbuild/protobuf"
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt"
import type { Json } from "../told-values.js"
import { listOf, recordOf } from "../told-values.js"
import { plainRequest, wholeOf } from "./decode-json.js"
import { OTLP_DESCRIPTORS } from "./descriptors.js"
import { BadRequest, type PlainRequest } from "./plain.js"

export type Signal = "traces" | "logs"

const PREFIX = "opentelemetry.proto.collector"
const NAMES = {
  traces: {
    request: `${PREFIX}.trace.v1.ExportTraceServiceRequest`,
    response: `${PREFIX}.trace.v1.ExportTraceServiceResponse`,
  },
  logs: {
    request: `${PREFIX}.logs.v1.ExportLogsServiceRequest`,
    response: `${PREFIX}.logs.v1.ExportLogsServiceResponse`,
  },
} as const

let registry: ReturnType<typeof createFileRegistry> | undefined

export function messageOf(name: string): DescMessage {
  registry ??= createFileRegistry(descriptors())
  return registry.getMessage(name)!
}

/** The set is kept without the names that fields have in JSON, because they follow from their own. */
function descriptors(): FileDescriptorSet {
  const set = fromBinary(FileDescriptorSetSchema, Buffer.from(OTLP_DESCRIPTORS, "base64"))
  const nameFields = ({ field, nestedType }: FileDescriptorSet["file"][number]["messageType"][number]): void => {
    for (const one of field) one.jsonName = one.name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    nestedType.forEach(nameFields)
  }
  for (const { messageType } of set.file) messageType.forEach(nameFields)
  return set
}

export function decodeProtobufRequest(signal: Signal, bytes: Uint8Array): PlainRequest {
  try {
    const message: Message = fromBinary(messageOf(NAMES[signal].request), bytes, { readUnknownFields: false })
    return plainRequest(message as unknown as Json, valueOfMessage)
  } catch (error) {
    throw new BadRequest(
      `the body is not the protobuf message of /v1/${signal}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** A request as bytes, from its OTLP/JSON form. */
export function encodeJsonRequest(signal: Signal, request: object): Uint8Array {
  const desc = messageOf(NAMES[signal].request)
  return toBinary(desc, fromJson(desc, idsAsBase64(request) as JsonValue))
}

/** OTLP/JSON has ids in hex where JSON of protobuf has base 64. */
function idsAsBase64(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(idsAsBase64)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      ID_FIELDS.has(key) && typeof inner === "string"
        ? Buffer.from(inner, "hex").toString("base64")
        : idsAsBase64(inner),
    ]),
  )
}

const ID_FIELDS: ReadonlySet<string> = new Set(["traceId", "spanId", "parentSpanId"])

export interface ExportAnswer {
  readonly rejected: number
  readonly errorMessage: string
}

export function encodeResponse(signal: Signal, { rejected, errorMessage }: ExportAnswer): Uint8Array {
  const desc = messageOf(NAMES[signal].response)
  const count = signal === "traces" ? { rejectedSpans: BigInt(rejected) } : { rejectedLogRecords: BigInt(rejected) }
  const partialSuccess = rejected === 0 && errorMessage === "" ? {} : { partialSuccess: { ...count, errorMessage } }
  return toBinary(desc, create(desc, partialSuccess as never))
}

export function decodeResponse(signal: Signal, bytes: Uint8Array): ExportAnswer {
  const message = fromBinary(messageOf(NAMES[signal].response), bytes) as unknown as Json
  const partial = recordOf(message["partialSuccess"])
  const rejected = Number(partial["rejectedSpans"] ?? partial["rejectedLogRecords"] ?? 0)
  return { rejected, errorMessage: String(partial["errorMessage"] ?? "") }
}

/** `google.rpc.Status` with its message alone, which is all a client shows. */
export function encodeStatus(message: string): Uint8Array {
  const text = Buffer.from(message, "utf8")
  const length: number[] = []
  for (let rest = text.length; ; rest >>>= 7) {
    length.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest)
    if (rest <= 0x7f) break
  }
  return Buffer.concat([Buffer.from([0x12, ...length]), text])
}

function valueOfMessage(any: unknown): unknown {
  const { case: kind, value } = recordOf(recordOf(any)["value"])
  switch (kind) {
    case "stringValue":
    case "boolValue":
    case "doubleValue":
      return value
    case "intValue":
      return wholeOf(value)
    case "arrayValue":
      return listOf(recordOf(value)["values"]).map(valueOfMessage)
    case "kvlistValue":
      return Object.fromEntries(
        listOf(recordOf(value)["values"])
          .map(recordOf)
          .map((pair) => [String(pair["key"]), valueOfMessage(pair["value"])]),
      )
    case "bytesValue":
      return Buffer.from(value as Uint8Array).toString("base64")
    default:
      return null
  }
}
