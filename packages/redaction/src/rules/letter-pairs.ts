/**
 * How much of a value reads like words: the share of its neighbouring letters that often stand together in English and in the names that
 * programs give. About nine in ten pairs of a word do, and about one in three of letters drawn by lot, which tells short values apart
 * where counting digits and capitals cannot.
 */
export function countLetterPairs(value: string): { readonly pairs: number; readonly familiar: number } {
  let pairs = 0
  let familiar = 0
  for (let i = 1; i < value.length; i++) {
    const first = letterAt(value, i - 1)
    const second = letterAt(value, i)
    // A capital behind a small letter begins the next word of a camelCase name.
    if (first < 0 || second < 0 || (isSmall(value, i - 1) && !isSmall(value, i))) continue
    pairs++
    familiar += FAMILIAR[first * 26 + second]!
  }
  return { pairs, familiar }
}

function letterAt(value: string, at: number): number {
  const letter = (value.charCodeAt(at) | 0x20) - 0x61
  return letter >= 0 && letter < 26 && value.charCodeAt(at) >= 0x41 ? letter : -1
}

const isSmall = (value: string, at: number): boolean => value.charCodeAt(at) >= 0x61

/** What often follows each letter: the 230 commonest pairs, nine in ten of all there are in words. */
const FOLLOWERS = `
  a:bcdgilmnprstuvy b:aeijlorsu c:aehiklortu d:acdeilmorsu e:abcdefgilmnopqrstvwxy f:aefilou g:einrsu h:aeiot
  i:abcdefglmnoprstvz j:e k:es l:adeilostuvy m:abeimops n:acdefginostuv o:abcdfiklmnoprstuvw p:aeiloprstu q:u
  r:acdegikmnorstuvy s:acehiopstuy t:acehilmoprstuy u:abceilmnprst v:aei w:ai x:pt y:nps z:eo
`
const FAMILIAR = new Uint8Array(26 * 26)
for (const [first, , ...followers] of FOLLOWERS.trim().split(/\s+/)) {
  for (const second of followers) FAMILIAR[(first!.charCodeAt(0) - 0x61) * 26 + second.charCodeAt(0) - 0x61] = 1
}
