/**
 * JSON that is safe to print. `JSON.stringify` escapes only what JSON forbids; bidi controls, C1 codes and invisible characters go through
 * it raw. Inside JSON they can be written as escapes without loss, so a program reads exactly what was recorded.
 */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(HOSTILE, (char) => {
    let escaped = ""
    for (let i = 0; i < char.length; i++) escaped += `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`
    return escaped
  })
}

// Line breaks are JSON's own here: inside strings they are already escaped.
const HOSTILE =
  /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}]/gu
