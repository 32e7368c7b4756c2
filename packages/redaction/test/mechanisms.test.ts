import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createRuleset, describeRules, redactText } from "../src/index.js"
import { ALPHANUMERIC, drawn, HEX, KEY, ruleset } from "./fake-secrets.js"

const isMasked = (text: string, secret: string): boolean =>
  !redactText(text, ruleset).text.includes(secret.slice(4, -4))

describe("[X-11] a vendor's prefix and 16 key characters", () => {
  const prefixes = [
    "ghp_",
    "sk-proj-",
    "sk-ant-api03-",
    "glpat-",
    "hf_",
    "gsk_",
    "npm_",
    "shpat_",
    "dckr_pat_",
    "AIza",
    "sk-",
  ]

  test("are a key whatever its length or ending", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...prefixes),
        fc.integer({ min: 24, max: 200 }),
        fc.integer({ min: 1, max: 1e6 }),
        (prefix, length, seed) => {
          const key = `${prefix.slice(0, 2)}${prefix.slice(2)}${drawn(length, ALPHANUMERIC, seed)}`
          expect(isMasked(`use ${key} please`, key), key).toBe(true)
        },
      ),
    )
  })

  test("are found where a dying stream cut them off", () => {
    const key = `ghp${"_"}${drawn(17)}`
    expect(redactText(`Authorization is ${key}`, ruleset).text).not.toContain(key)
  })

  test("are no key where they read like words or spell the alphabet", () => {
    for (const text of [
      "hf_requiredCharacteristicTypesForDisplayMetadata",
      "sk-learn-contrib-imbalanced-learning",
      "npm_config_registry_and_more_words",
      `ghp${"_"}abcdefghijklmnopqrstuvwxyz`,
      `glpat${"-"}${"x".repeat(24)}`,
    ]) {
      expect(redactText(text, ruleset).masks, text).toEqual([])
    }
  })
})

describe("[X-11] a telling name masks its value", () => {
  const values = {
    "with punctuation": "a9!x#q+z~w=e",
    "with dots": "corr3ct.horse.battery",
    "over 512 characters": drawn(700),
    "in hex": drawn(40, HEX),
  }
  const syntaxes: { readonly [what: string]: (name: string, value: string) => string } = {
    environment: (name, value) => `${name.toUpperCase()}=${value}\n`,
    "quoted assignment": (name, value) => `${name} = "${value}"`,
    "block scalar of YAML": (name, value) => `stringData:\n  ${name}: |-\n    ${value}\n  other: x\n`,
    "XML attribute": (name, value) => `<db ${name}="${value}" pool="5"/>`,
    "XML element": (name, value) => `<${name}>${value}</${name}>`,
    option: (name, value) => `tool --${name} ${value} --verbose`,
    "dash and quotes": (name, value) => `${name} - '${value}'`,
    "multipart form": (name, value) => `name="${name}"\r\n\r\n${value}\r\n--b--`,
    query: (name, value) => `https://example.test/?a=1&${name}=${value}&b=2`,
    "name and value": (name, value) => `- name: ${name}\n  value: ${value}\n`,
  }
  test.each(Object.keys(syntaxes))("in the syntax: %s", (what) => {
    for (const name of ["DB_PASSWORD", "client_secret", "signing_passphrase"]) {
      for (const [kind, value] of Object.entries(values)) {
        if (what === "query" && kind === "with punctuation") continue
        const text = syntaxes[what]!(name, value)
        expect(isMasked(text, value), `${kind}: ${text.slice(0, 90)}`).toBe(true)
      }
    }
  })

  test("in prose", () => {
    expect(isMasked("the password is Tr0ub4dor&3xyz, tell nobody", "Tr0ub4dor&3xyz")).toBe(true)
  })

  test("but placeholders stay readable", () => {
    for (const value of [
      "xxxxxxxx",
      "<your-key>",
      "changeme",
      `$${"{DB_PASSWORD}"}`,
      "********",
      "your_password_here",
    ]) {
      const text = `DB_PASSWORD="${value}"`
      expect(redactText(text, ruleset).text).toBe(text)
    }
  })
})

describe("[X-05] keys that their owners publish", () => {
  const published = [
    `pk${"_live_"}${drawn(24)}`,
    `phc${"_"}${drawn(43)}`,
    `https://${drawn(32, HEX)}@o1.ingest.sentry.io/4506`,
  ]
  test("stay readable", () => {
    for (const key of published) expect(redactText(`init("${key}")`, ruleset).text).toContain(key)
  })
  test("are masked where that is asked for", () => {
    const strict = createRuleset({ key: KEY, publicKeys: true })
    for (const key of published) expect(redactText(`init("${key}")`, strict).text).not.toContain(key)
  })
})

test("[X-05] names of resources, labels and code that puts names together are no secrets", () => {
  for (const text of [
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-Ab12Cd",
    "arn:aws:iam::123456789012:role/token-service-role",
    '<label for="password">Password:</label>',
    'password = prefix + "-" + suffix',
    "const token = await getToken(user.id)",
    "secret_name: projects/demo/secrets/api-key/versions/3",
    '{"token": "Hello", "logprob": -0.01}',
  ]) {
    expect(redactText(text, ruleset).masks, text).toEqual([])
  }
})

test("[X-13] every rule names the sources it was written from", () => {
  const sources = new Set(["vendor", "gitleaks", "detect-secrets", "credsweeper", "noseyparker", "secretlint"])
  for (const { id, from } of describeRules()) {
    expect(from.length, id).toBeGreaterThan(0)
    for (const source of from) expect(sources, id).toContain(source)
  }
})

test("[X-13] a rule that is left out finds nothing", () => {
  const token = `ghp${"_"}${drawn(36)}`
  const without = createRuleset({ key: KEY, without: ["github-token"] })
  expect(redactText(token, without).text).toBe(token)
})

describe("[X-05] a value is known by its place, where no name stands right before it", () => {
  const places: { readonly [what: string]: (value: string) => string } = {
    "an attribute of OpenTelemetry": (value) =>
      JSON.stringify({ attributes: [{ key: "db.password", value: { stringValue: value } }] }),
    "a header as an attribute": (value) =>
      JSON.stringify({ key: "http.request.header.x-api-key", value: { stringValue: value } }),
    "PDO of PHP": (value) => `new PDO('mysql:host=db;dbname=app', 'svc', '${value}');`,
    "mysqli of PHP": (value) => `mysqli_connect("db", "svc", "${value}", "app");`,
    "a connection of JDBC": (value) => `DriverManager.getConnection("jdbc:mysql://db/app", "svc", "${value}");`,
    "a credential of .NET": (value) => `new NetworkCredential("svc", "${value}")`,
    "a login of requests": (value) => `requests.get(url, auth=("svc", "${value}"))`,
    "an address of Oracle": (value) => `jdbc:oracle:thin:svc/${value}@//db:1521/ORCL`,
    sqlplus: (value) => `sqlplus -S svc/${value}@ORCL`,
    "an address of Go's MySQL driver": (value) => `sql.Open("mysql", "svc:${value}@tcp(db:3306)/app")`,
    "braces of ODBC": (value) => `DRIVER={PostgreSQL};SERVER=db;UID=svc;PWD={${value}};`,
    "a wide string of T-SQL": (value) => `CREATE LOGIN svc WITH PASSWORD = N'${value}';`,
    "a tuple of Erlang": (value) => `{password, "${value}"}`,
    "a variable of fish": (value) => `set -x API_TOKEN ${value}`,
    "a header of nginx": (value) => `proxy_set_header X-Api-Key "${value}";`,
    "a network of wpa_supplicant": (value) => `ssid="home"\n  psk="${value}"`,
    "a line of cookies.txt": (value) => `.x.test\tTRUE\t/\tTRUE\t0\tsession_token\t${value}`,
    "the login of az": (value) => `az login --service-principal -u app -p ${value} --tenant t`,
    "the option of keytool": (value) => `keytool -list -storepass ${value}`,
    "the option of zip": (value) => `zip -P ${value} a.zip b`,
    "the query of an address": (value) => `https://maps.test/api?key=${value}&q=1`,
    "a sentence in German": (value) => `Das Passwort lautet ${value}, bitte nicht weitergeben.`,
    "a sentence in French": (value) => `Le mot de passe est ${value}.`,
    "a sentence in Spanish": (value) => `La contraseña es ${value}`,
    "a sentence in Italian": (value) => `La password è ${value}`,
    "an instruction": (value) => `use password "${value}" to log in`,
  }
  test.each(Object.keys(places))("%s", (what) => {
    for (let at = 1; at <= 40; at++) {
      const value = `${drawn(2, "abcdefgh", at)}7${drawn(25, undefined, at)}`
      for (const text of [places[what]!(value), JSON.stringify({ out: places[what]!(value) })]) {
        const redacted = redactText(text, ruleset).text
        expect(redacted, text).not.toContain(value.slice(4, 16))
      }
    }
  })

  test("and words at such places are left alone", () => {
    for (const text of [
      "Das Passwort ist falsch.",
      "Le mot de passe est incorrect.",
      "La contraseña es obligatoria",
      "use password manager to log in",
      `new NetworkCredential("svc", password)`,
      "{password, value}",
      "https://maps.test/api?key=YOUR_API_KEY_GOES_HERE&q=1",
      "https://docs.test/page?key=introduction-to-the-api",
      "set -x PATH /usr/local/bin",
      JSON.stringify({ attributes: [{ key: "http.status", value: { stringValue: "a9f3c2d1e8b7a6f5c4d3" } }] }),
    ]) {
      expect(redactText(text, ruleset).text).toBe(text)
    }
  })
})
