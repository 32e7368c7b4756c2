/** Whether the last digit of a card number is the one that the others ask for. */
export function isLuhn(number: string): boolean {
  const digits = number.replace(/\D/g, "")
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const weighted = i % 2 === 0 ? digit : digit * 2
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}

/** A bank account whose number leaves one when divided by 97. */
export function isIban(written: string): boolean {
  const account = written.replaceAll(" ", "")
  if (account.length < 15 || account.length > 34) return false
  let rest = 0
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

/** Eight groups, or fewer with one `::` for those left out. That a group is up to four hex digits, the pattern has made sure. */
export function isIpv6(address: string): boolean {
  const halves = address.split("::")
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")))
  if (halves.length > 2 || groups.includes("")) return false
  return halves.length === 1 ? groups.length === 8 : groups.length < 8
}
