import { type Declaration, type FlagForm, flagForms, type WordForm } from '../declaration.ts'

/** The completion script for fish. */

/** Generates the script: one line for each command, flag and argument. */
export function fishScript(commands: readonly Declaration[]): string {
  return `# Completions of ledger-gateway for fish: ledger-gateway completion fish | source
function __ledger_gateway_in
  set -l words (commandline -opc)
  test "$words[2]" = "$argv[1]"; or return 1
  switch "$argv[2]"
    case first
      test (count $words) -eq 2
    case later
      test (count $words) -gt 2
  end
end
complete -c ledger-gateway -f
${commands.map(commandLine).join('\n')}
${commands.flatMap(linesOf).join('\n')}
`
}

function commandLine({ name, summary }: Declaration): string {
  return `complete -c ledger-gateway -n '__ledger_gateway_in ""' -a ${name} -d ${quoted(summary)}`
}

function linesOf(declaration: Declaration): readonly string[] {
  const { name, words = [] } = declaration
  const begin = (where: string) => `complete -c ledger-gateway -n '__ledger_gateway_in ${where}'`
  return [
    ...flagForms(declaration).map((flag) => `${begin(name)} ${flagPart(flag)}`),
    ...words.flatMap((word, index) => {
      const part = wordPart(word)
      const place = index === 0 ? 'first' : 'later'
      return part === undefined ? [] : [`${begin(`${name} ${place}`)} ${part}`]
    }),
  ]
}

/** `-x` requires a value and completes no files; `-r -F` requires a file. */
function flagPart({ name, value, help, choices }: FlagForm): string {
  const takes = value === '' ? '' : value === 'PATH' ? ' -r -F' : ' -x'
  const chosen = choices === undefined ? '' : ` -a ${quoted(choices.join(' '))}`
  return `-l ${name}${takes}${chosen} -d ${quoted(help)}`
}

function wordPart({ name, isFile, choices }: WordForm): string | undefined {
  if (choices !== undefined) return `-a ${quoted(choices.join(' '))} -d ${quoted(name)}`
  return isFile === true ? '-F' : undefined
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
}
