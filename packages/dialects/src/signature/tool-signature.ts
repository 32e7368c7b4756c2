import { type BodyHash, canonicalJson, canonicalJsonNode, readJson } from "@orangebox/contract"
import { callDigest } from "./digest.js"

/**
 * A tool call by its name and arguments. `folder` is the working folder relative to the workspace, where the tool has one.
 * Equal to `toolSignatureOfText` for the same arguments, whatever their key order.
 */
export function toolSignature(name: string, args: unknown, folder?: string): BodyHash {
  return callDigest("tool", [name, canonicalJson(args ?? null), folder ?? ""])
}

/** The same for arguments as a model writes them. Text that is not JSON (a cut call, a free-form tool) is signed as the text it is. */
export function toolSignatureOfText(name: string, argumentText: string, folder?: string): BodyHash {
  const reading = readJson(argumentText)
  const canonical = reading.ok ? canonicalJsonNode(reading.node) : JSON.stringify(argumentText)
  return callDigest("tool", [name, canonical, folder ?? ""])
}
