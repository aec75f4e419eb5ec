import { exitCodes } from '../../src/cli/command.ts'
import { type Declaration, flagForms } from '../../src/cli/declaration.ts'
import { commands } from '../../src/cli/help.ts'
import { usageOf } from '../../src/cli/help-text.ts'
import { topics } from '../../src/cli/topics.ts'

/** The text of `docs/cli.md`, generated from the declarations of the commands. */
export function cliPage(): string {
  const list = commands.map(({ name, summary }) => `| [\`${name}\`](#${name}) | ${summary} |`)
  const codes = exitCodes.map(({ code, meaning }) => `| ${code} | ${meaning} |`)
  const output = topics.find(({ name }) => name === 'output')?.text ?? ''
  return `# Command line

\`npm run reference\` generates this page from the declarations in \`src/cli/declarations\`; \`ledger-gateway COMMAND --help\` and
\`ledger-gateway help TOPIC\` print the same texts. In a checkout, run \`npm run -s ledger-gateway -- COMMAND\`.

| command | |
| --- | --- |
${list.join('\n')}

## Output

${output}
## Exit codes

| code | |
| --- | --- |
${codes.join('\n')}

${commands.map(sectionOf).join('\n')}`
}

function sectionOf(declaration: Declaration): string {
  const { name, about, words = [], flags = [], settings = [], notes, example } = declaration
  const own = new Set(flags.map((flag) => flag.name))
  const ofSettings = flagForms(declaration).filter((flag) => !own.has(flag.name))
  const rows = [
    ...words.map((word) => `| \`${word.name}\` | ${cell(word.help)} |`),
    ...flags.map((flag) => `| \`${`--${flag.name} ${flag.value}`.trim()}\` | ${cell(flag.help)} |`),
  ]
  const named = ofSettings.map((flag) => `\`--${flag.name}\``).join(', ')
  const isAll = settings.length > 10
  const parts = [
    `## ${name}`,
    markdown(about),
    fenced(usageOf(declaration)),
    ...(rows.length === 0 ? [] : [`| | |\n| --- | --- |\n${rows.join('\n')}`]),
    ...(isAll ? ['Flags: all settings, as listed by `ledger-gateway help settings`.'] : []),
    ...(isAll || named === ''
      ? []
      : [`The command also accepts these settings of the gateway: ${named}.`]),
    ...(notes === undefined ? [] : [markdown(notes)]),
    fenced(`$ ${example.run}${example.prints === undefined ? '' : `\n${example.prints}`}`),
  ]
  return `${parts.join('\n\n')}\n`
}

/** Puts indented paragraphs of a help text into fenced blocks. */
function markdown(text: string): string {
  return text
    .split('\n\n')
    .map((part) =>
      part.startsWith('  ') ? fenced(part.replaceAll(/^ {2}/gm, '')) : withFence(part),
    )
    .join('\n\n')
}

/** Puts the indented lines at the end of a paragraph into a fenced block. */
function withFence(part: string): string {
  const lines = part.split('\n')
  const first = lines.findIndex((line) => line.startsWith('  '))
  if (first === -1) return part
  const indented = lines.slice(first).map((line) => line.replace(/^ {2}/, ''))
  return `${lines.slice(0, first).join('\n')}\n\n${fenced(indented.join('\n'))}`
}

function fenced(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}
