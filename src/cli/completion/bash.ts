import { type Declaration, type FlagForm, flagForms } from '../declaration.ts'

/** The completion script for bash. */

/** Generates the script; bash calls its function with the words in `COMP_WORDS`. */
export function bashScript(commands: readonly Declaration[]): string {
  const names = commands.map(({ name }) => name)
  return `# Completions of ledger-gateway for bash: source <(ledger-gateway completion bash)
_ledger_gateway() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words=''
  COMPREPLY=()
  # Bash splits --flag=value.
  if [ "$current" = = ]; then
    current=''
  elif [ "$previous" = = ]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${[...names, '--help', '--version'].join(' ')}'
  else
    case "\${COMP_WORDS[1]} $previous" in
${commands.flatMap(valueCases).join('\n')}
    *)
      case "\${COMP_WORDS[1]} $current" in
${commands.map(flagCase).join('\n')}
${commands.flatMap(wordCases).join('\n')}
      esac
      ;;
    esac
  fi
  if [ "$words" = FILES ]; then
    compopt -o filenames 2> /dev/null
    local IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -F _ledger_gateway ledger-gateway
`
}

/** The cases of flags that are followed by a value. */
function valueCases(declaration: Declaration): readonly string[] {
  return flagForms(declaration)
    .filter(({ value }) => value !== '')
    .map((flag) => `    '${declaration.name} --${flag.name}') words='${valuesOf(flag)}' ;;`)
}

function valuesOf({ value, choices }: FlagForm): string {
  return choices?.join(' ') ?? (value === 'PATH' ? 'FILES' : '')
}

function flagCase(declaration: Declaration): string {
  const flags = [...flagForms(declaration).map(({ name }) => `--${name}`), '--help']
  return `      '${declaration.name} -'*) words='${flags.join(' ')}' ;;`
}

/** The cases of arguments without dashes; an argument with choices is completed only at its own position. */
function wordCases({ name, words = [] }: Declaration): readonly string[] {
  const [first] = words
  const chosen = first?.choices?.join(' ')
  const others = words.some(({ isFile }) => isFile === true) ? 'FILES' : ''
  if (chosen === undefined) return others === '' ? [] : [`      '${name} '*) words=FILES ;;`]
  const otherwise = others === '' ? '' : ' || words=FILES'
  return [`      '${name} '*) [ "$COMP_CWORD" -eq 2 ] && words='${chosen}'${otherwise} ;;`]
}
