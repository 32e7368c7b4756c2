import { describe, expect, test } from "vitest"
import { redactText, StreamRedactor } from "../src/index.js"
import { drawn, ruleset } from "./fake-secrets.js"

/**
 * What agents see when they work: commands, what programs print about themselves, configuration, forms that are filled in. `§` stands for the
 * secret. Written apart from the generated grid of `bench/`, whose contexts the rules were made with.
 */
const SEEN = [
  "    environment:\n      - POSTGRES_USER=app\n      - POSTGRES_PASSWORD=§\n      - TZ=UTC\n",
  "::add-mask::§\n::set-output name=ok::1",
  "AWS Access Key ID [None]: AKIAQX\nAWS Secret Access Key [None]: §\nDefault region name [None]: eu-west-1",
  "kubectl create secret generic db --from-literal=username=app --from-literal=password=§",
  "helm install x y --set global.user=bob,global.password=§,replicas=3",
  '  + resource "aws_db_instance" "x" {\n      + password             = "§"\n      + port = 5432\n',
  "[web]\nhost1 ansible_host=10.0.0.1 ansible_user=root ansible_ssh_pass=§ ansible_port=22",
  "====== Data ======\nKey         Value\n---         -----\npassword    §\nusername    app\n",
  "Unseal Key 1: §\nUnseal Key 2: other",
  "PGPASSWORD=§ psql -h db -U app -c 'select 1'",
  "jdbc:oracle:thin:scott/§@//db.internal:1521/ORCL",
  "$ sqlplus scott/§@orcl @schema.sql",
  "redis-cli -h cache -p 6379 -a § --tls PING",
  "sqlcmd -S tcp:db,1433 -U sa -P '§' -Q \"select 1\"",
  "mysqldump --user=root --password=§ --all-databases > /tmp/x.sql",
  'ldapsearch -x -D "cn=admin,dc=acme" -w § -b dc=acme',
  "smbclient //nas/share -U 'bob%§' -c ls",
  "openssl rsa -in key.pem -passin pass:§ -out plain.pem",
  "7z a -p§ out.7z data/",
  'ssh-keygen -t ed25519 -f id -N "§" -q',
  'expect "*?assword:*"\nsend -- "§\\r"\nexpect eof',
  '$p = ConvertTo-SecureString "§" -AsPlainText -Force',
  "ConvertTo-SecureString -String '§' -AsPlainText -Force",
  "net user bob § /add",
  "cmdkey /add:server /user:bob /pass:§",
  "HTTP/1.1 200 OK\r\nSet-Cookie: sessionid=§; Path=/; HttpOnly\r\nContent-Length: 2\r\n",
  "x-amz-security-token: §\r\nx-amz-date: 20261118T000000Z",
  "curl -s -H 'api-key: §' https://x.test/v1",
  'curl --header "PRIVATE-TOKEN: §" https://gitlab.test/api',
  'curl -d \'{"username":"bob","password":"§"}\' https://x.test/login',
  '{:dbtype "postgres" :user "app" :password "§"}',
  'my $dbh = DBI->connect("dbi:Pg:dbname=app", "app", "§");',
  'Sys.setenv(API_KEY = "§", N = "1")',
  "  credentials {\n    username 'bob'\n    password '§'\n  }",
  "    storePassword '§'\n    keyAlias 'a'",
  "$ pulumi config set --secret dbPassword §\n",
  "define('AUTH_KEY',         '§');",
  "SetEnv API_KEY §\nSetEnv MODE prod",
  "Environment=MODE=prod API_TOKEN=§ PORT=80",
  'environment=MODE="prod",API_SECRET="§",PORT="80"',
  "TOKEN ?= §\nall:\n\techo",
  'withEnv(["API_TOKEN=§", "MODE=ci"]) { sh \'make\' }',
  "origin\thttps://x-access-token:§@github.com/acme/app.git (fetch)",
  'mutation { login(email: "a@b.c", password: "§") { token } }',
  "rootpw --plaintext §\nreboot",
  "d-i passwd/root-password password §\nd-i x/y string z",
  "username admin privilege 15 password 0 §\n!",
  "enable secret 0 §\n!",
  'set imap_pass = "§"',
  'gh secret set DEPLOY_KEY --body "§" --repo a/b',
  "npm config set //registry.acme.test/:_authToken §",
  "doctl auth init -t §",
  "sentry-cli --auth-token § releases list",
  "set -gx ACME_TOKEN §\n",
  "Config: {'host': 'db', 'api_key': '§', 'retries': 3}",
  "{User:bob Password:§ Host:db Port:5432}",
  'Config { user: "bob", password: "§", port: 1 }',
  'Config { token: Some("§"), port: 1 }',
  "Config[user=bob, password=§, port=1]",
  "DbConfig(user=bob, password=§, port=1)",
  '#<Config:0x0001 @user="bob", @password="§", @port=1>',
  "Settings(user='bob', db_password='§', port=1)",
  'level=info msg="login ok" password=§ user=bob',
  "Nov 18 10:00:00 host app[123]: connecting with password §",
  "2026-11-18 10:00:00 DEBUG auth - api key: §",
  '<input type="password" name="pw" value="§">',
  "db: {user: bob, password: §, port: 1}",
  "- `password`: `§`\n- `port`: `1`",
  "Login: bob  Password: §  Role: admin",
  "the pw is § btw",
  "UPDATE users SET password = '§' WHERE id = 1;",
  "CREATE LOGIN app WITH PASSWORD = N'§';",
  'set password "§"',
  'set "DB_PASSWORD=§"',
  '"Env": [\n  "PATH=/usr/bin",\n  "DB_PASSWORD=§"\n]',
  "PATH=/bin\u0000API_SECRET=§\u0000HOME=/root\u0000",
  "root 1 0.0 /usr/bin/app --port 80 --api-token § --verbose",
  "java -Ddb.user=app -Ddb.password=§ -jar app.jar",
  "    [password] => §\n    [port] => 1\n",
  "https://app.test/cb#access_token=§&token_type=bearer",
  "https://app.test/reset?reset_token=§",
  "config/prod.rb\n12:  secret_token: '§'\n13-  other",
  "API_TOKEN=§$\nMODE=x$",
  "      4 API_TOKEN=§\n      5 MODE=x",
  'aws ssm put-parameter --name /app/db_password --value "§" --type SecureString',
  '{"Name":"db","SecretString":"§","VersionId":"x"}',
  "await page.fill('#password', '§')",
  "await page.getByLabel('Password').fill('§');",
  'driver.find_element(By.ID, "password").send_keys("§")',
  "cy.get('input[name=\"password\"]').type('§')",
  "Enter passphrase for key 'id': §\nok",
  "Your new API token is:\n\n    §\n\nStore it safely.",
  "Token created: §",
  "Generated root password: §",
  "A temporary password is generated for root@localhost: §",
  "gitlab-runner register --registration-token § --url https://x",
  JSON.stringify({ tool: "type", selector: "input[type=password]", text: "§" }),
  JSON.stringify({ name: "bash", arguments: JSON.stringify({ command: "mysql -u root -p'§' -e 'show tables'" }) }),
  '  ["password"]=>\n  string(20) "§"\n',
]

const SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789!#%*+.-_~@^"
const SECRETS = [
  ...[3, 5, 7].map((seed) => drawn(22, undefined, seed)),
  drawn(32, "0123456789abcdef", 4),
  [8, 4, 4, 4, 12].map((length, i) => drawn(length, "0123456789abcdef", i + 9)).join("-"),
  `w4${drawn(14, SIGNS, 6)}Kz`,
]

const isLeft = (redacted: string, secret: string): boolean =>
  Array.from(secret.slice(7)).some((_, at) => redacted.includes(secret.slice(at, at + 8)))

describe("[X-11] a secret in what agents see", () => {
  test.each(SEEN)("%j", (template) => {
    for (const secret of SECRETS) {
      const text = template.replaceAll("§", secret)
      const redacted = redactText(text, ruleset).text
      expect(isLeft(redacted, secret), redacted).toBe(false)
      // And nothing but the secret, or the word it is part of.
      const [before, behind] = template.split("§") as [string, string]
      expect(redacted.startsWith(before.slice(0, -8)), redacted).toBe(true)
      expect(redacted.endsWith(behind.slice(8)), redacted).toBe(true)
    }
  })

  test.each(SEEN)("in a message of a request, and behind the gutter of a read tool: %j", (template) => {
    const [secret] = SECRETS as [string]
    const text = template.replaceAll("§", secret)
    const shown = `     1→${text.replaceAll("\n", "\n     2→")}`
    const body = JSON.stringify({
      messages: [
        { role: "user", content: text },
        { role: "tool", content: shown },
      ],
      n: 1,
    })
    const redacted = redactText(body, ruleset).text
    expect(isLeft(redacted, secret), redacted).toBe(false)
    expect(Object.keys(JSON.parse(redacted) as object)).toEqual(["messages", "n"])
  })

  test("in pieces as in one", () => {
    for (const template of SEEN) {
      const text = template.replaceAll("§", SECRETS[0]!)
      const redactor = new StreamRedactor(ruleset)
      const streamed = Array.from(text.match(/[\s\S]{1,7}/g)!, (piece) => redactor.push(piece).text).join("")
      expect(streamed + redactor.finish().text).toBe(redactText(text, ruleset).text)
    }
  })
})

test.each([
  '"aria-level": { "pass": "aria-level values are valid", "fail": "aria-level values greater than 6" }',
  '"pass": "\u5143\u7d20\u5177\u6709\u4f54\u4f4d\u7b26\u5c6c\u6027"',
  "import { type SpendLimitScopedAPIKeyActor as BetaSpendLimitScopedAPIKeyActor } from './actors'",
  "    token_endpoint_auth: BetaManagedAgentsTokenEndpointAuthNoneResponse",
  "exports.createPrivateKeyJwtAuth = createPrivateKeyJwtAuth",
  "  onresumptiontoken: options?.onresumptiontoken,",
  "{ resumptionToken: notificationsToolLastEventId }",
  "access_token=AccessToken(raw, request.scope)\nauth=merge_setting(auth, self.auth)",
  'paths: ["users.*.password", "users.*.profile.preferences.apiKey", "*.*.*.password"]',
  '"x-pan-token":t}}))(i,r);if(!c||c.ok)return',
  "nobody = pwd.getpwnam('nobody')[2]",
  'ASPNETCORE_IDENTITY_PASSWORD_CHECK_RESULT_VALUE_FAILURE = "failure"',
  "The --username and --password options are passed on; password must be set, and the token is read from a file.",
  "$ node app.js | pino-http-send -u http://localhost:8080/logs",
  "root:*:20228:0:99999:7:::\ndaemon:*:20228:0:99999:7:::\n",
  "https://REDACTED:REDACTED@example.test/ and password=[FILTERED]",
  "| length of the secret | stored |\n|---|---|\n| 13 and more | first 3 |\n",
  "Key fingerprint: SHA256:c3R1dnd4eXphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3g and token id created: 9f86d081884c7d659a2feaa0c55ad015",
  "elif kind not in Token.Escape:\n    value = escape_tex(value, self.commandprefix)",
])("[X-11] nothing is masked in %j", (text) => {
  expect(redactText(text, ruleset).text).toBe(text)
})

test("[X-11] a link in Markdown stays one when the token in its address is masked", () => {
  const link = `[![cov](https://codecov.test/badge.svg?token=${drawn(16)})](https://codecov.test/gh/a)`
  expect(redactText(link, ruleset).text).toMatch(/^\[!\[cov\]\(https:\S+token=\S{3}…redacted…\S{3}\)\]\(https:\S+\)$/)
})
