// Where secrets stand: from the name of one and the secret to a text. Each writes the secret as its syntax asks for it.

const lower = (name) => name.toLowerCase()
const camel = (name) => lower(name).replace(/_(.)/g, (_, letter) => letter.toUpperCase())
const pascal = (name) => camel(name).replace(/^./, (letter) => letter.toUpperCase())
const kebab = (name) => lower(name).replaceAll("_", "-")
const words = (name) => lower(name).replaceAll("_", " ")

const json = (value) => JSON.stringify(value)
const pretty = (value) => JSON.stringify(value, null, 2)
const xml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")
const inDouble = (text) => text.replace(/[\\"]/g, "\\$&")
const inSingle = (text) => text.replace(/[\\']/g, "\\$&")
const sql = (text) => text.replaceAll("'", "''")
/** A word of a shell: quoted where it has to be. */
const word = (text) => (/^[\w.:=@%+/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
const base64 = (text) => Buffer.from(text).toString("base64")
/** What can stand in the login of an address as people write it: no space, no slash. */
const login = (text) => text.replace(/[\s/\\"'`<>?]/g, "-")

export const CONTEXTS = {
  "environment file": (name, secret) => `LOG_LEVEL=info\n${name}=${secret}\nPORT=8080\n`,
  "shell export": (name, secret) => `$ export ${name}="${inDouble(secret)}"\n$ make deploy`,
  "shell export, single quotes": (name, secret) => `set -e\nexport ${name}=${word(secret)}\n`,
  "PowerShell variable": (name, secret) => `$env:${name} = "${inDouble(secret)}"\r\nWrite-Host done`,
  "Windows set": (name, secret) => `set ${name}=${secret}\r\nnode app.js`,
  JSON: (name, secret) => json({ region: "eu-1", [lower(name)]: secret, retries: 3 }),
  "indented JSON": (name, secret) => pretty({ app: { [camel(name)]: secret }, debug: false }),
  YAML: (name, secret) => `service:\n  ${lower(name)}: ${secret}\n  replicas: 2\n`,
  "quoted YAML": (name, secret) => `service:\n  ${kebab(name)}: "${inDouble(secret)}"\n  replicas: 2\n`,
  "YAML name and value": (name, secret) =>
    `env:\n  - name: ${name}\n    value: "${inDouble(secret)}"\n  - name: PORT\n    value: "80"\n`,
  "Kubernetes Secret, block scalar": (name, secret) =>
    `apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\nstringData:\n  ${lower(name)}: |\n    ${secret}\ntype: Opaque\n`,
  TOML: (name, secret) => `[database]\n${lower(name)} = "${inDouble(secret)}"\npool = 5\n`,
  INI: (name, secret) => `[server]\n${lower(name)} = ${secret}\nport = 5432\n`,
  "Java properties": (name, secret) => `app.name=demo\napp.${kebab(name).replaceAll("-", ".")}=${secret}\n`,
  "XML element": (name, secret) => `<config><${camel(name)}>${xml(secret)}</${camel(name)}><port>80</port></config>`,
  "XML attribute": (name, secret) => `<datasource user="app" ${camel(name)}="${xml(secret)}" pool="5"/>`,
  "XML key and value": (name, secret) => `<add key="${camel(name)}" value="${xml(secret)}" />`,
  "Python assignment": (name, secret) =>
    `import os\n${lower(name)} = "${inDouble(secret)}"\nclient = Client(${lower(name)})\n`,
  "Python call": (name, secret) => `client = Client(host="db", ${lower(name)}='${inSingle(secret)}', timeout=3)`,
  "Python dictionary": (name, secret) => `config = {'host': 'db', '${lower(name)}': '${inSingle(secret)}'}`,
  "JavaScript constant": (name, secret) =>
    `const ${camel(name)} = '${inSingle(secret)}';\nawait connect(${camel(name)});`,
  "TypeScript, typed": (name, secret) => `private readonly ${camel(name)}: string = "${inDouble(secret)}";`,
  "Go, short declaration": (name, secret) => `${camel(name)} := "${inDouble(secret)}"\nif err != nil { return err }`,
  "Java setter": (name, secret) => `System.setProperty("${camel(name)}", "${inDouble(secret)}");`,
  "Ruby hash": (name, secret) => `config = { :${lower(name)} => '${inSingle(secret)}', :pool => 5 }`,
  "PHP define": (name, secret) => `define('${name}', '${inSingle(secret)}');`,
  "C# property": (name, secret) => `options.${pascal(name)} = "${inDouble(secret)}";`,
  Terraform: (name, secret) => `resource "x" "y" {\n  ${lower(name)} = "${inDouble(secret)}"\n}`,
  "option and value": (name, secret) => `$ tool login --${kebab(name)} ${word(secret)} --verbose`,
  "option with sign": (name, secret) => `$ tool login --${kebab(name)}=${word(secret)} --verbose`,
  "Docker option": (name, secret) => `docker run -e ${name}=${word(secret)} -p 80:80 app`,
  "Dockerfile ENV": (name, secret) => `FROM node:22\nENV ${name}=${word(secret)}\nCMD ["node"]`,
  "HTTP header": (name, secret) =>
    `GET / HTTP/1.1\r\nHost: example.test\r\nX-${kebab(name)}: ${secret}\r\nAccept: */*\r\n`,
  "bearer header in code": (_, secret) => `fetch(url, { headers: { "Authorization": "Bearer ${inDouble(secret)}" } })`,
  "query of an address": (name, secret) =>
    `GET https://example.test/v1?user=7&${lower(name)}=${encodeURIComponent(secret)}&page=2`,
  "login in an address": (_, secret) =>
    `DATABASE_URL=postgres://app:${encodeURIComponent(secret)}@db.internal:5432/main`,
  "login in an address, as typed": (_, secret) => `DATABASE_URL=postgres://app:${login(secret)}@db.internal:5432/main`,
  "connection string": (_, secret) =>
    `Server=db;Database=app;User Id=app;Password=${secret.includes(";") ? `"${secret.replaceAll('"', '""')}"` : secret};Encrypt=true`,
  "multipart form": (name, secret) =>
    `--b1\r\nContent-Disposition: form-data; name="${lower(name)}"\r\n\r\n${secret}\r\n--b1--\r\n`,
  "form body": (name, secret) => `grant_type=x&${lower(name)}=${encodeURIComponent(secret)}&scope=all`,
  prose: (name, secret) => `Note for later: the ${words(name)} is ${secret} and it expires in May.`,
  "dash and quotes": (name, secret) => `Settings: ${lower(name)} - '${inSingle(secret)}', region - 'eu'`,
  "table in Markdown": (name, secret) => `| name | value |\n|---|---|\n| ${name} | \`${secret}\` |\n`,

  // A name in one place of a structure and its value in another.
  "JSON name and value": (name, secret) => json({ name, value: secret }),
  "JSON key and value, indented": (name, secret) => pretty([{ key: name, type: "String", value: secret }]),
  "JSON Name and Value": (name, secret) => json({ Environment: [{ Name: name, Value: secret }] }),
  "CloudFormation parameters": (name, secret) => pretty([{ ParameterKey: pascal(name), ParameterValue: secret }]),
  "HAR header": (name, secret) => json({ headers: [{ name: `x-${kebab(name)}`, value: secret, comment: "" }] }),
  "browser agent": (name, secret) => json({ action: "fill", selector: `#${kebab(name)}`, value: secret }),
  "browser agent, typed text": (name, secret) =>
    json({ element: `${words(name)} textbox`, ref: "e23", text: secret, submit: true }),
  "YAML key and value": (name, secret) => `parameters:\n- Key: ${name}\n  Sensitive: true\n  Value: ${secret}\n`,
  "XML property": (name, secret) => `<property name="${camel(name)}" value="${xml(secret)}"/>`,
  "XML property text": (name, secret) => `<property name="${camel(name)}">${xml(secret)}</property>`,
  "XML name and value": (name, secret) =>
    `<property>\n  <name>db.${camel(name)}</name>\n  <value>${xml(secret)}</value>\n</property>`,
  "property list": (name, secret) => `<key>${camel(name)}</key>\n\t<string>${xml(secret)}</string>`,
  "Terraform variable": (name, secret) =>
    `variable "${lower(name)}" {\n  type        = string\n  default     = "${inDouble(secret)}"\n}\n`,
  "Terraform output": (name, secret) => pretty({ [lower(name)]: { sensitive: true, type: "string", value: secret } }),
  "CloudFormation default": (name, secret) =>
    `Parameters:\n  ${pascal(name)}:\n    Type: String\n    Default: ${word(secret)}\n`,
  "list of one": (name, secret) => json({ [lower(name)]: [secret], at: 1 }),
  "Kubernetes Secret, stringData": (name, secret) =>
    `apiVersion: v1\nkind: Secret\nstringData:\n  ${kebab(name)}: ${secret}\ntype: Opaque\n`,
  "Kubernetes Secret in JSON": (name, secret) =>
    json({ apiVersion: "v1", data: { [kebab(name)]: base64(secret) }, kind: "Secret" }),

  // Shells, programs and their files.
  "Dockerfile ENV with a blank": (name, secret) => `FROM node:22\nENV ${name} ${word(secret)}\nCMD ["node"]`,
  "fallback in JavaScript": (name, secret) => `const value = process.env.${name} || "${inDouble(secret)}"`,
  "fallback in Python": (name, secret) => `value = os.environ.get("${name}", "${inDouble(secret)}")`,
  "fallback in Ruby": (name, secret) => `value = ENV["${name}"] || '${inSingle(secret)}'`,
  "fallback in a shell": (name, secret) => `exec app "\${${name}:-${inDouble(secret)}}"`,
  "SQL, identified by": (_, secret) => `CREATE USER 'app'@'%' IDENTIFIED BY '${sql(secret)}';`,
  "SQL, with password": (_, secret) => `ALTER ROLE app WITH LOGIN PASSWORD '${sql(secret)}';`,
  "aws configure": (name, secret) => `$ aws configure set ${lower(name)} ${word(secret)}\n$ aws s3 ls`,
  setx: (name, secret) => `setx ${name} "${inDouble(secret)}"\r\n`,
  "docker login": (_, secret) => `$ docker login -u bot -p ${word(secret)} registry.example.test\nLogin Succeeded`,
  "curl -u": (_, secret) => `curl -u ${word(`admin:${secret}`)} https://example.test/`,
  "curl -u, glued": (_, secret) => `curl -u${word(`admin:${secret}`)} https://example.test/`,
  sshpass: (_, secret) => `sshpass -p ${word(secret)} ssh root@host.test`,
  mysql: (_, secret) => `mysql -u root -p${word(secret)} main < dump.sql`,
  htpasswd: (_, secret) => `htpasswd -bc /etc/nginx/.htpasswd admin ${word(secret)}`,
  "redis configuration": (_, secret) => `port 6379\nrequirepass ${word(secret)}\nappendonly yes\n`,
  pgpass: (_, secret) => `db.example.test:5432:main:app:${secret.replaceAll(":", "\\:")}\n`,
  netrc: (_, secret) => `machine api.example.test\n  login app\n  password ${secret}\n`,
  npmrc: (_, secret) => `registry=https://npm.example.test/\n//npm.example.test/:_authToken=${secret}\n`,
  "Rust constant": (name, secret) => `let ${lower(name)}: &str = "${inDouble(secret)}";`,
  setter: (name, secret) => `ds.set${pascal(name)}("${inDouble(secret)}");`,
  "builder method": (name, secret) => `Client.builder().${camel(name)}("${inDouble(secret)}").build()`,

  // What people write for people.
  "bold label": (name, secret) => `- **User:** bob\n- **${pascal(words(name))}:** ${secret}\n`,
  "column in Markdown": (name, secret) =>
    `| user | ${words(name)} | role |\n|------|:---|---|\n| bob | ${secret.replaceAll("|", "\\|")} | admin |\n`,
  "column in CSV": (name, secret) =>
    `user,${lower(name)},role\nbob,${/[",]/.test(secret) ? `"${secret.replaceAll('"', '""')}"` : secret},admin\n`,
  "column in psql": (name, secret) =>
    ` id | ${lower(name)} | role\n----+--------+------\n  1 | ${secret} | admin\n(1 row)\n`,
  "label in German": (_, secret) => `Benutzer: bob\nPasswort: ${secret}\n`,
  "label in Spanish": (_, secret) => `Usuario: bob\nContrase\u00f1a: ${secret}\n`,
  "label in French": (_, secret) => `Utilisateur : bob\nMot de passe : ${secret}\n`,
  "label in Portuguese": (_, secret) => `Usu\u00e1rio: bob\nSenha: ${secret}\n`,
  "label in Russian": (_, secret) =>
    `\u041b\u043e\u0433\u0438\u043d: bob\n\u041f\u0430\u0440\u043e\u043b\u044c: ${secret}\n`,
  "label in Chinese": (_, secret) => `\u7528\u6237\uff1abob\n\u5bc6\u7801\uff1a${secret}\n`,
  "label in Japanese": (_, secret) => `\u30d1\u30b9\u30ef\u30fc\u30c9: ${secret}\n`,
}
