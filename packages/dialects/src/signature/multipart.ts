import { type BodyHash, bodyHash } from "@orangebox/contract"

/**
 * The parts of a multipart body by their hashes, without the boundary, which is random in every request.
 * Undefined when the body is not what its content type says.
 */
export function multipartHashes(bytes: Uint8Array, contentType: string): readonly BodyHash[] | undefined {
  const boundary = /^multipart\/[^;]+;.*?boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType)
  if (!boundary) return undefined
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const line = Buffer.from(`--${boundary[1] ?? boundary[2]}`)
  const hashes: BodyHash[] = []
  let from = body.indexOf(line)
  while (from >= 0) {
    const start = from + line.length
    const next = body.indexOf(line, start)
    if (next < 0) return hashes.length > 0 ? hashes : undefined
    hashes.push(bodyHash(body.subarray(start, next)))
    from = next
  }
  return undefined
}
