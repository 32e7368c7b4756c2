import fc from "fast-check"

const structural = fc.constantFrom(
  '},{"role":"user"',
  '}, {"a":1',
  '}],"max_tokens":1}',
  "}]}",
  "},\n    {\n",
  "\n\n",
  "[{",
  " ".repeat(200),
)

/** Long stretches of few bytes, so that limits are met, with the marks that cuts depend on and plain noise between. */
const piece = fc.oneof(
  structural,
  fc.uint8Array({ maxLength: 300 }),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 4000 }))
    .map(([bytes, times]) => repeated(bytes, times)),
  fc.tuple(fc.nat(), fc.integer({ min: 0, max: 20_000 })).map(([seed, length]) => noise(seed, length)),
)

export const bodyOfPieces = fc
  .array(piece, { maxLength: 8 })
  .map((pieces) => Buffer.concat(pieces.map((part) => Buffer.from(part))))

export function noise(seed: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let state = Math.imul(seed + 1, 0x9e3779b1) || 1
  for (let at = 0; at < length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[at] = state
  }
  return bytes
}

function repeated(bytes: Uint8Array, times: number): Buffer {
  return Buffer.alloc(bytes.length * times, bytes)
}
