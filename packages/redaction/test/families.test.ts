import { expect, test } from "vitest"
import { redactText } from "../src/index.js"
import { ALPHANUMERIC, drawn, HEX, ruleset } from "./fake-secrets.js"
import { FAMILIES } from "./families.js"

function checkMasked(text: string, secret: string, rule?: string): void {
  const redacted = redactText(text, ruleset)
  expect(redacted.text, text).not.toContain(secret)
  if (rule !== undefined) expect(redacted.masks.map((mask) => mask.rule)).toContain(rule)
}

function checkOpen(text: string): void {
  expect(redactText(text, ruleset)).toEqual({ text, masks: [] })
}

test.each(Object.entries(FAMILIES))(
  "[X-05] %s is found by its published form, and not in pieces of it",
  (rule, secret) => {
    checkMasked(secret, secret, rule)
    checkMasked(`use ${secret}, please`, secret, rule)
    checkMasked(`{"note":"${secret}"}`, secret, rule)
    checkMasked(JSON.stringify({ content: `line one\n${secret}\n` }), secret, rule)
    expect(redactText(secret.slice(0, 12), ruleset).masks).toEqual([])
    // In the middle of a long run of letters and digits it is a piece of something else.
    expect(redactText(`${drawn(48)}${secret}`, ruleset).masks.map((mask) => mask.rule)).not.toContain(rule)
  },
)

test("[X-05] a key that is glued to a word is found where its prefix tells and it is whole", () => {
  for (const [rule, prefix, length] of [
    ["github-token", `ghp${"_"}`, 36],
    ["npm-token", `npm${"_"}`, 36],
    ["openai-key", `sk-${"proj-"}`, 48],
    ["gitlab-token", `glpat${"-"}`, 20],
    ["stripe-key", `sk${"_live_"}`, 24],
  ] as const) {
    const secret = prefix + drawn(length, ALPHANUMERIC, 77)
    for (const word of ["x", "token", "KEY7", "myService_v2"]) checkMasked(`see ${word}${secret} there`, secret, rule)
  }
  // Words and file names that hold such a prefix.
  for (const text of [
    "task-based-learning-in-the-classroom-2024",
    "disk-projection-of-the-quarterly-usage-report-v2",
    "risk_live_dashboard_component_container_view",
    "desk-proj-0000000000000000000000000000",
  ])
    checkOpen(text)
})

test("[X-05] base64 that happens to hold a prefix is left alone", () => {
  const access = `AK${"IA"}${drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")}`
  const before = drawn(400, `${ALPHANUMERIC}+/`)
  checkOpen(`{"type":"image","data":"${before}/${access}/${before}"}`)
  checkMasked(`s3://bucket/${access}/file`, access)
})

test("[X-05] a random value of 16 characters beside a telling name is found in almost every draw", () => {
  for (const alphabet of [ALPHANUMERIC, ALPHANUMERIC.toLowerCase(), ALPHANUMERIC.toUpperCase()]) {
    const values = Array.from({ length: 500 }, (_, seed) => drawn(16, alphabet, seed + 1))
    const missed = values.filter((value) => redactText(`service_token: ${value}`, ruleset).masks.length === 0)
    expect(missed.length).toBeLessThan(25)
  }
})

test("[X-05] words beside a telling name are left alone", () => {
  for (const value of [
    "getAccessTokenFromCookies",
    "ultraPictureBox1",
    "user-session-2024-config",
    "refreshTokenRotationV2",
  ]) {
    checkOpen(`auth_token: ${value}`)
  }
})

test("[X-05] right behind the `=` of a telling name stands a value, whatever words stand before the name and whatever characters it has", () => {
  const leads = [
    "use",
    "is",
    "invalid",
    "old",
    "ERROR",
    "error:",
    "connect failed:",
    "[warn]",
    "user=bob,",
    "then",
    "-",
    "log in, use",
  ]
  for (const lead of leads) {
    for (const name of ["password", "secret", "api_key", "access_token"]) {
      for (const value of ["Hn4wLc82pYsB", "sunshine77", "sunshinewinter42", "9f86d081884c7d65"]) {
        checkMasked(`${lead} ${name}=${value} for bob`, value)
        checkMasked(`${lead} ${name}=${value}`, value)
      }
    }
    checkMasked(`${lead} password=marmalade for bob`, "marmalade")
  }
})

test("[X-05] what code gives to its own names is left alone", () => {
  for (const text of [
    "connect(host, password=password2, secret=secret1)",
    "const api_key=settings1.key",
    "if (token==expected2) return token",
    "user.password=form1",
    "use_password=true",
  ]) {
    checkOpen(text)
  }
})

test("[X-05] a plain word is a password where only a literal can stand", () => {
  checkMasked("REACT_APP_AUTH_PASSWORD=marmalade # comment", "marmalade")
  checkMasked("Server=db;User Id=app;Password=marmalade;Encrypt=yes", "marmalade")
  checkMasked("jdbc:mysql://db/main?user=app&password=marmalade", "marmalade")
  checkMasked("the variable is DB_PASSWORD=marmalade", "marmalade")
  checkMasked("The default password is 'marmalade'.", "marmalade")
  for (const text of [
    "PWD=/home/someone/project",
    "OLDPWD=/home/someone",
    "PASSWORD=$OTHER_VARIABLE",
    "password=request.form.password",
    "the password is 'required'",
    "const password = marmalade",
  ]) {
    checkOpen(text)
  }
})

test("[X-05] the password of an address may hold an at sign, and its user be an e-mail address", () => {
  expect(redactText("smtps://someone@example.test:Gh7zQw2k@mail.example.test:465", ruleset).text).toBe(
    "smtps://someone@example.test:G…redacted…k@mail.example.test:465",
  )
  expect(redactText("mongodb+srv://app:Zx9@Qw7y)@db.example.test/main?x=a@b", ruleset).text).toBe(
    "mongodb+srv://app:Z…redacted…)@db.example.test/main?x=a@b",
  )
})

test("[X-05] quotes may be written as in HTML", () => {
  checkMasked("&lt;b&gt;password: &quot;Dw7^nd!dj&quot;&lt;/b&gt;", "Dw7^nd!dj")
  const token = drawn(32)
  checkMasked(`data-config="{&quot;apiKey&quot;:&quot;${token}&quot;}"`, token)
})

test("[X-05] an Authorization header is read whatever its scheme", () => {
  const token = drawn(40)
  for (const scheme of ["Bot", "ApiKey", "Key", "GenieKey", "OAuth", "Klaviyo-API-Key"]) {
    checkMasked(`Authorization: ${scheme} ${token}`, token)
    checkMasked(JSON.stringify({ headers: { Authorization: `${scheme} ${token}` } }), token)
  }
  checkOpen("Authorization: required for every request")
})

test("[X-05] product keys are found beside their name, and drawings of them are not", () => {
  checkMasked("Activation key : QXRTW-9KDE2-VBGTR-FRTGU-K7MNX", "QXRTW-9KDE2-VBGTR-FRTGU-K7MNX")
  checkOpen("Activation key : XXXXX-XXXXX-XXXXX-XXXXX-XXXXX")
  checkOpen("Activation key : QXRTW-9KDE2-VBGTR-FRTGU-ABCDE")
})

test("[X-05] a vendor's name before `key` tells what it opens", () => {
  const key = drawn(32, HEX)
  for (const name of ["OPENAI_KEY", "sendgridKey", "google-maps-key"]) checkMasked(`${name}=${key}`, key)
  for (const name of ["cache_key", "primaryKey", "sort-key"]) checkOpen(`${name}=${key}`)
})

test("[X-05] the private parts of a JSON web key are masked, the public ones stay", () => {
  const [n, d, p] = [drawn(342), drawn(342, ALPHANUMERIC, 2), drawn(171, ALPHANUMERIC, 3)]
  for (const text of [
    JSON.stringify({ kty: "RSA", n, e: "AQAB", d, p }),
    JSON.stringify({ kty: "RSA", n, e: "AQAB", d, p }, null, 2),
    JSON.stringify(JSON.stringify({ kty: "RSA", n, e: "AQAB", d, p })),
  ]) {
    checkMasked(text, d, "json-web-key")
    checkMasked(text, p, "json-web-key")
    expect(redactText(text, ruleset).text).toContain(n)
  }
  checkOpen(JSON.stringify({ kty: "RSA", n, e: "AQAB" }))
})

test("[X-05] the private lines of a PuTTY key are masked, the public ones stay", () => {
  const lines = [1, 2, 3].map((seed) => drawn(64, `${ALPHANUMERIC}+/`, seed))
  const file = `PuTTY-User-Key-File-3: ssh-rsa\nPublic-Lines: 1\n${lines[0]}\nPrivate-Lines: 2\n${lines[1]}\n${lines[2]}\nPrivate-MAC: 00`
  for (const text of [file, JSON.stringify({ file })]) {
    checkMasked(text, lines[1]!, "putty-private-key")
    checkMasked(text, lines[2]!, "putty-private-key")
    expect(redactText(text, ruleset).text).toContain(lines[0])
    expect(redactText(text, ruleset).text).toContain("Private-MAC: 00")
  }
})

test("[X-05] secrets of one-time passwords, Jenkins and ThingsBoard are found where they are printed", () => {
  const base32 = drawn(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
  checkMasked(`otpauth://totp/App:me@example.test?secret=${base32}&issuer=App`, base32)
  checkMasked(`otpauth://totp/App?issuer=App&secret=${base32}`, base32)
  const hex = drawn(32, HEX)
  checkMasked(`Please use the following password to proceed to installation:\n\n${hex}\n\nThis may also be found`, hex)
  checkMasked(`-H 'Jenkins-Crumb:${hex}'`, hex)
  const device = drawn(20)
  checkMasked(`https://things.example.test/api/v1/${device}/telemetry`, device)
  checkOpen(`https://things.example.test/api/v1/${device}/users`)
})

test("[X-05] what a vendor's documentation prints as an example is left alone", () => {
  checkOpen(`<add key="ClearTextPassword" value="33f${"!!"}lloppa" />`)
  checkOpen('server->password = "guest@";')
})

test("[X-05] a row of x is a placeholder, but for the keys of models when it has their very length", () => {
  checkOpen(`GITHUB_TOKEN=ghp${"_"}${"x".repeat(36)}`)
  checkOpen(`HF_TOKEN=hf${"_"}${"x".repeat(40)}`)
  checkMasked(`HF_TOKEN=hf${"_"}${"x".repeat(34)}`, "x".repeat(34), "huggingface-token")
})

test("[X-05] passwords in options of well-known programs are found", () => {
  for (const command of [
    "sshpass -p S3cretPw99 ssh host",
    "mysql -u root -pS3cretPw99 main",
    "redis-cli -h db -a S3cretPw99",
  ]) {
    checkMasked(command, "S3cretPw99", "command-line-password")
  }
  checkOpen("mysql -u root -p main")
  checkOpen("sshpass -p $PASSWORD ssh host")
})

test("[X-05] stored password hashes are found in the forms of Django, LDAP and PHP", () => {
  const salt = drawn(12)
  checkMasked(`pbkdf2_sha${"256"}$600000$${salt}$${drawn(43)}=`, drawn(43), "password-hash-django")
  checkMasked(`userPassword: {SS${"HA"}}${drawn(38)}==`, drawn(38), "password-hash-ldap")
  checkMasked(`$P${"$"}B${drawn(30)}`, drawn(30), "password-hash")
})

test("[X-05] chance may put words like secret and my into a key", () => {
  const key = `${drawn(17)}${"0my-"}${drawn(10)}SECRET`
  checkMasked(`service_token: ${key}`, key)
  checkOpen("service_token: my-service-token-2024")
})

test("[X-05] selectors, parameters and variables are no passwords, but what only begins like them is", () => {
  for (const value of ["#add-password", "@password", "$password", "%PASSWORD%", "&password"])
    checkOpen(`password = "${value}"`)
  checkMasked('password = "@dm1nP@ss!"', "@dm1nP@ss!")
})

test("[X-05] what a session negotiates in the open is left alone", () => {
  checkOpen(`a=ice-ufrag:YnNx\r\na=ice-pwd:${drawn(24)}\r\n`)
})
