/**
 * One spelling per number, without going through binary64: `JSON.parse` turns 12345678901234567890 into …7000.
 *
 * A number is its significant digits and the place of the decimal point, printed the way JavaScript prints numbers, except that whole
 * numbers are written out in full: 1e21, 1E+21 and 1000000000000000000000 are one value. So integers keep every digit.
 */
export function canonicalNumber(lexeme: string): string {
  if (lexeme.length <= PLAIN_INTEGER_LENGTH && PLAIN_INTEGER.test(lexeme)) return lexeme === "-0" ? "0" : lexeme
  const match = NUMBER.exec(lexeme)
  if (!match) return lexeme
  const [, sign, whole, fraction = "", exponent = "0"] = match
  const all = whole! + fraction
  const first = countZeros(all, 0, 1)
  if (first === all.length) return "0"
  const digits = all.slice(first, all.length - countZeros(all, all.length - 1, -1))
  return sign + spell(digits, BigInt(exponent) + BigInt(whole!.length - first))
}

const PLAIN_INTEGER = /^-?(?:0|[1-9]\d*)$/
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]\+?(-?\d+))?$/

// Every finite double written out in full ends in at most 308 zeros, so all of them agree with their integer spelling;
// beyond that an exponent such as 1e999999999 must not become a gigabyte of zeros.
const MOST_ZEROS_WRITTEN = 400
const PLAIN_INTEGER_LENGTH = MOST_ZEROS_WRITTEN

// By hand, because /0+$/ looks again from every zero of a long run: quadratic in text that comes from outside.
function countZeros(digits: string, from: number, step: 1 | -1): number {
  let at = from
  while (digits[at] === "0") at += step
  return Math.abs(at - from)
}

/** `point` is how many of the digits stand before the decimal point; negative means zeros behind it. */
function spell(digits: string, point: bigint): string {
  const length = BigInt(digits.length)
  if (length <= point && point - length <= MOST_ZEROS_WRITTEN) return digits + "0".repeat(Number(point - length))
  if (point > 0 && point < length && point <= 21) {
    return `${digits.slice(0, Number(point))}.${digits.slice(Number(point))}`
  }
  if (point > -6 && point <= 0) return `0.${"0".repeat(Number(-point))}${digits}`
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`
  return `${mantissa}e${point - 1n}`
}
