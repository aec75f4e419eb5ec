import { type Setting, settingsByHeading } from '../../src/settings.ts'
import { settingsSchema } from '../../src/settings-schema.ts'

/** The settings as a page for people: the content of `docs/settings.md`. */
export function settingsPage(): string {
  const tables = settingsByHeading.map(
    ([heading, settings]) => `## ${heading}

| variable | flag | in a file | default | meaning |
| --- | --- | --- | --- | --- |
${settings.map(rowOf).join('\n')}
`,
  )
  return `${introduction}\n${tables.join('\n')}`
}

/** The JSON Schema of a settings file: the content of `docs/settings.schema.json`. */
export function schemaText(): string {
  return `${JSON.stringify(settingsSchema(), undefined, 2)}\n`
}

function rowOf({ name, variable, flag, byDefault, declared }: Setting): string {
  const { help, more, without = '' } = declared
  const meaning = more === undefined ? help : `${help}. ${more}`
  const cells = [
    `\`${variable}\``,
    flag === undefined ? '' : `\`--${flag}\``,
    name === 'configFile' ? '' : `\`${name}\``,
    byDefault === undefined ? without : `\`${byDefault}\``,
    meaning,
  ]
  return `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |').replaceAll('|  |', '| |')
}

const introduction = `# Settings

This page is written by \`npm run reference\` from \`src/setting-list.ts\`. A gateway runs without any setting.

Each setting has four names, and of the sources that give it the first one wins:

1. a flag of \`ledger-gateway serve\`, such as \`--port 4001\`;
2. an environment variable, such as \`PORT=4001\`; an empty one counts as none;
3. a member of the settings file that \`--config\` or \`CONFIG_FILE\` names, such as \`"port": 4001\`;
4. its default.

A settings file is JSON, so it has no comments. Numbers are numbers, switches are \`true\` or \`false\`, and lists are arrays or
texts with commas between. Paths start from the folder in which the program is started. The member \`$schema\` lets an editor
check the file while you write it: [settings.schema.json](settings.schema.json) is in the package as
\`ledger-gateway/settings.schema.json\`, and \`ledger-gateway config schema\` prints it.

\`\`\`json
{
  "$schema": "./settings.schema.json",
  "port": 4001,
  "databaseUrl": "file:./data/public.db",
  "jwtSecretFile": "secret.txt",
  "allowedOrigins": ["https://explorer.example"],
  "graphiql": false
}
\`\`\`

Ask what is wrong before you start. It names everything at once, in the files that settings name too, opens neither a port nor a
database, and writes nothing:

\`\`\`sh
ledger-gateway config check --config gateway.json
\`\`\`

| exit code of \`config check\` | meaning |
| --- | --- |
| 0 | the settings are right |
| 1 | the output names what is wrong: in the file, the environment or the flags, also where another source wins |
| 2 | the call has neither \`check\` nor \`schema\` |

Ask what a gateway would use, and where each value comes from:

\`\`\`sh
ledger-gateway serve --config gateway.json --print-config
\`\`\`

It does not start then. On a terminal it prints a table, and JSON into a pipe. Secrets are not shown.

**Secrets** have no flag, for every user of a machine can read its command lines. Each can come from a file: the variable with
\`_FILE\` at its end, such as \`JWT_SECRET_FILE=/run/secrets/jwt\`, names it. A line break at its end does not count. A secret and
its file from one source, such as both variables, are refused.
`
