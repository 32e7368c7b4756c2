// Images of a recording are drawn only if their own bytes say that they are images which cannot run anything.

export const MOST_IMAGE_BYTES = 8_000_000

/** What an image is by its first bytes, whatever it was called. */
export function imageKind(bytes: Uint8Array): string | null {
  const starts = (...wanted: number[]) => wanted.every((byte, at) => bytes[at] === byte)
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "image/png"
  if (starts(0xff, 0xd8, 0xff)) return "image/jpeg"
  if (starts(0x47, 0x49, 0x46, 0x38)) return "image/gif"
  if (starts(0x52, 0x49, 0x46, 0x46) && [0x57, 0x45, 0x42, 0x50].every((byte, at) => bytes[8 + at] === byte))
    return "image/webp"
  return null
}
