import { type Setting, settingsByHeading } from '../../src/settings.ts'
import { settingsSchema } from '../../src/settings-schema.ts'

/** The content of `docs/settings.md`. */
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

/** The content of `docs/settings.schema.json`: the JSON Schema of a settings file. */
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

\`npm run reference\` generates this page from \`src/setting-list.ts\`. All settings are optional.

Each setting can be set in these places. The first place that sets it wins:

1. a flag of \`ledger-gateway serve\`, such as \`--port 4001\`;
2. an environment variable, such as \`PORT=4001\`; an empty variable counts as unset;
3. a member of the settings file that \`--config\` or \`CONFIG_FILE\` names, such as \`"port": 4001\`;
4. its default.

A settings file is JSON, so it cannot contain comments. Numbers are written as numbers, switches as \`true\` or \`false\`, and lists
as arrays or as texts separated by commas. Paths are relative to the folder in which the program is started. With the member
\`$schema\`, an editor checks the file while you write it: [settings.schema.json](settings.schema.json) is in the package as
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

Check the settings before you start the gateway. The check reports all problems at once, including problems in the files that
settings name. It opens neither a port nor a database, and writes nothing:

\`\`\`sh
ledger-gateway config check --config gateway.json
\`\`\`

| exit code of \`config check\` | meaning |
| --- | --- |
| 0 | the settings are valid |
| 1 | the output lists the problems in the file, the environment and the flags, including values that another source overrides |
| 2 | the argument is neither \`check\` nor \`schema\` |

Variables that are not settings are ignored, because the environment belongs to other programs too. If one resembles a setting, such as
\`READ_DATABASE_URL\`, the check says so, and the gateway logs \`setting-misspelled\` when it starts.

Print the settings that a gateway would use, and the source of each value:

\`\`\`sh
ledger-gateway serve --config gateway.json --print-config
\`\`\`

The gateway does not start in this case. The output is a table on a terminal, and JSON in a pipe. Secrets are masked.

**Secrets** have no flag, because every user of a machine can read its command lines. A secret can also come from a file, which the
variable with the suffix \`_FILE\` names, such as \`JWT_SECRET_FILE=/run/secrets/jwt\`. A trailing line break in the file is ignored.
If one source sets both the secret and its file, such as both variables, the settings are refused.
`
