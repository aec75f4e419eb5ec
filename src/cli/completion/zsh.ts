import { type Declaration, type FlagForm, flagForms, type WordForm } from '../declaration.ts'

/** The completion script for zsh. */

/** Generates the script for the completion system (`compinit`). It can be sourced, or installed as `_ledger-gateway` in `fpath`. */
export function zshScript(commands: readonly Declaration[]): string {
  const list = commands.map(({ name, summary }) => `    ${quoted(`${name}:${escaped(summary)}`)}`)
  return `#compdef ledger-gateway
# Completions of ledger-gateway for zsh: source <(ledger-gateway completion zsh)
_ledger_gateway() {
  local -a commands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${commands.map(commandCase).join('\n')}
  esac
}
if [ "$funcstack[1]" = _ledger_gateway ]; then
  _ledger_gateway "$@"
else
  compdef _ledger_gateway ledger-gateway
fi
`
}

function commandCase(declaration: Declaration): string {
  const specs = [
    ...flagForms(declaration).map(flagSpec),
    '--help[show the help for the command]',
    ...(declaration.words ?? []).map(wordSpec),
  ]
  return `  ${declaration.name})
    _arguments \\
${specs.map((spec) => `      ${quoted(spec)}`).join(' \\\n')}
    ;;`
}

function flagSpec({ name, value, help, isMany, choices }: FlagForm): string {
  const flag = `${isMany === true ? '*' : ''}--${name}`
  const description = `[${escaped(help)}]`
  if (value === '') return `${flag}${description}`
  return `${flag}=${description}:${value}:${valuesOf(choices, value === 'PATH')}`
}

function wordSpec({ name, isMany, isFile, choices }: WordForm, index: number): string {
  return `${isMany === true ? '*' : index + 1}:${name}:${valuesOf(choices, isFile === true)}`
}

/** The completion action of a value; a blank action offers nothing. */
function valuesOf(choices: readonly string[] | undefined, isFile: boolean): string {
  if (choices !== undefined) return `(${choices.map(escaped).join(' ')})`
  return isFile ? '_files' : ' '
}

function escaped(text: string): string {
  return text.replaceAll(/[\\[\]:]/g, String.raw`\$&`)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
